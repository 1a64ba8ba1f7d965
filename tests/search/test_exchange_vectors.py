"""Second vectors of long answers, with their prompts, and vectors of errors that tools printed."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from searchkit.backends.duplicates import EXCHANGE_PIECE
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.open import open_to_write
from searchkit.embed.fake import FakeEmbedder
from searchkit.indexing import embed_parts
from searchkit.indexing.ingest import ingest
from searchkit.query.types import Condition
from searchkit.sources.claude import ClaudeSource
from searchkit.types import Kind
from tests.indexing.test_embed_parts import Listening
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
PROMPT = "why does the ferry leave late"
LONG = "The ferry waits for the night train, which is late itself. " * 8
ERROR = "ferry: no berth is free"


@pytest.fixture
def directory(home: Home, tmp_path: Path) -> Path:
    """An index without vectors of a turn with an error, a short text and a long answer."""
    talk = home.session(SESSION)
    talk.prompt(PROMPT)
    failed = talk.call("Bash", {"command": "ferry --berth"})
    talk.result(failed, ERROR, is_error=True)
    listed = talk.call("Bash", {"command": "ferry --list"})
    talk.result(listed, "ferries: 3")
    talk.text("Let me look again.")
    talk.text(LONG)
    with open_to_write(tmp_path / "index") as backend:
        ingest(ClaudeSource([home.root]), backend)
    return tmp_path / "index"


@pytest.fixture
def backend(directory: Path) -> Iterator[LocalBackend]:
    """The same, to be written to."""
    with closing(LocalBackend(directory, is_writable=True)) as opened:
        yield opened


def key_of(backend: LocalBackend, text: str) -> int:
    """Return the key of the part that begins with a text."""
    embedder = FakeEmbedder()
    near = backend.vectors.nearest(embedder.embed_query(text), Condition(), 20)
    stored = backend.catalog.stored([one.key for one in near])
    return next(
        one.key for one, part in zip(near, stored, strict=True) if part and part.part.text.startswith(text[:20])
    )


def test_long_answer_is_embedded_with_its_prompt(backend: LocalBackend) -> None:
    """So much of both, beside the text itself; a short text has one vector."""
    embedder = Listening()

    embed_parts.embed(backend, embedder)

    together = f"{PROMPT}\n{LONG[: embed_parts.ANSWER_CHARACTERS]}"
    assert {together, LONG[: embed_parts.TEXT_CHARACTERS]} < set(embedder.heard)
    long, short = key_of(backend, LONG), key_of(backend, "Let me look again.")
    pieces = {key: [one.piece for one in several] for key, several in backend.vectors.of([long, short]).items()}
    assert {long: [0, EXCHANGE_PIECE], short: [0]} == pieces


def test_answer_is_found_once_by_the_nearer_vector(backend: LocalBackend) -> None:
    """A part with two vectors takes one place."""
    embedder = FakeEmbedder()
    embed_parts.embed(backend, embedder)

    found = backend.vectors.nearest(embedder.embed_query(f"{PROMPT}\n{LONG[:350]}"), Condition(), 20)

    assert len(found) == len({one.key for one in found})
    assert Kind.TEXT is found[0].kind
    assert 0.999 < found[0].cosine


def test_error_has_a_vector_and_other_output_has_none(backend: LocalBackend) -> None:
    """Of what tools print only what went wrong is embedded."""
    embedder = Listening()

    embed_parts.embed(backend, embedder)

    assert ERROR in embedder.heard
    assert "ferries: 3" not in embedder.heard


def test_index_without_second_vectors_gets_them(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of older versions: only the long answer is embedded again, and nothing is there twice."""
    with monkeypatch.context() as older:
        older.setattr(embed_parts, "pieces", lambda kind, length: 1)
        older.setattr("searchkit.backends.local.vectors.rows.of_exchanges", lambda connection, space: set())
        embed_parts.embed(backend, FakeEmbedder())
        before = backend.vectors.reach().searchable
    backend.vectors._held = None
    embedder = Listening()

    assert 1 == embed_parts.embed(backend, embedder)

    assert 2 == len(embedder.heard)
    assert (before, 0) == ((reach := backend.vectors.reach()).searchable, reach.pending)
    assert [] == [one for one in backend.findings() if "vectors" in one.kind]
