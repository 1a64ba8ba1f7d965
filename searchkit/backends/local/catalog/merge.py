"""Merges a record into one that is known, and decides which of its places is its home."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from searchkit.backends.local.catalog.ids import rows_in, variant_of
from searchkit.backends.local.catalog.schema import BEST, FORKED, SHARED

# Where a record that has several places lives, and how it reads: as the best of its places shows it.
#
# Nothing depends on which place was seen first: a live line before one that was replaced, an
# original before a copy, what was not forked before what was, then the path, then the line.


_SHARE = f"""
INSERT OR IGNORE INTO places
SELECT id, file, line, 0, session, agent,
  ifnull((SELECT uuid FROM records AS parents WHERE parents.id = records.parent), missing_parent),
  logical_parent, source_call, type, time, context, response, standing, flags & ~{SHARED}
FROM records WHERE id = ?
"""
_SHARE_TELLINGS = """
INSERT OR IGNORE INTO tellings
SELECT parts.id, file, line, kind, role, tool, call, is_error, fields
FROM parts JOIN records ON records.id = record WHERE record = ?
"""
_MOVE_HOME = f"""
UPDATE records SET
  parent = (SELECT id FROM records AS parents WHERE parents.uuid = best.parent),
  missing_parent = iif(EXISTS (SELECT 1 FROM records AS parents WHERE parents.uuid = best.parent), NULL, best.parent),
  logical_parent = best.logical_parent, source_call = best.source_call, type = best.type, session = best.session,
  agent = best.agent, file = best.file, line = best.line, time = best.time, context = best.context,
  response = best.response, flags = best.flags | {SHARED},
  standing = (SELECT min(standing) FROM places WHERE record = ?1)
FROM (SELECT places.* FROM places JOIN files ON files.id = places.file
      WHERE record = ?1 ORDER BY {BEST} LIMIT 1) AS best
WHERE records.id = ?1
"""
_RETELL = f"""
UPDATE parts SET kind = best.kind, role = best.role, tool = best.tool, call = best.call, is_error = best.is_error,
  fields = best.fields
FROM (SELECT part, tellings.kind, tellings.role, tellings.tool, tellings.call, tellings.is_error, tellings.fields,
        row_number() OVER (PARTITION BY part ORDER BY {BEST}) AS number
      FROM tellings JOIN parts AS told ON told.id = part
        JOIN places ON places.record = told.record AND places.file = tellings.file AND places.line = tellings.line
        JOIN files ON files.id = places.file
      WHERE told.record = ?1) AS best
WHERE parts.id = best.part AND best.number = 1
"""
# Parts belong to the session of their record's home, and stand as high as it does.
FOLLOW_RECORD = """
UPDATE parts SET (session, standing) = (SELECT session, standing FROM records WHERE id = ?1) WHERE record = ?1
"""
_UNSETTLE = """
UPDATE sessions SET is_settled = 0 WHERE id IN
  (SELECT session FROM records WHERE id = ?1 UNION SELECT session FROM places WHERE record = ?1)
"""


def share(connection: sqlite3.Connection, record: int) -> None:
    """Begin to keep the places of a record apart; until now it had one."""
    connection.execute(_SHARE, (record,))
    connection.execute(_SHARE_TELLINGS, (record,))
    connection.execute(f"UPDATE records SET flags = flags | {SHARED} WHERE id = ?", (record,))


def choose_home(connection: sqlite3.Connection, record: int) -> None:
    """Let a shared record and its parts read as the best of its places shows them."""
    connection.execute(_UNSETTLE, (record,))
    connection.execute(_MOVE_HOME, (record,))
    connection.execute(_RETELL, (record,))
    connection.execute(FOLLOW_RECORD, (record,))
    number_variants(connection, [record])


def number_variants(connection: sqlite3.Connection, records: Iterable[int]) -> None:
    """Give the text with the smallest digest of each block the plain id, and the others their own."""
    for record in records:
        smallest: dict[int, int] = {}
        rows = connection.execute(
            "SELECT id, block, digest, variant FROM parts WHERE record = ? ORDER BY digest", (record,)
        ).fetchall()
        for part, block, digest, variant in rows:
            wanted = 0 if smallest.setdefault(block, digest) == digest else variant_of(digest)
            if wanted != variant:
                connection.execute("UPDATE parts SET variant = ? WHERE id = ?", (wanted, part))


# Merges a record into one that is known: seen again where it was, or at another place.


class Home(NamedTuple):
    """Where a record lives."""

    id: int
    file: int
    line: int
    is_shared: bool
    is_forked: bool
    standing: int


class Telling(NamedTuple):
    """A part as one place tells it, in the order of the columns of `tellings`."""

    kind: int
    role: int
    tool: int | None
    call: str | None
    is_error: bool
    fields: str | None


class Sight(NamedTuple):
    """A record as one place shows it; the columns are those of `places` behind the agent."""

    file: int
    line: int
    session: int
    agent: int | None
    columns: tuple[object, ...]
    file_session: int | None


class Known:
    """The records that a batch meets again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Write through `connection`, inside the caller's transaction."""
        self._connection = connection
        self._touched: set[int] = set()
        # The records and files of which a place is known.
        self._places: set[tuple[int, int]] = set()
        self._texts: dict[int, dict[tuple[int, int], int]] = {}

    def homes(self, records: Sequence[int]) -> dict[int, Home]:
        """Return where records live, and look up their places and texts, all at once."""
        rows = rows_in(self._connection, "SELECT id, file, line, flags, standing FROM records WHERE id IN", records)
        homes = {
            id: Home(id, file, line, bool(flags & SHARED), bool(flags & FORKED), standing)
            for id, file, line, flags, standing in rows
        }
        shared = [id for id, home in homes.items() if home.is_shared]
        self._places = {(home.id, home.file) for home in homes.values()}
        self._places.update(rows_in(self._connection, "SELECT record, file FROM places WHERE record IN", shared))
        self._texts = {record: {} for record in records}
        parts = "SELECT record, block, digest, id FROM parts WHERE record IN"
        for record, block, digest, part in rows_in(self._connection, parts, records):
            self._texts[record][block, digest] = part
        return homes

    def place(self, home: Home, sight: Sight) -> Home:
        """Add a place to a record; a line of the same file that was replaced gives way to it."""
        execute = self._connection.execute
        if not home.is_shared:
            share(self._connection, home.id)
        replaced = []
        if (home.id, sight.file) in self._places:
            replaced = execute(
                "SELECT line FROM places WHERE record = ? AND file = ? AND (line < 0 OR line = ?) AND NOT is_by_file",
                (home.id, sight.file, sight.line),
            ).fetchall()
        self._places.add((home.id, sight.file))
        for (line,) in replaced:
            # What a replaced file said under this uuid stays findable, at the place it is seen at now.
            execute(
                "UPDATE OR REPLACE tellings SET line = ? WHERE file = ? AND line = ?"
                " AND part IN (SELECT id FROM parts WHERE record = ?)",
                (sight.line, sight.file, line, home.id),
            )
        if replaced:
            execute(
                "DELETE FROM places WHERE record = ? AND file = ? AND (line < 0 OR line = ?)",
                (home.id, sight.file, sight.line),
            )
        places = [(home.id, sight.file, sight.line, 0, sight.session, sight.agent, *sight.columns)]
        if sight.file_session is not None:
            places.append((home.id, sight.file, sight.line, 1, sight.file_session, None, *sight.columns))
        self._connection.executemany(f"INSERT INTO places VALUES ({', '.join('?' * 15)})", places)
        if replaced:
            self._touched.add(home.id)
        return home._replace(is_shared=True)

    def tell(self, home: Home, sight: Sight, told: Sequence[tuple[int, Telling]], is_decisive: bool) -> None:
        """Say which parts a place tells; a decisive place can change how the record reads."""
        self._connection.executemany(
            f"INSERT OR REPLACE INTO tellings VALUES ({', '.join('?' * 9)})",
            [(part, sight.file, sight.line, *telling) for part, telling in told],
        )
        if is_decisive:
            self._touched.add(home.id)

    def choose_homes(self) -> None:
        """Let the records that got decisive places read as the best of their places shows them."""
        for record in self._touched:
            choose_home(self._connection, record)
        self._touched.clear()

    def texts(self, record: int) -> dict[tuple[int, int], int]:
        """Return the parts of a record by block and digest, to which new ones are added."""
        return self._texts[record]

    def rewrite(self, home: Home, columns: Sequence[object], told: Sequence[tuple[int, Telling]]) -> None:
        """Write a record that has one place again: it was read again, or its file was replaced."""
        execute = self._connection.execute
        execute(
            "UPDATE records SET parent = ?, missing_parent = ?, logical_parent = ?, source_call = ?, type = ?,"
            " session = ?, agent = ?, file = ?, line = ?, time = ?, context = ?, response = ?, standing = ?, flags = ?"
            " WHERE id = ?",
            (*columns, home.id),
        )
        execute(FOLLOW_RECORD, (home.id,))
        self._connection.executemany(
            "UPDATE parts SET kind = ?, role = ?, tool = ?, call = ?, is_error = ?, fields = ? WHERE id = ?",
            [(*telling, part) for part, telling in told],
        )
        number_variants(self._connection, [home.id])
