"""The rows of files: opened before their records are written, closed with their checkpoint after."""

import sqlite3

import msgspec
import orjson

from searchkit.backends.local.catalog.delete import erase_file
from searchkit.backends.local.catalog.homes import choose_home
from searchkit.backends.local.catalog.names import Names
from searchkit.backends.local.catalog.schema import SHARED
from searchkit.types import Change

_TRANSCRIPTS = ("session", "agent", "journal")


class FileRow(msgspec.Struct, frozen=True):
    """As much of a file as placing its records needs."""

    id: int
    path: str
    kind: str
    is_copy: bool
    session: int

    @property
    def is_transcript(self) -> bool:
        """Whether this file makes its session one with a transcript."""
        return self.kind in _TRANSCRIPTS


class Files:
    """The files of a batch and those that its records are already in."""

    def __init__(self, connection: sqlite3.Connection, names: Names, is_mending: bool = False) -> None:
        """Write through `connection`, inside the caller's transaction.

        Whoever mends trusts no row of a file that is read from its beginning.
        """
        self._is_mending = is_mending
        self._connection = connection
        self._names = names
        self._rows: dict[int, FileRow] = {}

    def row(self, file: int) -> FileRow:
        """Return a file by number."""
        row = self._rows.get(file)
        if row is None:
            statement = "SELECT path, kind, is_copy, session FROM files WHERE id = ?"
            # The number of the file may be what is damaged in a row: any other place of the record is better then.
            found = self._connection.execute(statement, (file,)).fetchone()
            path, kind, is_copy, session = found or ("", "", True, 0)
            row = self._rows[file] = FileRow(file, path, kind, bool(is_copy), session)
        return row

    def open(self, change: Change) -> FileRow | None:
        """Find or make the row of a change's file, and put right what a new beginning makes void."""
        execute = self._connection.execute
        if change.is_passed_over:
            return None
        if change.is_gone:
            execute("UPDATE files SET is_gone = 1, checkpoint = ? WHERE path = ?", (change.checkpoint, change.file))
            return None
        if change.moved_from is not None:
            execute("DELETE FROM files WHERE path = ? AND checkpoint IS NULL", (change.file,))
            execute("UPDATE OR IGNORE files SET path = ? WHERE path = ?", (change.file, change.moved_from))
            # The path is part of what makes a place a home.
            moved = "SELECT DISTINCT record FROM places JOIN files ON files.id = file WHERE path = ?"
            for (record,) in execute(moved, (change.file,)).fetchall():
                choose_home(self._connection, record)
        found = execute("SELECT id FROM files WHERE path = ?", (change.file,)).fetchone()
        origin = change.origin
        session, agent = self._names.session(origin.session), self._names.optional(origin.agent)
        if found is None:
            cursor = execute(
                "INSERT INTO files (path, kind, session, agent, directory, is_copy) VALUES (?, ?, ?, ?, ?, ?)",
                (change.file, origin.kind, session, agent, origin.project_directory, origin.is_copy),
            )
            assert cursor.lastrowid is not None
            file = cursor.lastrowid
        else:
            file = int(found[0])
            execute(
                "UPDATE files SET is_gone = 0, kind = ?, session = max(?, iif(kind = 'agent', session, 0)), agent = ?,"
                " directory = ?, is_copy = ? WHERE id = ?",
                (origin.kind, session, agent, origin.project_directory, origin.is_copy, file),
            )
            if change.is_restart:
                self._restart(file, origin.is_document or self._is_mending)
        row = self._rows[file] = FileRow(file, change.file, origin.kind, origin.is_copy, session)
        if row.is_transcript and session:
            execute("UPDATE sessions SET has_transcript = 1 WHERE id = ?", (session,))
        return row

    def close(self, change: Change, row: FileRow) -> None:
        """Keep what reading counted, and the checkpoint, which makes all of it true."""
        execute = self._connection.execute
        if change.checkpoint is None:
            execute("DELETE FROM problems WHERE file = ? AND line = 0", (row.id,))
        self._connection.executemany(
            "INSERT OR IGNORE INTO problems VALUES (?, ?, ?, ?)",
            [(row.id, problem.line, problem.kind, problem.detail) for problem in change.problems],
        )
        if change.checkpoint is None:
            return
        execute("DELETE FROM problems WHERE file = ? AND kind = 'unreadable'", (row.id,))
        tally = change.tally
        noise = orjson.dumps(tally.noise, option=orjson.OPT_SORT_KEYS).decode()
        execute(
            "UPDATE files SET checkpoint = ?, bytes = ?, lines = ?, torn = ?, noise = ? WHERE id = ?",
            (change.checkpoint, tally.bytes, tally.lines, tally.torn, noise, row.id),
        )

    def _restart(self, file: int, is_void: bool) -> None:
        """Void what was wrong; records of a replaced transcript stay, those of a document go."""
        execute = self._connection.execute
        execute("DELETE FROM problems WHERE file = ?", (file,))
        if is_void:
            erase_file(self._connection, file)
            return
        shared = execute("SELECT DISTINCT record FROM places WHERE file = ? AND line > 0", (file,)).fetchall()
        execute(f"UPDATE records SET line = -line WHERE file = ? AND line > 0 AND NOT flags & {SHARED}", (file,))
        execute("UPDATE places SET line = -line WHERE file = ? AND line > 0", (file,))
        execute("UPDATE tellings SET line = -line WHERE file = ? AND line > 0", (file,))
        for (record,) in shared:
            choose_home(self._connection, record)
