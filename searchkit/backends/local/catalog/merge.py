"""Merges a record into one that is known: seen again where it was, or at another place."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from searchkit.backends.local.catalog.homes import FOLLOW_RECORD, choose_home, number_variants, share
from searchkit.backends.local.catalog.schema import FORKED, SHARED


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

    def home(self, record: int) -> Home:
        """Return where a record lives."""
        statement = "SELECT file, line, flags, standing FROM records WHERE id = ?"
        file, line, flags, standing = self._connection.execute(statement, (record,)).fetchone()
        return Home(record, file, line, bool(flags & SHARED), bool(flags & FORKED), standing)

    def place(self, home: Home, sight: Sight) -> Home:
        """Add a place to a record; a line of the same file that was replaced gives way to it."""
        execute = self._connection.execute
        if not home.is_shared:
            share(self._connection, home.id)
        replaced = execute(
            "SELECT line FROM places WHERE record = ? AND file = ? AND (line < 0 OR line = ?) AND NOT is_by_file",
            (home.id, sight.file, sight.line),
        ).fetchall()
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
        """Return the parts of a record by block and digest."""
        rows = self._connection.execute("SELECT block, digest, id FROM parts WHERE record = ?", (record,))
        return {(block, digest): part for block, digest, part in rows}

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
