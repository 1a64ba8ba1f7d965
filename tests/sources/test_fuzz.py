"""Damaged lines harm nobody: whatever a line holds, the lines around it are in the catalog with their text."""

import itertools
from contextlib import closing
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.local.backend import LocalBackend
from tests.reference.contents import session_parts
from tests.support.damage import DEPTHS, KEY, ODD_VALUES, UUID, lines, shape, values, write_damaged
from tests.support.transcript import Home


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Lines as Claude Code writes them, of every type."""
    return lines(tmp_path_factory.mktemp("bases"))


def test_damaged_lines_leave_their_neighbours_alone(tmp_path: Path, bases: list[bytes]) -> None:
    """3,000 damaged lines crash nothing, and the lines before and after each are found with their text."""
    neighbours = write_damaged(tmp_path / "root", bases, 3_000)

    missing = index_and_compare(tmp_path, neighbours)

    assert {} == missing


@pytest.mark.slow
def test_odd_values_in_every_place_are_survived(tmp_path: Path, bases: list[bytes]) -> None:
    """Each odd value, put in turn into every field of every type of record, crashes nothing."""
    home = Home(tmp_path / "root")
    expected = {}
    numbers = itertools.count()
    for number, odd in enumerate(ODD_VALUES):
        transcript = home.session(f"{number:08x}-0000-4000-a000-000000000001")
        for line in {shape(line): line for line in bases}.values():
            for start, end in values(line):
                changed = line[:start] + odd + line[end:]
                # With one uuid for all of them a record would have a thousand places.
                transcript.raw(UUID.sub(b'"uuid":"line %d"' % next(numbers), changed) + b"\n")
        record = transcript.prompt(f"still here after {number}")
        expected[transcript.session] = {record["uuid"]: record["message"]["content"]}

    missing = index_and_compare(tmp_path, expected)

    assert {} == missing


@pytest.mark.parametrize("depth", DEPTHS)
def test_deep_values_in_every_place_are_survived(tmp_path: Path, bases: list[bytes], depth: int) -> None:
    """A value nested deeper than any parser follows, in any field, even beside another wrong one, crashes nothing."""
    transcript = Home(tmp_path / "root").session("00000000-0000-4000-a000-000000000001")
    deep = b'{"a":' * depth + b'"deep"' + b"}" * depth
    for shape_base in {KEY.findall(line)[0]: line for line in bases if KEY.search(line)}.values():
        for start, end in values(shape_base):
            transcript.raw(shape_base[:start] + deep + shape_base[end:] + b"\n")
    for name in (b"data", b"attachment", b"origin", b"toolUseResult", b"forkedFrom", b"message", b"content"):
        for kind in (b"user", b"assistant", b"progress", b"attachment", b"system", b"result"):
            transcript.raw(b'{"type":"%s","cwd":7,"uuid":"d","%s":%s}\n' % (kind, name, deep))
    record = transcript.prompt("still here")

    missing = index_and_compare(tmp_path, {transcript.session: {record["uuid"]: "still here"}})

    assert {} == missing


def index_and_compare(tmp_path: Path, expected: dict[str, dict[str, str]]) -> dict[str, str]:
    """Index, look at everything once, and return the uuids whose text is not what was written."""
    with Engine(tmp_path / "index", [tmp_path / "root"]) as engine:
        engine.index()
        engine.index()
        engine.status()
        for _ in engine.findings():
            pass
        found = {session.id for session in engine.sessions()}
    missing = {}
    # Without the masks that an engine puts over secrets.
    with closing(LocalBackend(tmp_path / "index")) as backend:
        for session, neighbours in expected.items():
            kept = {stored.id: stored.part.text for stored in session_parts(backend, session)}
            for agent in {fact.agent for fact in backend.catalog.facts(session)} - {None}:
                kept |= {stored.id: stored.part.text for stored in session_parts(backend, session, agent)}
            for uuid, text in neighbours.items():
                if session not in found or kept.get(f"{uuid}#0") != text:
                    missing[uuid] = text
    return missing
