"""Growing files of lines: what is new is read once, what is half-written waits, what is broken costs one line."""

import builtins
import os
from pathlib import Path
from typing import Any

import pytest

from searchkit.sources import jsonl
from searchkit.sources.jsonl import Growth, Mark, Piece, Shape, compare, decode, pieces


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with three lines."""
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}\n{"n":3}\n')
    return path


def take(path: Path, mark: Mark | None = None) -> tuple[list[tuple[int, bytes]], Mark]:
    """Read the lines behind a mark."""
    got = list(pieces(str(path), mark or Mark()))
    return [line for piece in got for line in piece.lines], got[-1].mark


def growth(path: Path, mark: Mark) -> Growth:
    """Compare a file with what was read of it."""
    return compare(str(path), Shape.of(path.stat()), mark)


def append(path: Path, content: bytes) -> None:
    """Append bytes to a file."""
    with path.open("ab") as file:
        file.write(content)


def later(path: Path) -> None:
    """Let a file look written a second later, whatever the clock says."""
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000_000))


def test_lines_come_with_their_numbers(file: Path) -> None:
    """Lines are counted from one and come with their ends."""
    lines, mark = take(file)

    assert [(1, b'{"n":1}\n'), (2, b'{"n":2}\n'), (3, b'{"n":3}\n')] == lines
    assert (24, 3, 24) == (mark.offset, mark.lines, mark.size)


def test_append_is_read_on(file: Path) -> None:
    """After an append only the new lines come, and their numbers go on."""
    _, mark = take(file)
    append(file, b'{"n":4}\n')

    assert Growth.APPENDED is growth(file, mark)
    (piece,) = pieces(str(file), mark)

    assert ([(4, b'{"n":4}\n')], 8) == (piece.lines, piece.bytes_read)


def test_reading_on_ends_with_the_same_mark_as_reading_at_once(file: Path) -> None:
    """How a file was read does not show in the mark."""
    _, first = take(file)
    append(file, b'{"n":4}\n\n{"n":5}\n')

    _, on = take(file, first)
    _, at_once = take(file)

    assert at_once == on


def test_unchanged_file_is_the_same_without_being_opened(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size, time and inode suffice to tell that nothing happened."""
    _, mark = take(file)
    monkeypatch.setattr(builtins, "open", refuse)

    assert Growth.SAME is growth(file, mark)


def refuse(*_: object, **__: object) -> Any:
    """Stand in for something that must not be called."""
    raise AssertionError("must not be opened")


def test_touched_file_has_nothing_new(file: Path) -> None:
    """A new time on old bytes is a touch, and reading on yields no line."""
    _, mark = take(file)
    later(file)

    assert Growth.TOUCHED is growth(file, mark)
    assert [] == take(file, mark)[0]


def test_truncated_file_was_replaced(file: Path) -> None:
    """A file shorter than what was read of it is another file."""
    _, mark = take(file)
    file.write_bytes(b'{"n":1}\n')

    assert Growth.REPLACED is growth(file, mark)


@pytest.mark.parametrize(
    "content",
    [b'{"n":9}\n{"n":2}\n{"n":3}\n{"n":4}\n', b'{"n":1}\n{"n":2}\n{"n":9}\n{"n":4}\n'],
    ids=["first line", "last line"],
)
def test_other_bytes_at_either_end_are_a_replacement(file: Path, content: bytes) -> None:
    """A longer file under the same inode is no append unless it begins and goes on alike."""
    _, mark = take(file)
    file.write_bytes(content)

    assert Growth.REPLACED is growth(file, mark)


def test_rewrite_of_the_same_length_is_a_replacement(tmp_path: Path) -> None:
    """The same size at another time costs a look at every byte, also between the guarded ends."""
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b'{"a":"%s"}\n{"n":1}\n{"b":"%s"}\n' % (b"x" * 2000, b"y" * 2000))
    _, mark = take(file)
    file.write_bytes(file.read_bytes().replace(b'{"n":1}', b'{"n":2}'))
    later(file)

    assert Growth.REPLACED is growth(file, mark)


def test_restored_file_goes_on(file: Path, tmp_path: Path) -> None:
    """The same bytes under another inode are the same file, and more bytes behind them an append."""
    _, mark = take(file)
    restored = tmp_path / "restored"
    restored.write_bytes(file.read_bytes())
    restored.replace(file)
    assert Growth.TOUCHED is growth(file, mark)
    append(file, b'{"n":4}\n')

    assert Growth.APPENDED is growth(file, mark)


def test_half_written_line_waits(file: Path) -> None:
    """A line without its newline that is no object yet is left for the next time."""
    append(file, b'{"n":')

    lines, mark = take(file)

    assert (3, 24) == (len(lines), mark.offset)
    assert Growth.SAME is growth(file, mark)


def test_half_written_line_is_taken_once_it_is_complete(file: Path) -> None:
    """The rest of a line that waited makes it one line, with the number it would always have had."""
    append(file, b'{"n":')
    _, mark = take(file)
    append(file, b"4}\n")

    assert [(4, b'{"n":4}\n')] == take(file, mark)[0]


def test_last_object_is_taken_without_its_newline(file: Path) -> None:
    """An object that lacks only its newline is complete; the newline that comes later is no line."""
    append(file, b'{"n":4}')
    lines, mark = take(file)
    assert (4, b'{"n":4}') == lines[-1]
    append(file, b'\n{"n":5}\n')

    assert Growth.APPENDED is growth(file, mark)
    assert [(5, b'{"n":5}\n')] == take(file, mark)[0]


def test_newline_of_a_taken_line_may_be_two_characters(file: Path) -> None:
    """The late newline of a line that was taken early is none of its own, in Windows' spelling too."""
    append(file, b'{"n":4}')
    _, mark = take(file)
    append(file, b"\r\n")

    assert [] == take(file, mark)[0]


def test_blank_lines_have_numbers(file: Path) -> None:
    """Blank lines keep their numbers, so that a line is found where an editor shows it."""
    append(file, b'\n  \n{"n":6}\n')

    lines, _ = take(file)

    assert (6, b'{"n":6}\n') == lines[-1]


def test_large_file_comes_in_pieces(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every piece is a place to go on from, and none but the last makes the file look finished."""
    monkeypatch.setattr(jsonl, "PIECE_BYTES", 8)

    got = list(pieces(str(file), Mark()))

    assert [[1], [2], [3], []] == [[number for number, _ in piece.lines] for piece in got]
    assert [8, 8, 8, 0] == [piece.bytes_read for piece in got]
    assert [-1, -1, -1, 24] == [piece.mark.size for piece in got]
    assert Growth.SAME is not growth(file, got[0].mark)
    assert [(2, b'{"n":2}\n'), (3, b'{"n":3}\n')] == take(file, got[0].mark)[0]


def test_empty_file_is_one_empty_piece(tmp_path: Path) -> None:
    """A file of no bytes is read all the same, so that it is known."""
    file = tmp_path / "empty.jsonl"
    file.touch()

    (piece,) = pieces(str(file), Mark())

    assert ([], 0) == (piece.lines, piece.bytes_read)
    assert isinstance(piece, Piece)


def test_overlong_line_is_yielded_empty(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line past the limit counts and is passed over without being held; the next is read as ever."""
    monkeypatch.setattr(jsonl, "LINE_LIMIT", 16)
    append(file, b'{"long":"%s"}\n{"n":5}\n' % (b"x" * 100))

    lines, mark = take(file)

    assert [(4, b""), (5, b'{"n":5}\n')] == lines[3:]
    assert file.stat().st_size == mark.offset


def test_overlong_line_waits_for_its_newline(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line past the limit that has no end yet is not taken."""
    monkeypatch.setattr(jsonl, "LINE_LIMIT", 16)
    append(file, b'{"long":"%s"' % (b"x" * 100))
    lines, mark = take(file)
    assert (3, 24) == (len(lines), mark.offset)
    append(file, b"}\n")

    assert [(4, b"")] == take(file, mark)[0]


DECODED = [
    (b'{"a":1}\r\n', {"a": 1}),
    (b'  {"a":1}  \n', {"a": 1}),
    (b'{"a":"\\ud83d"}', {"a": "\ufffd"}),
    (b'{"a":"\\ude00\\ud83d"}', {"a": "\ufffd\ufffd"}),
    (b'{"a":"\\ud83dx\\ude00"}', {"a": "\ufffdx\ufffd"}),
    (b'{"a":"\\ud83d\\ud83d\\ude00"}', {"a": "\ufffd\U0001f600"}),
    (b'{"a":"\\ud83d\\ude00 \\ud83d"}', {"a": "\U0001f600 \ufffd"}),
    (b'{"a":"\\\\ud83d"}', {"a": "\\ud83d"}),
    (b'{"a":"\\\\\\ud83d"}', {"a": "\\\ufffd"}),
    (b'{"a":"\xff\xfe"}', {"a": "\ufffd\ufffd"}),
    (b'{"a":"\xed\xa0\xbd"}', {"a": "\ufffd\ufffd\ufffd"}),
    (b'{"a":"caf\xc3\xa9 \xe2\x80\xa8"}', {"a": "caf\xe9 \u2028"}),
]


@pytest.mark.parametrize(("line", "value"), DECODED, ids=[repr(line)[2:-1] for line, _ in DECODED])
def test_object_is_decoded(line: bytes, value: dict[str, object]) -> None:
    """Half a surrogate pair and bytes that are no UTF-8 are replaced; all else stays as it is."""
    assert value == decode(line)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_numbers_that_are_none_do_not_cost_the_line(number: bytes) -> None:
    """NaN and Infinity are no JSON, but what stands beside them is read."""
    decoded = decode(b'{"a":"kept","b":%s}' % number)

    assert decoded is not None
    assert "kept" == decoded["a"]


@pytest.mark.parametrize("line", [b"17", b'"text"', b"[{}]", b"null", b'{"a":', b'0","b":1}', b"", b"\0\0"])
def test_line_that_is_no_object_is_nothing(line: bytes) -> None:
    """Only an object is a record."""
    assert None is decode(line)


def test_what_follows_a_line_that_was_taken_early_is_on_the_same_line(file: Path) -> None:
    """A line that lost its newline and was written on is one line, however it is read (issue 15)."""
    append(file, b'{"n":4}')
    _, mark = take(file)
    append(file, b'{"n":5}\n{"n":6}\n')

    assert [(4, b'{"n":5}\n'), (5, b'{"n":6}\n')] == take(file, mark)[0]
    assert (4, b'{"n":4}{"n":5}\n') == take(file)[0][3]
    assert take(file)[1] == take(file, mark)[1]
