"""Writes a batch into the catalog: files, records, places, parts, facts, and last the checkpoints."""

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import msgspec
import orjson

from searchkit.backends.base import Batch
from searchkit.backends.local.catalog.checksums import seal_new
from searchkit.backends.local.catalog.delete import erase_file
from searchkit.backends.local.catalog.ids import Key, Names, keep_last_number, last_number, rows_in
from searchkit.backends.local.catalog.merge import Home, Known, Sight, Telling, choose_home
from searchkit.backends.local.catalog.rows import EntryRows, PartRow, RecordRow, Rows
from searchkit.backends.local.catalog.schema import FORKED, SHARED, SIDECHAIN
from searchkit.backends.local.catalog.texts import Packer
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

        A repair trusts no row of a file that is read from its beginning.
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


# Writes a batch into the catalog: records, places, parts, facts, and last the checkpoints.
#
# Whatever order files are read in, the catalog ends the same: a record's home is its best
# place, not its first, and equal things merge. Nearly all records are new, so rows of new ones
# are gathered and inserted together; one that is known already is merged by `merge.py`.

_INSERT_RECORD = f"INSERT INTO records VALUES ({', '.join('?' * 16)})"
_INSERT_PART = f"INSERT INTO parts VALUES ({', '.join('?' * 18)})"
_UPSERT_RESPONSE = """
INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
  record = min(record, excluded.record), input = max(input, excluded.input), output = max(output, excluded.output),
  cache_read = max(cache_read, excluded.cache_read), cache_write = max(cache_write, excluded.cache_write),
  cost = max(ifnull(cost, excluded.cost), ifnull(excluded.cost, cost)),
  cache_write_1h = max(cache_write_1h, excluded.cache_write_1h)
"""
_UPSERT_FACT = """
INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  leaf = CASE WHEN excluded.line > line THEN excluded.leaf WHEN excluded.line < line THEN leaf
    ELSE ifnull(max(leaf, excluded.leaf), ifnull(leaf, excluded.leaf)) END,
  line = max(line, excluded.line)
"""
_UPDATE_SESSION = """
UPDATE sessions SET is_settled = 0, has_transcript = max(has_transcript, ?2),
  started = min(ifnull(started, ?3), ifnull(?3, started)), ended = max(ifnull(ended, ?4), ifnull(?4, ended))
WHERE id = ?1
"""


class Written(NamedTuple):
    """What a batch has brought for the keyword index: new parts in the order of their numbers, with their words.

    The columns of a part are those of `words.index.Indexed`. Of `others`, whose record was known, only the tables say
    how they read.
    """

    first: int
    last: int
    parts: list[tuple[Any, ...]]
    others: list[int]


class _Again(NamedTuple):
    """A record that has another place, to be merged once the rows of all new ones are in the tables."""

    record: RecordRow
    number: int
    row: FileRow
    # The session that the file is of, where the record names another: it is part of both.
    file_session: int | None


class Writer:
    """Completes the rows of one batch and inserts them; lives as long as the transaction around it."""

    def __init__(self, connection: sqlite3.Connection, names: Names, rows: Rows, is_mending: bool = False) -> None:
        """Write through `connection`, inside the caller's transaction."""
        self._connection = connection
        self._rows = rows
        self._files = Files(connection, names, is_mending)
        self._known = Known(connection)
        self._names = [names.name(name) for name in rows.names]
        self._sessions = [names.session(session) for session in rows.sessions]
        self._contexts = [names.context(context) for context in rows.contexts]
        self._paths = [names.path(path) for path in rows.paths]
        self._numbers: dict[Key, int] = {}
        self._homes: dict[int, Home] = {}
        self._records: list[tuple[object, ...]] = []
        self._parts: list[tuple[object, ...]] = []
        self._again: list[_Again] = []
        self._touches: list[tuple[int, int, int]] = []
        self._indexed: list[tuple[Any, ...]] = []
        self._others: list[int] = []

    def write(self, batch: Batch) -> Written:
        """Write the batch that the rows were made of; the caller commits."""
        opened = [self._files.open(entry.change) for entry in batch]
        # Opening a file can write chunks again, so numbers are taken after that.
        self._next_record = last_number(self._connection, "records") + 1
        self._next_part = first = last_number(self._connection, "parts") + 1
        self._packer = Packer(last_number(self._connection, "chunks") + 1)
        self._numbers = self._find_numbers()
        mixed = self._mixed_chunks()
        self._chunks = [
            None if place in mixed else self._packer.keep(chunk) for place, chunk in enumerate(self._rows.chunks)
        ]
        for rows, row in zip(self._rows.entries, opened, strict=True):
            if row is not None:
                self._entry(rows, row)
        self._flush_records()
        self._homes = self._known.homes([*{again.number: None for again in self._again}])
        for again in self._again:
            self._merge(again)
        self._known.choose_homes()
        self._flush()
        for entry, row in zip(batch, opened, strict=True):
            if row is not None:
                self._files.close(entry.change, row)
        return Written(first, self._next_part - 1, self._indexed, self._others)

    def _entry(self, entry: EntryRows, row: FileRow) -> None:
        """Gather the rows of one change, and write what they tell of their sessions."""
        for record in entry.records:
            self._record(record, row)
        sessions = self._sessions
        self._connection.executemany(
            _UPDATE_SESSION,
            [(sessions[span.session], row.is_transcript, span.first, span.last) for span in entry.spans],
        )
        self._connection.executemany(
            _UPSERT_FACT,
            [
                (
                    sessions[fact.session],
                    self._names[fact.name],
                    fact.value,
                    0 if fact.agent is None else self._names[fact.agent],
                    fact.leaf,
                    fact.line,
                )
                for fact in entry.facts
            ],
        )
        if not row.session and row.kind == "agent" and entry.records:
            # The old layout names no session in the path of an agent's transcript.
            session = sessions[entry.records[0].session]
            self._connection.execute("UPDATE files SET session = ? WHERE id = ?", (session, row.id))

    def _record(self, record: RecordRow, row: FileRow) -> None:
        """Gather the rows of a new record; one that is known, or has two places at once, waits for them."""
        session = self._sessions[record.session]
        number = self._numbers.get(record.key)
        is_known = number is not None
        if number is None:
            number = self._numbers[record.key] = self._next_record
            self._next_record += 1
            self._records.append((number, record.key, *self._columns(record, row, session)))
            if record.parts:
                context, time = self._contexts[record.context], record.time
                agent = None if record.agent is None else self._names[record.agent]
                is_sidechain = record.flags & SIDECHAIN
                for part in record.parts:
                    part_number = self._part(part, number, session, record.standing)
                    words = part.words
                    if words is None:
                        words = self._rows.chunks[part.chunk][part.start : part.start + part.length].decode()
                    self._indexed.append(
                        (
                            part_number,
                            part.kind,
                            part.role,
                            session,
                            None if part.tool is None else self._names[part.tool],
                            context,
                            agent,
                            part.is_error,
                            is_sidechain,
                            time,
                            part.language,
                            words,
                            part.names,
                        )
                    )
        if is_known or (row.kind == "session" and row.session != session):
            file_session = row.session if row.kind == "session" and row.session != session else None
            self._again.append(_Again(record, number, row, file_session))
        for path, action in record.touches:
            self._touches.append((self._paths[path], number, self._names[action]))

    def _merge(self, again: _Again) -> None:
        """Merge a record that is known, whose rows are in the tables by now."""
        record, number, row, file_session = again
        session = self._sessions[record.session]
        home = self._homes[number]
        columns = self._columns(record, row, session)
        sight = self._sight(record, columns, file_session)
        is_again = home.file == row.id and (home.line == record.line or home.line < 0) and not home.is_shared
        if not is_again or file_session is not None:
            home = self._known.place(home, sight)
        texts = self._known.texts(number)
        told = []
        for part in record.parts:
            part_number = texts.get((part.block, part.digest))
            if part_number is None:
                part_number = self._part(part, number, session, record.standing)
                texts[part.block, part.digest] = part_number
                self._others.append(part_number)
            told.append((part_number, part))
        is_new_text = bool(self._parts)
        self._flush_records()
        tellings = [(part_number, self._telling(part)) for part_number, part in told]
        here = Home(number, row.id, record.line, home.is_shared, bool(record.flags & FORKED), record.standing)
        if home.is_shared:
            is_better = self._rank(here) < self._rank(home)
            is_decisive = is_new_text or is_better or here.standing < home.standing
            self._known.tell(home, sight, tellings, is_decisive)
            self._homes[number] = (here if is_better else home)._replace(standing=min(here.standing, home.standing))
        else:
            self._known.rewrite(home, columns, tellings)
            self._homes[number] = here

    def _rank(self, home: Home) -> tuple[bool, bool, bool, str, int]:
        """Order places as `schema.BEST` does."""
        row = self._files.row(home.file)
        return home.line < 0, row.is_copy, home.is_forked, row.path, abs(home.line)

    def _columns(self, record: RecordRow, row: FileRow, session: int) -> tuple[object, ...]:
        """Return the columns of a record behind its number and its key."""
        parent = None if record.parent is None else self._numbers.get(record.parent)
        return (
            parent,
            record.parent if parent is None else None,
            record.logical_parent,
            record.source_call,
            self._names[record.type],
            session,
            None if record.agent is None else self._names[record.agent],
            row.id,
            record.line,
            record.time,
            self._contexts[record.context],
            record.response,
            record.standing,
            record.flags,
        )

    def _sight(self, record: RecordRow, columns: tuple[object, ...], file_session: int | None) -> Sight:
        """Arrange the columns of a record as those of a place, where a parent is kept by its key."""
        _, _, logical_parent, source_call, record_type, session, agent, file, line, *rest = columns
        return Sight(
            file=cast(int, file),
            line=cast(int, line),
            session=cast(int, session),
            agent=cast("int | None", agent),
            columns=(record.parent, logical_parent, source_call, record_type, *rest),
            file_session=file_session,
        )

    def _telling(self, part: PartRow) -> Telling:
        tool = None if part.tool is None else self._names[part.tool]
        return Telling(part.kind, part.role, tool, part.call, part.is_error, part.fields)

    def _part(self, part: PartRow, record: int, session: int, standing: int) -> int:
        number = self._next_part
        self._next_part += 1
        chunk, start = self._chunks[part.chunk], part.start
        if chunk is None:
            text = self._rows.chunks[part.chunk][start : start + part.length]
            chunk, start, _ = self._packer.add(number, text)
        else:
            self._packer.holds(chunk, number)
        self._parts.append(
            (
                number,
                record,
                part.block,
                0,
                part.kind,
                part.role,
                session,
                standing,
                part.digest,
                None if part.tool is None else self._names[part.tool],
                part.call,
                int(part.is_error),
                part.fields,
                chunk,
                start,
                part.length,
                part.language,
                None,
            )
        )
        return number

    def _flush_records(self) -> None:
        if not self._records and not self._parts:
            return
        self._connection.executemany(_INSERT_RECORD, self._records)
        self._connection.executemany(_INSERT_PART, self._parts)
        seal_new(self._connection, "records", self._records)
        seal_new(self._connection, "parts", self._parts)
        self._records.clear()
        self._parts.clear()

    def _flush(self) -> None:
        connection = self._connection
        connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?)", self._packer.chunks())
        keep_last_number(connection, "records", self._next_record - 1)
        keep_last_number(connection, "parts", self._next_part - 1)
        keep_last_number(connection, "chunks", self._packer.last_chunk)
        connection.executemany("INSERT OR IGNORE INTO touches VALUES (?, ?, ?)", self._touches)
        connection.executemany(
            _UPSERT_RESPONSE,
            [
                (
                    spent.response,
                    spent.record,
                    usage.input,
                    usage.output,
                    usage.cache_read,
                    usage.cache_write,
                    usage.cost,
                    usage.cache_write_1h,
                )
                for spent in self._rows.spent
                for usage in (spent.usage,)
            ],
        )

    def _find_numbers(self) -> dict[Key, int]:
        """Look up which records of the batch, and which of their parents, are known."""
        keys: dict[Key, None] = {}
        for record in self._all_records():
            keys[record.key] = None
            if record.parent is not None:
                keys[record.parent] = None
        return dict(rows_in(self._connection, "SELECT uuid, id FROM records WHERE uuid IN", [*keys]))

    def _mixed_chunks(self) -> set[int]:
        """Find the chunks that hold more than the texts of new records: what is known must not be kept twice.

        Their texts are packed again as far as they are new; other chunks are kept as they came.
        """
        seen, mixed = set(self._numbers), set[int]()
        for record in self._all_records():
            if record.key in seen:
                mixed.update(part.chunk for part in record.parts)
            else:
                seen.add(record.key)
        return mixed

    def _all_records(self) -> Iterable[RecordRow]:
        return (record for entry in self._rows.entries for record in entry.records)
