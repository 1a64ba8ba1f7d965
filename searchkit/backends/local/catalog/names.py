"""Numbers for what recurs: names, sessions, contexts, paths."""

import sqlite3

from searchkit.types import Context

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
