"""How ids look inside the catalog: uuids as 16 bytes, numbers for what recurs, statements for many of them."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from searchkit.types import Context

# Asks for many values with statements of a few sizes.
#
# Every size would be a statement of its own, and SQLite's binding keeps the last 128 of them
# prepared: with thousands of variables each, that came to 100 MB.

# Asking for one value must be cheap, and asking for 50,000 too.
SIZES = (1, 4, 16, 64, 256)
_LISTS = {size: f"({','.join('?' * size)})" for size in SIZES}


def rows_in(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a statement that ends in `IN`, for any number of values."""
    for start in range(0, len(values), SIZES[-1]):
        some = values[start : start + SIZES[-1]]
        size = next(size for size in SIZES if size >= len(some))
        # A value named twice changes nothing, so the last one fills up what is left.
        filled = [*some, *[some[-1]] * (size - len(some))]
        yield from connection.execute(f"{statement} {_LISTS[size]}", filled).fetchall()


# How ids look inside the catalog: uuids as 16 bytes, part ids as text.

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").fullmatch

Key = bytes | str


def uuid_key(uuid: str) -> Key:
    """Shorten a uuid to its bytes; anything else stays as it is."""
    return bytes.fromhex(uuid.replace("-", "")) if _UUID(uuid) else uuid


def uuid_text(key: Key) -> str:
    """Write a key as it stood in the transcript."""
    if isinstance(key, str):
        return key
    digits = key.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def optional_text(key: Key | None) -> str | None:
    """Write a key that may be missing."""
    return None if key is None else uuid_text(key)


@lru_cache(1024)
def response_key(response: str) -> int:
    """Shorten a message id to a number, since it is needed only to tell responses apart."""
    # Takes longer to import than a search takes, and only those who write need it.
    import hashlib

    return int.from_bytes(hashlib.blake2b(response.encode(), digest_size=8).digest(), "big", signed=True)


def response_text(key: int) -> str:
    """Write the number of a response as its records' links do."""
    return f"{key & (1 << 64) - 1:016x}"


def part_id(uuid: Key, block: int, variant: int) -> str:
    """Name a part; a variant is another text under the same uuid and block."""
    name = f"{uuid_text(uuid)}#{block}"
    return f"{name}.{variant:x}" if variant else name


def parse_part_id(name: str) -> tuple[Key, int, int] | None:
    """Read a part's name back; None where it is not one."""
    uuid, _, rest = name.rpartition("#")
    block, _, variant = rest.partition(".")
    try:
        return uuid_key(uuid), int(block), int(variant, 16) if variant else 0
    except ValueError:
        return None


def variant_of(digest: int) -> int:
    """Derive a variant's number from its text, so that it does not depend on which came first."""
    return (digest & 0xFFFFFFFF) or 1


# Numbers for what recurs: names, sessions, contexts, paths.

# Paths are many and each recurs for a while: what has not been used lately is asked for again.
MOST_PATHS = 20_000


def last_number(connection: sqlite3.Connection, table: str) -> int:
    """Return the highest number that was ever given in a table."""
    row = connection.execute("SELECT last FROM numbers WHERE name = ?", (table,)).fetchone()
    return int(row[0]) if row else 0


def keep_last_number(connection: sqlite3.Connection, table: str, last: int) -> None:
    """Remember the highest number, once a batch: SQLite's own AUTOINCREMENT would do so for every row."""
    connection.execute("INSERT OR REPLACE INTO numbers VALUES (?, ?)", (table, last))


class Names:
    """Looks up numbers and gives new ones, remembering those it has seen in this process."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read and write through `connection`, inside the caller's transaction."""
        self._connection = connection
        self.forget()

    def forget(self) -> None:
        """Forget everything: a transaction that gave numbers was rolled back."""
        self._names: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        self._contexts: dict[Context, int] = {}
        self._paths: dict[str, int] = {}

    def name(self, name: str) -> int:
        """Return the number of a recurring string."""
        number = self._names.get(name)
        if number is None:
            number = self._names[name] = self._number("names", "name", name)
        return number

    def optional(self, name: str | None) -> int | None:
        """Return the number of a recurring string that may be missing."""
        return None if name is None else self.name(name)

    def session(self, session: str | None) -> int:
        """Return the number of a session; 0 is none."""
        if session is None:
            return 0
        number = self._sessions.get(session)
        if number is None:
            number = self._sessions[session] = self._number("sessions", "name", session)
        return number

    def path(self, path: str) -> int:
        """Return the number of the path of a file that was touched."""
        number = self._paths.get(path)
        if number is None:
            if len(self._paths) >= MOST_PATHS:
                self._paths.clear()
            number = self._paths[path] = self._number("paths", "path", path)
        return number

    def context(self, context: Context) -> int:
        """Return the number of a context."""
        number = self._contexts.get(context)
        if number is None:
            values = (context.cwd, context.branch, context.version, context.entrypoint, context.model)
            row = self._connection.execute(
                "SELECT id FROM contexts WHERE cwd IS ? AND branch IS ? AND version IS ? AND entrypoint IS ?"
                " AND model IS ?",
                values,
            ).fetchone()
            if row is None:
                statement = "INSERT INTO contexts (cwd, branch, version, entrypoint, model) VALUES (?, ?, ?, ?, ?)"
                number = _row_id(self._connection.execute(statement, values))
            else:
                number = int(row[0])
            self._contexts[context] = number
        return number

    def _number(self, table: str, column: str, value: str) -> int:
        row = self._connection.execute(f"SELECT id FROM {table} WHERE {column} = ?", (value,)).fetchone()
        if row is not None:
            return int(row[0])
        return _row_id(self._connection.execute(f"INSERT INTO {table} ({column}) VALUES (?)", (value,)))


def _row_id(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None
    return cursor.lastrowid
