"""Checksums of the files of the stores that derive from the catalog.

Tantivy ends each file with a checksum of it. Lance does not, so the catalog keeps those of its files, which
are written once and never changed.
"""

import json
import random
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Tantivy's files end with a footer in JSON, the length of that, and this number, four bytes each.
_TANTIVY_MAGIC = 1337
_TRAILER_BYTES = 8
# Files of Lance's that are; it does without them.
_HINTS = frozenset({"latest_version_hint.json"})
_PIECE_BYTES = 1 << 20


def note_sums(connection: sqlite3.Connection, directory: Path, store: str) -> None:
    """Keep the checksums of files that came since last time, and forget those of files that went."""
    known = {row[0] for row in connection.execute("SELECT path FROM store_files")}
    present = {str(path.relative_to(directory)): path for path in _files(directory / store)}
    rows = []
    for name in present.keys() - known:
        with suppress(FileNotFoundError):
            rows.append((name, *_sum(present[name])))
    connection.executemany("INSERT OR REPLACE INTO store_files VALUES (?, ?, ?)", rows)
    connection.executemany("DELETE FROM store_files WHERE path = ?", [(name,) for name in known - present.keys()])


def wrong_sums(connection: sqlite3.Connection, directory: Path, most: int | None = None) -> Iterator[Path]:
    """Yield the files that are not as they were when their checksum was kept; one that went meanwhile is none."""
    rows = connection.execute("SELECT path, bytes, sum FROM store_files").fetchall()
    for name, *expected in rows if most is None or len(rows) <= most else random.sample(rows, most):
        with suppress(FileNotFoundError):
            if _sum(directory / name) != tuple(expected):
                yield directory / name


def wrong_footers(directory: Path, most: int | None = None) -> Iterator[Path]:
    """Yield the files of a Tantivy index that are not what their footers say.

    Only files of committed segments count: a kill leaves unfinished ones, which the next commit removes.
    """
    segments = _committed_segments(directory)
    files = [path for path in _files(directory) if path.name.partition(".")[0] in segments]
    for path in files if most is None or len(files) <= most else random.sample(files, most):
        with suppress(FileNotFoundError):
            if not _is_as_footer_says(path):
                yield path


def _committed_segments(directory: Path) -> set[str]:
    """Return the beginnings of the names of the files that the last commit refers to."""
    try:
        meta = json.loads((directory / "meta.json").read_bytes())
        return {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # Then Tantivy cannot open the index either, and says so.
        return set()


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file() and path.name not in _HINTS)


def _sum(path: Path, length: int | None = None) -> tuple[int, int]:
    """Return how long the beginning of a file is, all of it unless told, and its checksum."""
    total = size = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES if length is None else min(_PIECE_BYTES, length - size)):
            total, size = zlib.crc32(piece, total), size + len(piece)
    return size, total


def _is_as_footer_says(path: Path) -> bool:
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _TRAILER_BYTES))
        trailer = file.read()
        length, magic = int.from_bytes(trailer[:4], "little"), int.from_bytes(trailer[4:], "little")
        body = size - _TRAILER_BYTES - length
        if magic != _TANTIVY_MAGIC or body < 0:
            return False
        file.seek(body)
        try:
            expected = json.loads(file.read(length))["crc"]
        except (ValueError, KeyError, TypeError):
            return False
    return _sum(path, body) == (body, expected)
