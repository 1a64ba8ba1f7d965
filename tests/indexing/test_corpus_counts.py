"""What is in the corpus is in the index, counted exactly, and nothing is read twice."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from searchkit import Engine
from searchkit.indexing.ingest import Summary
from tests.corpus.build import build
from tests.corpus.expected import differences
from tests.corpus.found import found_thread

SEED = 4
SIZES = [6, pytest.param(60, marks=pytest.mark.slow)]

# Python cannot remove an audit hook, so there is one, which fills this list while a test lends it one.
_opened: list[str] | None = None


class Indexed(msgspec.Struct, frozen=True):
    """A corpus, its manifest, and an index of it."""

    root: Path
    manifest: dict[str, Any]
    engine: Engine
    summary: Summary


@pytest.fixture(scope="module", params=SIZES)
def indexed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    """Index a corpus of so many megabytes once; the tests below may only append to it and index again."""
    directory = tmp_path_factory.mktemp("counts")
    manifest = build(directory / "root", request.param, SEED)
    with Engine(directory / "index", [directory / "root"]) as engine:
        yield Indexed(directory / "root", manifest, engine, engine.index())


def test_counts_equal_the_manifest(indexed: Indexed) -> None:
    """Files, lines, links, sessions, agents, parts of each kind, repeats and noise are as many as were written."""
    counts = msgspec.to_builtins(indexed.engine.status().counts)

    assert indexed.manifest["counts"] == {name: counts[name] for name in indexed.manifest["counts"]}


def test_second_index_reads_nothing(indexed: Indexed) -> None:
    """When nothing has changed, no file below the root is opened."""
    with opened_files() as opened:
        summary = indexed.engine.index()

    assert (0, 0, 0) == (summary.files, summary.bytes, summary.records)
    assert [] == [path for path in opened if path.startswith(f"{indexed.root}/")]


def test_planted_words_are_found(indexed: Indexed) -> None:
    """Each planted word leads to the one record that holds it, with its session, agent and kind."""
    expected = [(entry["uuid"], entry["session"], entry["agent"], entry["kind"]) for entry in planted(indexed)]

    found = [first(indexed.engine, entry["word"]) for entry in planted(indexed)]

    assert expected == found


def test_threads_are_those_of_the_manifest(indexed: Indexed) -> None:
    """Message for message, with parallel calls, compactions, rewinds, nested agents and forks."""
    assert 500 < len(indexed.manifest["threads"])
    assert [] == differences(indexed.manifest, partial(found_thread, indexed.engine))


def test_appended_line_is_all_that_is_read(indexed: Indexed) -> None:
    """One line more in the largest transcript costs the reading of one line, and is found."""
    transcripts = [path for path in indexed.root.rglob("*.jsonl") if path.read_bytes().endswith(b"\n")]
    largest = max(transcripts, key=lambda path: (path.stat().st_size, path))
    message = {"role": "user", "content": "xylograph after the fact"}
    line = orjson.dumps({"type": "user", "uuid": "one-more", "sessionId": largest.stem, "message": message}) + b"\n"
    with largest.open("ab") as file:
        file.write(line)

    summary = indexed.engine.index()

    assert (1, len(line), 1) == (summary.files, summary.bytes, summary.records)
    assert ("one-more", largest.stem, None, "prompt") == first(indexed.engine, "xylograph")


def planted(indexed: Indexed) -> list[dict[str, Any]]:
    """List what the manifest says of the planted words; there must be some."""
    entries: list[dict[str, Any]] = indexed.manifest["planted"]
    assert entries
    return entries


def first(engine: Engine, word: str) -> tuple[str, str | None, str | None, str]:
    """Search for a word that occurs once, and say where it was found."""
    (result,) = engine.search(word).results
    stored = result.best.stored
    home = stored.link.places[0]
    return stored.part.uuid, home.session, home.agent, stored.part.kind.value


class opened_files:  # noqa: N801  # reads as a statement in `with`
    """Gather the paths that this process opens meanwhile."""

    def __enter__(self) -> list[str]:
        """Begin to gather."""
        global _opened
        _opened = []
        return _opened

    def __exit__(self, *error: object) -> None:
        """Stop gathering."""
        global _opened
        _opened = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _opened is not None and isinstance(arguments[0], str):
        _opened.append(arguments[0])


sys.addaudithook(_note)
