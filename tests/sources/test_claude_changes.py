"""What the source says has changed: appends, replacements, renames and touches, and lines that are damaged."""

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchkit.sources import jsonl
from tests.support.answers import SESSION, complaints, read, records_of, spoken
from tests.support.transcript import Home


def later(path: Path) -> None:
    """Let a file look written a second later, whatever the clock says."""
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000_000))


def refuse(*_: object, **__: object) -> Any:
    """Stand in for something that must not be called."""
    raise AssertionError("must not be opened")


@pytest.mark.parametrize("depth", [100, 300, 1_000, 1_023, 1_024, 100_000])
def test_deep_nesting_costs_at_most_its_line(home: Home, depth: int) -> None:
    """A line nested deeper than a decoder goes is damage at worst; the next line is read."""
    transcript = home.session(SESSION)
    deep = b"[" * depth + b"]" * depth
    transcript.raw(b'{"type":"user","uuid":5,"attachment":{"a":%s},"message":{"content":[%s]}}\n' % (deep, deep))
    transcript.prompt("after")

    (change,) = read(home.root)

    assert ("prompt", "user", "after") == spoken([change])[-1]
    assert 2 == change.tally.lines


def test_huge_numbers_cost_nothing(home: Home) -> None:
    """A number of more than 64 bits, which one decoder lets through and another refuses, is shown as it is."""
    transcript = home.session(SESSION)
    huge = 10**30
    call = b'{"type":"tool_use","id":"t1","name":"Calc","input":{"n":%d,"not":NaN}}' % huge
    transcript.raw(b'{"type":"assistant","uuid":"u1","message":{"content":[%s]}}\n' % call)

    (change,) = read(home.root)

    assert [("tool_call", "assistant", f"n: {huge}\nnot: NaN")] == spoken([change])


def test_reads_only_what_was_appended(home: Home) -> None:
    """The bytes read after an append are the bytes appended."""
    transcript = home.session(SESSION)
    transcript.prompt("a long beginning " * 1000)
    seen: dict[str, bytes] = {}
    read(home.root, seen)
    before = transcript.path.stat().st_size
    transcript.prompt("and on")

    (change,) = read(home.root, seen)

    assert transcript.path.stat().st_size - before == change.bytes_read
    assert [("prompt", "user", "and on")] == spoken([change])
    assert not change.is_restart


def test_opens_nothing_when_nothing_changed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged tree is listed; no transcript and no side file in it is opened."""
    home.session(SESSION).prompt("hello")
    home.agent(SESSION, "a1").prompt("explore")
    home.history("hello", SESSION)
    home.todos(SESSION, [{"content": "buy milk", "status": "pending"}])
    seen: dict[str, bytes] = {}
    read(home.root, seen)
    monkeypatch.setattr(builtins, "open", refuse)

    assert [] == read(home.root, seen)


def replace(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"first", b"other"))
    later(path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])


@pytest.mark.parametrize(("damage", "texts"), [(replace, ["other", "second"]), (cut, ["first"])])
def test_reads_a_replaced_file_from_its_beginning(home: Home, damage: Callable[[Path], None], texts: list[str]) -> None:
    """A file that was rewritten or cut is read again, and says so."""
    transcript = home.session(SESSION)
    transcript.prompt("first")
    transcript.prompt("second")
    seen: dict[str, bytes] = {}
    read(home.root, seen)
    damage(transcript.path)

    (change,) = read(home.root, seen)

    assert change.is_restart
    assert texts == [text for _, _, text in spoken([change])]


def test_goes_on_with_a_renamed_file(home: Home) -> None:
    """A renamed file is known by its inode and beginning: only what was added to it is read."""
    transcript = home.session(SESSION)
    transcript.prompt("first")
    seen: dict[str, bytes] = {}
    read(home.root, seen)
    old, transcript.path = transcript.path, transcript.path.with_name("renamed.jsonl")
    old.rename(transcript.path)
    transcript.prompt("second")

    (change,) = read(home.root, seen)

    assert (str(transcript.path), str(old)) == (change.file, change.moved_from)
    assert ["second"] == [text for _, _, text in spoken([change])]
    assert [] == read(home.root, seen)


def test_notes_a_touch_without_reading(home: Home) -> None:
    """A touched file yields nothing but its new mark, and is then as good as unchanged."""
    transcript = home.session(SESSION)
    transcript.prompt("first")
    seen: dict[str, bytes] = {}
    read(home.root, seen)
    later(transcript.path)

    (change,) = read(home.root, seen)

    assert ([], 0, False) == (list(change.records), change.bytes_read, change.is_restart)
    assert [] == read(home.root, seen)


def test_counts_lines_as_an_editor_numbers_them(home: Home) -> None:
    """Blank lines count as no line but have a number; CRLF is a line's end like any other."""
    transcript = home.session(SESSION)
    transcript.prompt("first")
    transcript.raw(b"\n\r\n   \nbroken\r\n")
    transcript.prompt("second")

    (change,) = read(home.root)

    assert (3, 1) == (change.tally.lines, change.tally.torn)
    assert [1, 6] == [record.line for record in change.records]
    assert [("torn line", f"{SESSION}.jsonl", 5)] == complaints([change])


def test_counts_an_overlong_line_as_torn(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line past the limit is a torn one; the lines around it are read."""
    monkeypatch.setattr(jsonl, "LINE_LIMIT", 2000)
    transcript = home.session(SESSION)
    transcript.prompt("first")
    transcript.prompt("x" * 3000)
    transcript.prompt("second")

    (change,) = read(home.root)

    assert (3, 1) == (change.tally.lines, change.tally.torn)
    assert [1, 3] == [record.line for record in records_of([change])]


def test_says_how_much_is_left(home: Home) -> None:
    """The bytes left fall to nothing with the last change."""
    home.session(SESSION).prompt("first")
    home.agent(SESSION, "a1").prompt("second")

    left = [change.bytes_left for change in read(home.root)]

    assert sorted(left, reverse=True) == left
    assert 0 == left[-1]
    assert left[0] > 0
