"""What growing JSON-lines files have gained; half-written lines wait.

It knows bytes and lines, and nothing of what a line means.
"""

import errno
import json
import os
import re
import stat
import time
import zlib
from collections.abc import Iterator
from enum import Enum
from typing import BinaryIO

import msgspec
import orjson

from searchkit.sources.salvage import flatten

# Opens regular files only: a pipe in place of a transcript would be waited for, a device read without end.


# A file that another program holds a lease on (Samba, an NFS server) is given up by it within this, or is unreadable.
LEASE_ATTEMPTS = 20
LEASE_PAUSE_SECONDS = 0.05
# Opening a pipe to read otherwise waits for somebody who writes; a regular file does not mind. Windows has neither.
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def open_regular(path: str, buffering: int = -1) -> BinaryIO:
    """Open a file to read its bytes; raises OSError where it cannot be read, or is no regular file."""
    return open(path, "rb", buffering, opener=_open_checked)


def _open_checked(path: str, flags: int) -> int:
    descriptor = _open(path, flags | _WITHOUT_WAITING)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is no regular file", path)
    return descriptor


def _open(path: str, flags: int) -> int:
    for attempt in range(1, LEASE_ATTEMPTS + 1):
        try:
            return os.open(path, flags)
        except BlockingIOError:
            if attempt == LEASE_ATTEMPTS:
                raise
            time.sleep(LEASE_PAUSE_SECONDS)
    raise AssertionError


# A piece is what is read at once: large enough that its cost vanishes, small enough beside a batch that
# memory stays flat whatever the file's size.
PIECE_BYTES = 1 << 20
# How much of the beginning and of the end of what was read is compared before reading on.
GUARD_BYTES = 1024
READ_BUFFER = 1 << 20
# The longest line seen in 1.8 GB of transcripts has 2.2 MB; a line past this limit is no record,
# and reading it whole would let one file decide how much memory we take.
LINE_LIMIT = 64 << 20
# How such a line is told of.
OVERLONG = f"longer than {LINE_LIMIT >> 20} MB"


class Mark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a file was read, and enough to tell whether it is still the same file."""

    device: int = 0
    inode: int = 0
    size: int = 0
    modified: int = 0
    offset: int = 0
    lines: int = 0
    crc: int = 0
    head: int = 0
    tail: int = 0
    ends_open: bool = False


class Shape(msgspec.Struct, frozen=True, gc=False):
    """What the file system says of a file: enough to tell whether it changed, a fifth of what `os.stat` returns.

    All files are listed before the first is read, and of each its shape is kept until then.
    """

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, stat: os.stat_result) -> "Shape":
        """Pick what is needed."""
        return cls(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


class Growth(Enum):
    """How a file compares with what was read of it."""

    SAME = "same"
    APPENDED = "appended"
    TOUCHED = "touched"
    REPLACED = "replaced"


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Some complete lines with their numbers, and the mark behind them."""

    lines: list[tuple[int, bytes]]
    mark: Mark
    bytes_read: int


def compare(path: str, shape: Shape, mark: Mark) -> Growth:
    """Tell append, touch and replacement apart, reading as little as that takes.

    An append to the same inode is believed after its first and last kilobyte agree. Anything
    stranger (another inode, the same size at another time) costs one pass over the file.
    """
    same_file = (shape.device, shape.inode) == (mark.device, mark.inode)
    if same_file and (shape.size, shape.modified) == (mark.size, mark.modified):
        return Growth.SAME
    if shape.size < mark.offset:
        return Growth.REPLACED
    with open_regular(path) as file:
        if _guards(file, mark.offset) != (mark.head, mark.tail):
            return Growth.REPLACED
        if same_file and shape.size > mark.size:
            return Growth.APPENDED
        if _checksum(file, mark.offset) != mark.crc:
            return Growth.REPLACED
    return Growth.APPENDED if shape.size > mark.offset else Growth.TOUCHED


def pieces(path: str, start: Mark) -> Iterator[Piece]:
    """Yield the complete lines behind `start`, at least one piece, even when it holds no line.

    A last line without its newline is taken once it parses, because no proper prefix of an
    object does; what is written behind it later has the same number. NUL bytes behind it, as a
    power failure leaves them, stay for later. A line past the limit is yielded empty: it counts,
    and it is no object.
    """
    with open_regular(path, READ_BUFFER) as file:
        stat = os.fstat(file.fileno())
        offset, number, crc, ends_open = start.offset, start.lines, start.crc, start.ends_open
        file.seek(offset)
        lines: list[tuple[int, bytes]] = []
        first, at_end = offset, False
        while not at_end:
            line, length, next_crc = _line(file, crc)
            ends = line.endswith(b"\n") or length > len(line)
            if not ends and line.endswith(b"\0"):
                line = line.rstrip(b"\0")
                length, next_crc = len(line), zlib.crc32(line, crc)
                file.seek(offset + length)
            if not line or not (ends or decode(line.lstrip(b"\0")) is not None):
                at_end = True
            else:
                # After a line that was taken before its newline came, that newline is no line.
                if not (ends_open and line in (b"\n", b"\r\n")):
                    number += not ends_open
                    lines.append((number, line if length == len(line) else b""))
                offset, crc, ends_open = offset + length, next_crc, not ends
            if at_end or offset - first >= PIECE_BYTES:
                head, tail = _guards(file, offset)
                file.seek(offset)
                mark = Mark(
                    device=stat.st_dev,
                    inode=stat.st_ino,
                    # Until its end is reached a file must not look finished.
                    size=stat.st_size if at_end else -1,
                    modified=stat.st_mtime_ns,
                    offset=offset,
                    lines=number,
                    crc=crc,
                    head=head,
                    tail=tail,
                    ends_open=ends_open,
                )
                yield Piece(lines=lines, mark=mark, bytes_read=offset - first)
                lines, first = [], offset


def decode(line: bytes) -> dict[str, object] | None:
    """Decode one line to an object, or return None where it is none.

    orjson refuses lone surrogates, bytes that are not UTF-8, control characters and NaN; such
    lines are mended first, since all else in them is intact. Of an object with too many levels
    the deepest become lists of their strings.
    """
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _mended(line)
    return value if isinstance(value, dict) else None


_ESCAPE = re.compile(r"\\(?:u([dD][89a-fA-F][0-9a-fA-F]{2})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|.)", re.DOTALL)


def _mended(line: bytes) -> object:
    text = _ESCAPE.sub(_paired, line.decode("utf-8-sig", "replace"))
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        flat = flatten(text.encode())
    except ValueError:
        return None
    try:
        return None if flat is None else json.loads(flat, strict=False)
    except ValueError:
        return None


def _paired(match: re.Match[str]) -> str:
    """Keep an escape unless it is half of a surrogate pair without its other half."""
    high, low = match.groups()
    if high is None or (low is not None and high[1] in "89abAB"):
        return match.group()
    return "\\ufffd" + (match.group()[6:] if low is None else "\\ufffd")


def _line(file: BinaryIO, crc: int) -> tuple[bytes, int, int]:
    """Read one line, its length and the checksum behind it; of a line past the limit only the beginning."""
    line = file.readline(LINE_LIMIT)
    length, crc = len(line), zlib.crc32(line, crc)
    if length < LINE_LIMIT or line.endswith(b"\n"):
        return line, length, crc
    while rest := file.readline(LINE_LIMIT):
        length, crc = length + len(rest), zlib.crc32(rest, crc)
        if rest.endswith(b"\n"):
            return line, length, crc
    return b"", 0, crc


def _guards(file: BinaryIO, offset: int) -> tuple[int, int]:
    file.seek(0)
    head = zlib.crc32(file.read(min(GUARD_BYTES, offset)))
    file.seek(max(0, offset - GUARD_BYTES))
    return head, zlib.crc32(file.read(min(GUARD_BYTES, offset)))


def _checksum(file: BinaryIO, length: int) -> int:
    file.seek(0)
    crc = 0
    while length > 0 and (chunk := file.read(min(READ_BUFFER, length))):
        crc = zlib.crc32(chunk, crc)
        length -= len(chunk)
    return crc
