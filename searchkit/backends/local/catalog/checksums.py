"""Checksums over the rows of the catalog, block by block, so that a bit that flips on the disk is noticed.

SQLite knows whether its pages fit together, not whether a number or a name in them is the one that was
written. A block is a range of keys of one table; its seal is the sum of the CRCs of its rows. Triggers add
and subtract with every change, in the same transaction, so a seal is always that of what was written, and
a change of one row hides no damage of another. The rows that come by the hundred thousand are added up by
who inserts them. Texts have checksums of their own (`texts.py`), so the column that holds them is left out.
"""

import json
import random
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

# 1,024 keys a block: few enough to say what is damaged, and a catalog of a million rows has a thousand seals.
_SHIFT = 10

# Keys that are hashes of 64 bits: the highest ten bits are the block.
_HASHED = 54

# Tantivy's files end with a footer in JSON, the length of that, and this number, four bytes each.
_TANTIVY_MAGIC = 1337

_TRAILER_BYTES = 8

# Files of Lance's that are; it does without them.
_HINTS = frozenset({"latest_version_hint.json"})

_PIECE_BYTES = 1 << 20


class Sealed(NamedTuple):
    """A table that is sealed: its columns, the key that says which block a row is in, and how many bits that drops.

    Without a key all its rows are one block. Rows of a table that grows are sealed by who inserts them.
    """

    table: str
    columns: tuple[str, ...]
    key: str | None = "id"
    shift: int = _SHIFT
    grows: bool = False

    def block(self, row: str) -> str:
        """Write, in SQL, which block a row is in."""
        return "0" if self.key is None else f"{row}.{self.key} >> {self.shift}"


def _sealed(table: str, columns: str, key: str | None = "id", shift: int = _SHIFT, grows: bool = False) -> Sealed:
    return Sealed(table, tuple(columns.split()), key, shift, grows)


# Their places in this list are in the catalog: a new one goes to its end.
SEALED = (
    _sealed("names", "id name"),
    _sealed("numbers", "name last", None),
    _sealed("files", "id path kind session agent directory is_copy is_gone checkpoint bytes lines torn noise"),
    _sealed("sessions", "id name started ended has_transcript is_settled"),
    _sealed("contexts", "id cwd branch version entrypoint model"),
    _sealed(
        "records",
        "id uuid parent missing_parent logical_parent source_call type session agent file line time context response"
        " standing flags",
        grows=True,
    ),
    _sealed(
        "places",
        "record file line is_by_file session agent parent logical_parent source_call type time context response"
        " standing flags",
        "record",
    ),
    _sealed(
        "parts",
        "id record block variant kind role session standing digest tool call is_error fields chunk start length"
        " language repeats",
        grows=True,
    ),
    _sealed("tellings", "part file line kind role tool call is_error fields", "part"),
    _sealed("chunks", "id first_part last_part"),
    _sealed("responses", "id record input output cache_read cache_write cost cache_write_1h", shift=_HASHED),
    _sealed("paths", "id path"),
    _sealed("touches", "path record action", "path"),
    _sealed("facts", "session name value agent leaf line", "session"),
    _sealed("problems", "file line kind detail", "file"),
    _sealed("settings", "name value", None),
    _sealed("store_files", "path bytes sum", None),
    _sealed("losses", "id time part detail"),
)


_NUMBERS = {sealed.table: number for number, sealed in enumerate(SEALED)}


def _triggers() -> Iterator[str]:
    for number, sealed in enumerate(SEALED):
        new, old = (f"row_sum({', '.join(f'{row}.{column}' for column in sealed.columns)})" for row in ("new", "old"))
        events = {"INSERT": ("new", new), "UPDATE": ("new", f"{new} - {old}"), "DELETE": ("old", f"-{old}")}
        for event, (row, change) in events.items():
            if event == "INSERT" and sealed.grows:
                continue
            block = sealed.block(row)
            yield f"""CREATE TRIGGER seal_{sealed.table}_{event.lower()} AFTER {event} ON {sealed.table}
BEGIN
  INSERT INTO seals VALUES ({number}, {block}, {change}) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
"""


# The table of seals, and what keeps them.
SEALS = """
CREATE TABLE seals (
  kind INTEGER NOT NULL,
  block INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (kind, block)
) WITHOUT ROWID;
""" + "".join(_triggers())


def can_seal(connection: sqlite3.Connection) -> None:
    """Let a connection write to tables that are sealed."""
    connection.create_function("row_sum", -1, _row_sum, deterministic=True)
    # Else rows that "OR REPLACE" takes out go without a trigger, and stay in the sum.
    connection.execute("PRAGMA recursive_triggers = 1")


def seal_new(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    """Add rows to the seals of a table that grows: whole rows, whole numbers in place of booleans, the key first."""
    number = _NUMBERS[table]
    shift, sums = SEALED[number].shift, Counter[int]()
    for row in rows:
        sums[row[0] >> shift] += _CRC(_ENCODE(row))  # type: ignore[operator]  # keys are numbers
    connection.executemany(
        "INSERT INTO seals VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum",
        [(number, block, total) for block, total in sums.items()],
    )


def broken(connection: sqlite3.Connection, most: int | None = None) -> Iterator[tuple[str, int]]:
    """Yield the table and the block of rows that are not as they were written; of each table so many are checked."""
    for number, sealed in enumerate(SEALED):
        try:
            seals = dict(connection.execute("SELECT block, sum FROM seals WHERE kind = ?", (number,)))
            blocks = sorted({*seals, *_blocks(connection, sealed)})
        except sqlite3.DatabaseError:
            yield sealed.table, 0
            continue
        if most is not None and len(blocks) > most:
            blocks = random.sample(blocks, most)
        for block in blocks:
            try:
                is_whole = _sum(connection, sealed, block) == seals.get(block, 0)
            except sqlite3.DatabaseError:
                is_whole = False
            if not is_whole:
                yield sealed.table, block


def is_readable(connection: sqlite3.Connection) -> bool:
    """Say whether every row can be read, be it as it was written or not: text that is no UTF-8 cannot."""
    try:
        for sealed in SEALED:
            for _ in connection.execute(f"SELECT {', '.join(sealed.columns)} FROM {sealed.table}"):
                pass
    except sqlite3.DatabaseError:
        return False
    return True


def span(table: str, block: int) -> tuple[str, int, int] | None:
    """Return the column that divides a table into blocks, and the first and the last key of one; None for all rows."""
    sealed = SEALED[_NUMBERS[table]]
    if sealed.key is None:
        return None
    return sealed.key, block << sealed.shift, (block + 1 << sealed.shift) - 1


def reseal(connection: sqlite3.Connection, table: str, block: int) -> None:
    """Take the rows of a block as they are: what was wrong with them is mended, or told elsewhere."""
    number = _NUMBERS[table]
    connection.execute(
        "INSERT OR REPLACE INTO seals VALUES (?, ?, ?)", (number, block, _sum(connection, SEALED[number], block))
    )


def reseal_all(connection: sqlite3.Connection) -> None:
    """Seal all rows as they are, in a catalog that was filled without seals."""
    connection.execute("DELETE FROM seals")
    for sealed in SEALED:
        for block in _blocks(connection, sealed):
            reseal(connection, sealed.table, block)


def incomplete(source: sqlite3.Connection, target: sqlite3.Connection) -> set[str]:
    """Name the tables whose rows in a copy are not those that the seals of the original are of, where it has any."""
    try:
        sums = dict(source.execute("SELECT kind, sum(sum) FROM seals GROUP BY kind"))
        had = {sealed: [row[1] for row in source.execute(f"PRAGMA table_info({sealed.table})")] for sealed in SEALED}
    except sqlite3.DatabaseError:
        return set()
    # A column that came later was not sealed; new ones go to the end of their table.
    then = [
        sealed._replace(columns=tuple(one for one in sealed.columns if one in had[sealed]) or sealed.columns)
        for sealed in SEALED
    ]
    return {
        sealed.table
        for number, sealed in enumerate(then)
        if sealed.table != "chunks" and sums.get(number, 0) != _total(target, sealed)
    }


def _total(connection: sqlite3.Connection, sealed: Sealed) -> int:
    return sum(
        _CRC(_ENCODE(row)) for row in connection.execute(f"SELECT {', '.join(sealed.columns)} FROM {sealed.table}")
    )


def _blocks(connection: sqlite3.Connection, sealed: Sealed) -> range:
    if sealed.key is None:
        return range(1)
    # Each by itself: SQLite looks up an end of an index, but walks over all of it for both.
    first, last = (
        connection.execute(f"SELECT {end}({sealed.key}) FROM {sealed.table}").fetchone()[0] for end in ("min", "max")
    )
    return range(0) if first is None else range(first >> sealed.shift, (last >> sealed.shift) + 1)


def _sum(connection: sqlite3.Connection, sealed: Sealed, block: int) -> int:
    statement = f"SELECT {', '.join(sealed.columns)} FROM {sealed.table}"
    bounds = span(sealed.table, block)
    if bounds is None:
        rows = connection.execute(statement)
    else:
        key, first, last = bounds
        rows = connection.execute(f"{statement} WHERE {key} BETWEEN ? AND ?", (first, last))
    return sum(_CRC(_ENCODE(row)) for row in rows)


def _row_sum(*values: object) -> int:
    return _CRC(_ENCODE(values))


_CRC = zlib.crc32


_ENCODE = msgspec.msgpack.Encoder().encode


def note_sums(connection: sqlite3.Connection, directory: Path, store: str) -> None:
    """Keep the checksums of files that came since last time, and forget those of files that went."""
    known = {row[0] for row in connection.execute("SELECT path FROM store_files")}
    present = {str(path.relative_to(directory)): path for path in _files(directory / store)}
    rows = []
    for name in present.keys() - known:
        with suppress(FileNotFoundError):
            rows.append((name, *_file_sum(present[name])))
    connection.executemany("INSERT OR REPLACE INTO store_files VALUES (?, ?, ?)", rows)
    connection.executemany("DELETE FROM store_files WHERE path = ?", [(name,) for name in known - present.keys()])


def wrong_sums(connection: sqlite3.Connection, directory: Path, most: int | None = None) -> Iterator[Path]:
    """Yield the files that are not as they were when their checksum was kept; one that went meanwhile is none."""
    rows = connection.execute("SELECT path, bytes, sum FROM store_files").fetchall()
    for name, *expected in rows if most is None or len(rows) <= most else random.sample(rows, most):
        with suppress(FileNotFoundError):
            if _file_sum(directory / name) != tuple(expected):
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


def _file_sum(path: Path, length: int | None = None) -> tuple[int, int]:
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
    return _file_sum(path, body) == (body, expected)
