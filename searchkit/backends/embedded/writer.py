"""Writes a batch into the catalog: records, places, parts, facts, and last the checkpoints.

Whatever order files are read in, the catalog ends the same: a record's home is its best
place, not its first, and equal things merge. Nearly all records are new, so rows of new ones
are gathered and inserted together; one that is known already is merged by `merge.py`.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import cast

import orjson

from searchkit.backends.base import Batch, Entry
from searchkit.backends.embedded.asking import rows_in
from searchkit.backends.embedded.files import FileRow, Files
from searchkit.backends.embedded.keys import Key, optional_key, response_key, uuid_key, uuid_text
from searchkit.backends.embedded.merge import Home, Known, Sight, Telling
from searchkit.backends.embedded.names import Names, keep_last_number, last_number
from searchkit.backends.embedded.schema import (
    BOUNDARY,
    CALLED_BY_PARENT,
    FORKED,
    KINDS,
    LINK,
    ROLES,
    SHARED,
    SIDECHAIN,
)
from searchkit.backends.embedded.texts import Packer
from searchkit.types import Fact, Part, Record, Standing, Usage

_KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_ROLE_NUMBER = {role: number for number, role in enumerate(ROLES)}

_INSERT_RECORD = f"INSERT INTO records VALUES ({', '.join('?' * 16)})"
_INSERT_PART = f"INSERT INTO parts VALUES ({', '.join('?' * 17)})"
_UPSERT_RESPONSE = """
INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
  record = min(record, excluded.record), input = max(input, excluded.input), output = max(output, excluded.output),
  cache_read = max(cache_read, excluded.cache_read), cache_write = max(cache_write, excluded.cache_write),
  cost = max(ifnull(cost, excluded.cost), ifnull(excluded.cost, cost))
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


class Writer:
    """Turns one batch into rows; lives as long as the transaction around it."""

    def __init__(self, connection: sqlite3.Connection, names: Names) -> None:
        """Write through `connection`, inside the caller's transaction."""
        self._connection = connection
        self._names = names
        self._files = Files(connection, names)
        self._known = Known(connection)
        self._homes: dict[str, Home] = {}
        self._records: list[tuple[object, ...]] = []
        self._parts: list[tuple[object, ...]] = []
        self._known_again: list[tuple[Record, Sequence[Part], FileRow, int, int | None]] = []
        self._touches: list[tuple[int, int, int]] = []
        self._usage: dict[int, tuple[Key, Usage]] = {}

    def write(self, batch: Batch) -> None:
        """Write the whole batch; the caller commits."""
        rows = [self._files.open(entry.change) for entry in batch]
        # Opening a file can write chunks anew, so numbers are taken after that.
        self._next_record = last_number(self._connection, "records") + 1
        self._next_part = last_number(self._connection, "parts") + 1
        self._packer = Packer(last_number(self._connection, "chunks") + 1)
        self._homes = self._find_homes(batch)
        for entry, row in zip(batch, rows, strict=True):
            if row is not None:
                self._entry(entry, row)
        self._flush_records()
        for known in self._known_again:
            self._merge(*known)
        self._known.choose_homes()
        self._flush()
        for entry, row in zip(batch, rows, strict=True):
            if row is not None:
                self._files.close(entry.change, row)

    def _entry(self, entry: Entry, row: FileRow) -> None:
        """Write the records of one change, and what they tell of their sessions."""
        spans: dict[int, list[int]] = {}
        session_name, session = "", 0
        for record, parts in zip(entry.change.records, entry.parts, strict=True):
            if record.session != session_name:
                session_name, session = record.session or "", self._names.session(record.session)
            times = spans.setdefault(session, [])
            if record.time is not None and row.is_dated and record.standing is not Standing.STAND_IN:
                # A stand-in may go again, and its time with it.
                times.append(record.time)
            self._record(record, parts, row, session)
        self._connection.executemany(
            _UPDATE_SESSION,
            [
                (session, int(row.is_transcript), min(times, default=None), max(times, default=None))
                for session, times in spans.items()
            ],
        )
        self._facts(entry.change.facts)
        if not row.session and row.kind == "agent" and entry.change.records:
            # The old layout names no session in the path of an agent's transcript.
            session = self._names.session(entry.change.records[0].session)
            self._connection.execute("UPDATE files SET session = ? WHERE id = ?", (session, row.id))

    def _record(self, record: Record, parts: Sequence[Part], row: FileRow, session: int) -> None:
        """Gather the rows of a new record; one that is known, or has two places at once, waits for them."""
        home = self._homes.get(record.uuid)
        is_known = home is not None
        if home is None:
            home = self._homes[record.uuid] = Home(
                self._next_record, row.id, record.line, False, record.is_forked, record.standing
            )
            self._next_record += 1
            self._records.append((home.id, uuid_key(record.uuid), *self._columns(record, row, session)))
            for part in parts:
                self._part(part, self._telling(part), home.id, session, record.standing)
        # A record that names another session than its file's is part of both.
        file_session = row.session if row.kind == "session" and row.session != session else None
        if is_known or file_session is not None:
            self._known_again.append((record, parts, row, session, file_session))
        for touch in record.touches:
            self._touches.append((self._names.path(touch.path), home.id, self._names.name(touch.action)))
        if record.usage is not None and record.response is not None:
            self._respond(response_key(record.response), record.uuid, record.usage)

    def _merge(
        self, record: Record, parts: Sequence[Part], row: FileRow, session: int, file_session: int | None
    ) -> None:
        """Merge a record that is known, whose rows are in the tables by now."""
        home = self._homes[record.uuid]
        columns = self._columns(record, row, session)
        sight = self._sight(record, columns, file_session)
        is_again = home.file == row.id and (home.line == record.line or home.line < 0) and not home.is_shared
        if not is_again or file_session is not None:
            home = self._known.place(home, sight)
        texts = self._known.texts(home.id)
        told = []
        for part in parts:
            telling = self._telling(part)
            number = texts.get((part.block, part.digest))
            if number is None:
                number = self._part(part, telling, home.id, session, record.standing)
            told.append((number, telling))
        is_new_text = bool(self._parts)
        self._flush_records()
        here = Home(home.id, row.id, record.line, home.is_shared, record.is_forked, record.standing)
        if home.is_shared:
            is_better = self._rank(here) < self._rank(home)
            is_decisive = is_new_text or is_better or here.standing < home.standing
            self._known.tell(home, sight, told, is_decisive)
            self._homes[record.uuid] = (here if is_better else home)._replace(
                standing=min(here.standing, home.standing)
            )
        else:
            self._known.rewrite(home, columns, told)
            self._homes[record.uuid] = here

    def _rank(self, home: Home) -> tuple[bool, bool, bool, str, int]:
        """Order places as `homes.BEST` does."""
        row = self._files.row(home.file)
        return home.line < 0, row.is_copy, home.is_forked, row.path, abs(home.line)

    def _columns(self, record: Record, row: FileRow, session: int) -> tuple[object, ...]:
        """Return the columns of a record behind its number and its uuid."""
        parent: int | None = None
        missing_parent: Key | None = None
        if record.parent is not None:
            parent_home = self._homes.get(record.parent)
            if parent_home is None:
                missing_parent = uuid_key(record.parent)
            else:
                parent = parent_home.id
        flags, source_call = LINK if record.is_link else 0, record.source_call
        if source_call is not None and source_call == record.parent:
            flags, source_call = flags | CALLED_BY_PARENT, None
        if record.is_sidechain:
            flags |= SIDECHAIN
        if record.is_forked:
            flags |= FORKED
        if record.is_boundary:
            flags |= BOUNDARY
        return (
            parent,
            missing_parent,
            optional_key(record.logical_parent),
            optional_key(source_call),
            self._names.name(record.type),
            session,
            self._names.optional(record.agent),
            row.id,
            record.line,
            record.time,
            self._names.context(record.context),
            None if record.response is None else response_key(record.response),
            int(record.standing),
            flags,
        )

    def _sight(self, record: Record, columns: tuple[object, ...], file_session: int | None) -> Sight:
        """Arrange the columns of a record as those of a place, where a parent is kept by its uuid."""
        _, _, logical_parent, source_call, record_type, session, agent, file, line, *rest = columns
        return Sight(
            file=cast(int, file),
            line=cast(int, line),
            session=cast(int, session),
            agent=cast("int | None", agent),
            columns=(optional_key(record.parent), logical_parent, source_call, record_type, *rest),
            file_session=file_session,
        )

    def _telling(self, part: Part) -> Telling:
        fields = None
        if part.fields:
            fields = orjson.dumps([(field.name, field.start, field.end) for field in part.fields]).decode()
        return Telling(
            _KIND_NUMBER[part.kind],
            _ROLE_NUMBER[part.role],
            self._names.optional(part.tool),
            part.call,
            part.is_error,
            fields,
        )

    def _part(self, part: Part, telling: Telling, record: int, session: int, standing: int) -> int:
        number = self._next_part
        self._next_part += 1
        kind, role, tool, call, is_error, fields = telling
        place = self._packer.add(number, part.text)
        head = (number, record, part.block, 0, kind, role, session, int(standing), part.digest)
        self._parts.append((*head, tool, call, is_error, fields, *place, None))
        return number

    def _respond(self, response: int, uuid: str, usage: Usage) -> None:
        """Keep the largest usage of a response, which every record of it repeats."""
        other = self._usage.get(response)
        if other is None:
            self._usage[response] = (uuid_key(uuid), usage)
        else:
            largest = usage if usage == other[1] else _larger(usage, other[1])
            self._usage[response] = (_smaller(uuid_key(uuid), other[0]), largest)

    def _facts(self, facts: Iterable[Fact]) -> None:
        names = self._names
        self._connection.executemany(
            _UPSERT_FACT,
            [
                (
                    names.session(fact.session),
                    names.name(fact.name),
                    fact.value,
                    names.optional(fact.agent) or 0,
                    optional_key(fact.leaf),
                    fact.line,
                )
                for fact in facts
            ],
        )

    def _flush_records(self) -> None:
        if not self._records and not self._parts:
            return
        self._connection.executemany(_INSERT_RECORD, self._records)
        self._connection.executemany(_INSERT_PART, self._parts)
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
                (response, record, usage.input, usage.output, usage.cache_read, usage.cache_write, usage.cost)
                for response, (record, usage) in self._usage.items()
            ],
        )

    def _find_homes(self, batch: Batch) -> dict[str, Home]:
        """Look up which records of the batch, and which of their parents, are known."""
        uuids: dict[str, None] = {}
        for entry in batch:
            for record in entry.change.records:
                uuids[record.uuid] = None
                if record.parent is not None:
                    uuids[record.parent] = None
        statement = "SELECT uuid, id, file, line, flags, standing FROM records WHERE uuid IN"
        return {
            uuid_text(uuid): Home(number, file, line, bool(flags & SHARED), bool(flags & FORKED), standing)
            for uuid, number, file, line, flags, standing in rows_in(
                self._connection, statement, [*map(uuid_key, uuids)]
            )
        }


def _smaller(one: Key, other: Key) -> Key:
    """Choose as SQLite's min() does: text sorts before bytes."""
    if isinstance(one, str) != isinstance(other, str):
        return one if isinstance(one, str) else other
    return min(one, other)


def _larger(one: Usage, other: Usage) -> Usage:
    costs = [usage.cost for usage in (one, other) if usage.cost is not None]
    return Usage(
        input=max(one.input, other.input),
        output=max(one.output, other.output),
        cache_read=max(one.cache_read, other.cache_read),
        cache_write=max(one.cache_write, other.cache_write),
        cost=max(costs, default=None),
    )
