"""What is embedded: each distinct text once, however often it is said and whenever it comes."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from searchkit.backends.local.backend import LocalBackend
from searchkit.embed.base import Vectors
from searchkit.embed.fake import FakeEmbedder
from searchkit.indexing import embed_parts
from searchkit.query.types import Condition
from searchkit.types import Record
from tests.contract.small import A, B, C, record, told, transcript

SESSIONS = {"a": A, "b": B, "c": C}
TEXTS = [f"question {number}" for number in range(10)]


class Listening(FakeEmbedder):
    """The stand-in, which also remembers what it was given."""

    def __init__(self) -> None:
        """Begin with nothing heard."""
        super().__init__()
        self.heard: list[str] = []

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Remember texts."""
        self.heard += texts
        return super().embed(texts)


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[LocalBackend]:
    """An index in which ten texts were said by three sessions each."""
    with closing(LocalBackend(tmp_path / "index", is_writable=True)) as opened:
        for turn, (name, session) in enumerate(SESSIONS.items()):
            told(opened, transcript(name, *(said(10 * turn, number, session) for number in range(10))))
        yield opened


def said(before: int, number: int, session: str) -> Record:
    """Make a record of one of the texts."""
    return record(before + number + 1, number + 1, TEXTS[number], session=session)


def test_text_is_embedded_once_in_any_batch(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that many parts have is embedded for one of them, and the others have the same vector."""
    monkeypatch.setattr(embed_parts, "BATCH_PARTS", 7)
    embedder = Listening()

    done = embed_parts.embed(backend, embedder)

    assert (30, sorted(TEXTS)) == (done, sorted(embedder.heard))
    assert (30, 0) == ((reach := backend.vectors.reach()).searchable, reach.pending)
    found = backend.vectors.nearest(embedder.embed_query(TEXTS[4]), Condition(), 3)
    assert 3 == len([near for near in found if near.cosine > 0.999])


def test_text_is_embedded_once_in_any_run(backend: LocalBackend) -> None:
    """What comes later and was said before is not embedded again."""
    embed_parts.embed(backend, FakeEmbedder())
    told(backend, transcript("a-later", said(30, 5, A), record(50, 11, "something new")))
    embedder = Listening()

    done = embed_parts.embed(backend, embedder)

    assert (2, ["something new"]) == (done, embedder.heard)


def test_progress_is_told_within_a_batch(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who waits is told at the beginning how much there is, and then after every few texts."""
    monkeypatch.setattr(embed_parts, "REPORTED_TEXTS", 3)
    told: list[tuple[int, int]] = []

    done = embed_parts.embed(backend, FakeEmbedder(), lambda *progress: told.append(progress))

    assert ((0, done), (done, 0)) == (told[0], told[-1])
    assert told == sorted(told)
    assert len({one for one, _ in told}) > 2
    assert {done} == {one + left for one, left in told}
