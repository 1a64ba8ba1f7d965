"""Writes a batch into the catalog: records, places, parts, facts, and last the checkpoints.

Whatever order files are read in, the catalog ends the same: a record's home is its best
place, not its first, and equal things merge.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from searchkit.backends.base import Batch
from searchkit.backends.embedded.files import FileRow, Files
from searchkit.backends.embedded.keys import Key, optional_key, response_key, uuid_key, variant_of
from searchkit.backends.embedded.names import Names
from searchkit.backends.embedded.schema import BOUNDARY, FORKED, LINK, SIDECHAIN
from searchkit.backends.embedded.texts import Packer
from searchkit.types import Fact, Kind, Part, Record, Role, Standing, Usage

KINDS = tuple(Kind)
ROLES = tuple(Role)
_KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_ROLE_NUMBER = {role: number for number, role in enumerate(ROLES)}
# SQLite's own limit on the variables of one statement is 32,766.
MOST_VARIABLES = 10_000

_INSERT_RECORD = f"INSERT INTO records VALUES ({', '.join('?' * 15)})"
_INSERT_PART = f"INSERT INTO parts VALUES ({', '.join('?' * 17)})"
_INSERT_PLACE = "INSERT OR IGNORE INTO places VALUES (?, ?, ?, ?, ?)"
_UPSERT_RESPONSE = """
INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
  record = min(record, excluded.record), input = max(input, excluded.input), output = max(output, excluded.output),
  cache_read = max(cache_read, excluded.cache_read), cache_write = max(cache_write, excluded.cache_write),
  cost = max(ifnull(cost, excluded.cost), ifnull(excluded.cost, cost))
"""
_UPSERT_FACT = """
INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  leaf = iif(excluded.line >= line, excluded.leaf, leaf), line = max(line, excluded.line)
"""
_UPDATE_SESSION = """
UPDATE sessions SET is_settled = 0, has_transcript = max(has_transcript, ?2),
  started = min(ifnull(started, ?3), ifnull(?3, started)), ended = max(ifnull(ended, ?4), ifnull(?4, ended))
WHERE id = ?1
"""


class Home(msgspec.Struct, kw_only=True):
    """Where a known record lives, while a batch is merged into it."""

    id: int
    file: int
    line: int
    is_forked: bool
    standing: int
    is_new: bool = False


class Writer:
    """Turns one batch into rows; lives as long as the transaction around it."""

    def __init__(self, connection: sqlite3.Connection, names: Names) -> None:
        """Write through `connection`, inside the caller's transaction."""
        self._connection = connection
        self._names = names
        self._files = Files(connection, names)
        self._next_record = self._highest("records") + 1
        self._next_part = self._last_part() + 1
        self._packer = Packer(self._highest("chunks") + 1)
        self._records: list[tuple[object, ...]] = []
        self._parts: list[tuple[object, ...]] = []
        self._places: list[tuple[object, ...]] = []
        self._touches: list[tuple[int, int, int]] = []
        self._usage: dict[int, tuple[Key, Usage]] = {}
        self._spans: dict[int, tuple[int, int | None, int | None]] = {}

    def write(self, batch: Batch) -> None:
        """Write the whole batch; the caller commits."""
        rows = [self._files.open(entry.change) for entry in batch]
        homes = self._homes(uuid_key(record.uuid) for entry in batch for record in entry.change.records)
        known = self._known_parts(homes.values())
        for entry, row in zip(batch, rows, strict=True):
            if row is None:
                continue
            for record, parts in zip(entry.change.records, entry.parts, strict=True):
                self._record(record, parts, row, homes, known)
            self._facts(entry.change.facts)
            if not row.session and row.kind == "agent" and entry.change.records:
                # The old layout names no session in the path of an agent's transcript.
                session = self._names.session(entry.change.records[0].session)
                self._connection.execute("UPDATE files SET session = ? WHERE id = ?", (session, row.id))
        self._flush()
        for entry, row in zip(batch, rows, strict=True):
            if row is not None:
                self._files.close(entry.change, row)

    def _record(
        self,
        record: Record,
        parts: Sequence[Part],
        row: FileRow,
        homes: dict[Key, Home],
        known: dict[tuple[int, int], dict[int, int]],
    ) -> None:
        key = uuid_key(record.uuid)
        session = self._names.session(record.session)
        self._span(session, record, row)
        home = homes.get(key)
        if home is None:
            number = self._next_record
            self._next_record += 1
            homes[key] = Home(
                id=number,
                file=row.id,
                line=record.line,
                is_forked=record.is_forked,
                standing=record.standing,
                is_new=True,
            )
            self._records.append((number, key, *self._columns(record, row, session)))
        else:
            number = home.id
            self._merge(record, row, session, home)
        if row.session != session and row.kind == "session":
            # A record that names another session than its file's: it is part of both.
            self._places.append((number, row.id, record.line, row.session, None))
        for part in parts:
            self._part(part, number, session, record.standing, known)
        for touch in record.touches:
            self._touches.append((self._names.path(touch.path), number, self._names.name(touch.action)))
        if record.usage is not None and record.response is not None:
            self._respond(response_key(record.response), key, record.usage)

    def _columns(self, record: Record, row: FileRow, session: int) -> tuple[object, ...]:
        flags = (
            (SIDECHAIN if record.is_sidechain else 0)
            | (FORKED if record.is_forked else 0)
            | (BOUNDARY if record.is_boundary else 0)
            | (LINK if record.is_link else 0)
        )
        return (
            optional_key(record.parent),
            optional_key(record.logical_parent),
            optional_key(record.source_call),
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

    def _merge(self, record: Record, row: FileRow, session: int, home: Home) -> None:
        """Give a known record another place, and move its home there where that is the better one."""
        here = (row.id, record.line)
        if here == (home.file, home.line):
            return
        if home.is_new:
            # The merge reads and updates rows, so the new ones must be there.
            self._flush_records()
            home.is_new = False
        connection = self._connection
        better = self._rank(row.id, record.line, record.is_forked) < self._rank(home.file, home.line, home.is_forked)
        standing = min(home.standing, int(record.standing))
        if better:
            is_replaced = home.file == row.id and home.line < 0
            if not is_replaced:
                connection.execute(
                    "INSERT OR IGNORE INTO places SELECT id, file, line, session, agent FROM records WHERE id = ?",
                    (home.id,),
                )
            connection.execute("DELETE FROM places WHERE record = ? AND file = ? AND line = ?", (home.id, *here))
            connection.execute(
                "UPDATE records SET parent = ?, logical_parent = ?, source_call = ?, type = ?, session = ?, agent = ?,"
                " file = ?, line = ?, time = ?, context = ?, response = ?, standing = ?, flags = ? WHERE id = ?",
                (*self._columns(record, row, session), home.id),
            )
            connection.execute("UPDATE parts SET session = ? WHERE record = ?", (session, home.id))
            home.file, home.line, home.is_forked = row.id, record.line, record.is_forked
        else:
            self._places.append((home.id, *here, session, self._names.optional(record.agent)))
        if better or standing != home.standing:
            connection.execute("UPDATE records SET standing = ? WHERE id = ?", (standing, home.id))
            connection.execute("UPDATE parts SET standing = ? WHERE record = ?", (standing, home.id))
            home.standing = standing

    def _rank(self, file: int, line: int, is_forked: bool) -> tuple[bool, bool, bool, str, int]:
        row = self._files.row(file)
        return line < 0, row.is_copy, is_forked, row.path, line

    def _part(
        self,
        part: Part,
        record: int,
        session: int,
        standing: Standing,
        known: dict[tuple[int, int], dict[int, int]],
    ) -> None:
        variant = 0
        texts = known.get((record, part.block))
        if texts is None:
            known[record, part.block] = {part.digest: self._next_part}
        elif part.digest in texts:
            return
        else:
            # The smallest digest has the plain id, whichever came first.
            smallest = min(texts)
            if part.digest < smallest:
                self._flush_records()
                self._connection.execute(
                    "UPDATE parts SET variant = ? WHERE id = ?", (variant_of(smallest), texts[smallest])
                )
            else:
                variant = variant_of(part.digest)
            texts[part.digest] = self._next_part
        fields = ";".join(f"{field.name} {field.start} {field.end}" for field in part.fields) or None
        self._parts.append(
            (
                self._next_part,
                record,
                part.block,
                variant,
                _KIND_NUMBER[part.kind],
                _ROLE_NUMBER[part.role],
                session,
                int(standing),
                part.digest,
                self._names.optional(part.tool),
                part.call,
                part.is_error,
                fields,
                *self._packer.add(part.text),
                None,
            )
        )
        self._next_part += 1

    def _respond(self, response: int, record: Key, usage: Usage) -> None:
        """Keep the largest usage of a response, which every record of it repeats."""
        other = self._usage.get(response)
        if other is None or other[1].output <= usage.output:
            self._usage[response] = (record if other is None else _smaller(record, other[0]), usage)

    def _span(self, session: int, record: Record, row: FileRow) -> None:
        has_transcript, started, ended = self._spans.get(session, (0, None, None))
        if row.is_transcript:
            has_transcript = 1
        if record.time is not None:
            started = record.time if started is None else min(started, record.time)
            ended = record.time if ended is None else max(ended, record.time)
        self._spans[session] = has_transcript, started, ended

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
                    fact.leaf,
                    fact.line,
                )
                for fact in facts
            ],
        )

    def _flush_records(self) -> None:
        self._connection.executemany(_INSERT_RECORD, self._records)
        self._connection.executemany(_INSERT_PART, self._parts)
        self._records.clear()
        self._parts.clear()

    def _flush(self) -> None:
        connection = self._connection
        self._packer.flush()
        self._flush_records()
        connection.executemany("INSERT INTO chunks VALUES (?, ?)", self._packer.chunks)
        connection.executemany(_INSERT_PLACE, self._places)
        connection.executemany("INSERT OR IGNORE INTO touches VALUES (?, ?, ?)", self._touches)
        connection.executemany(
            _UPSERT_RESPONSE,
            [
                (response, record, usage.input, usage.output, usage.cache_read, usage.cache_write, usage.cost)
                for response, (record, usage) in self._usage.items()
            ],
        )
        connection.executemany(_UPDATE_SESSION, [(session, *span) for session, span in self._spans.items()])

    def _homes(self, keys: Iterable[Key]) -> dict[Key, Home]:
        homes = {}
        statement = "SELECT uuid, id, file, line, flags, standing FROM records WHERE uuid IN"
        for uuid, number, file, line, flags, standing in self._select(statement, list(keys)):
            is_forked = bool(flags & FORKED)
            homes[uuid] = Home(id=number, file=file, line=line, is_forked=is_forked, standing=standing)
        return homes

    def _known_parts(self, homes: Iterable[Home]) -> dict[tuple[int, int], dict[int, int]]:
        known: dict[tuple[int, int], dict[int, int]] = {}
        statement = "SELECT record, block, digest, id FROM parts WHERE record IN"
        for record, block, digest, part in self._select(statement, [home.id for home in homes]):
            known.setdefault((record, block), {})[digest] = part
        return known

    def _select(self, statement: str, values: Sequence[object]) -> Iterable[tuple[Any, ...]]:
        for start in range(0, len(values), MOST_VARIABLES):
            chosen = values[start : start + MOST_VARIABLES]
            yield from self._connection.execute(f"{statement} ({','.join('?' * len(chosen))})", chosen)

    def _last_part(self) -> int:
        row = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'parts'").fetchone()
        return int(row[0]) if row else 0

    def _highest(self, table: str) -> int:
        return int(self._connection.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0])


def _smaller(one: Key, other: Key) -> Key:
    """Choose as SQLite's min() does: text sorts before bytes."""
    if isinstance(one, str) != isinstance(other, str):
        return one if isinstance(one, str) else other
    return min(one, other)
