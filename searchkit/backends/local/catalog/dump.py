"""Goes through the whole catalog once: every record with its parts."""

import sqlite3
from collections.abc import Iterator

from searchkit.backends.base import Holding, Stored
from searchkit.backends.local.catalog import read
from searchkit.backends.local.catalog.texts import Unpacker

# Records asked for in one statement.
RECORDS_AT_ONCE = 2_000


def everything(connection: sqlite3.Connection, unpacker: Unpacker) -> Iterator[Holding]:
    """Yield every record with its parts; what is written meanwhile may be missed."""
    last = 0
    while numbers := _numbers(connection, last):
        last = numbers[-1]
        condition = f"parts.record IN ({','.join('?' * len(numbers))})"
        parts: dict[str, list[Stored]] = {}
        for stored in read.parts(connection, unpacker, condition, numbers):
            parts.setdefault(stored.link.uuid, []).append(stored)
        for link in read.links(connection, "id", numbers):
            yield Holding(link=link, parts=parts.get(link.uuid, []))


def _numbers(connection: sqlite3.Connection, after: int) -> list[int]:
    statement = "SELECT id FROM records WHERE id > ? ORDER BY id LIMIT ?"
    return [row[0] for row in connection.execute(statement, (after, RECORDS_AT_ONCE))]
