"""Reads records and parts back out of the catalog."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from searchkit.backends.base import Stored
from searchkit.backends.local.catalog.ids import Key, optional_text, part_id, response_text, rows_in, uuid_text
from searchkit.backends.local.catalog.merge import BEST
from searchkit.backends.local.catalog.schema import (
    BOUNDARY,
    CALLED_BY_PARENT,
    KINDS,
    LANGUAGES,
    ROLES,
    SHARED,
    SIDECHAIN,
)
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.types import Context, Field, Kind, Link, Part, Place, Standing

_LINKS = """
SELECT records.id, records.uuid, ifnull(parents.uuid, records.missing_parent), records.logical_parent,
  records.source_call, types.name, records.response, records.time, records.flags, records.standing,
  cwd, branch, version, entrypoint, model, path, records.line, nullif(sessions.name, ''), agents.name
FROM records LEFT JOIN records AS parents ON parents.id = records.parent
  JOIN names AS types ON types.id = records.type JOIN contexts ON contexts.id = records.context
  JOIN files ON files.id = records.file LEFT JOIN sessions ON sessions.id = records.session
  LEFT JOIN names AS agents ON agents.id = records.agent
"""
_PLACES = f"""
SELECT path, line, nullif(sessions.name, ''), agents.name
FROM places JOIN files ON files.id = places.file JOIN sessions ON sessions.id = places.session
  LEFT JOIN names AS agents ON agents.id = places.agent
WHERE record = ?1 AND (places.file, line, is_by_file) != (
  SELECT places.file, line, is_by_file FROM places JOIN files ON files.id = places.file
  WHERE record = ?1 ORDER BY {BEST} LIMIT 1)
ORDER BY path, line, sessions.name
"""
_PARTS = """
SELECT records.id, uuid, block, variant, kind, role, digest, tools.name, call, is_error, fields, chunk, start, length,
  language, repeats
FROM parts JOIN records ON records.id = parts.record LEFT JOIN names AS tools ON tools.id = tool
"""
_NUMBERED = _PARTS.replace("SELECT", "SELECT parts.id,", 1) + " WHERE parts.id IN"
# The records of a session, or of one of its agents, at each of their places there. A fork may keep the old
# session on its lines; then the file that is named after the session comes first.
IN_SESSION = f"""
SELECT records.id, files.is_copy, files.session != ?1 AS is_foreign, path, abs(line) AS line, file
FROM records JOIN files ON files.id = file
WHERE records.session = ?1 AND records.agent IS ?2 AND NOT records.flags & {SHARED}
UNION ALL
SELECT record, files.is_copy, files.session != ?1, path, abs(line), places.file
FROM places JOIN files ON files.id = places.file
WHERE places.session = ?1 AND places.agent IS ?2
"""


def links(connection: sqlite3.Connection, column: str, values: Sequence[Key | int]) -> Iterator[Link]:
    """Yield the records whose column has one of these values."""
    for row in rows_in(connection, f"{_LINKS} WHERE records.{column} IN", values):
        yield _link(connection, row)


def ordered_links(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[Link]:
    """Return the records with these numbers, in this order."""
    found = {row[0]: _link(connection, row) for row in rows_in(connection, f"{_LINKS} WHERE records.id IN", numbers)}
    return [found[number] for number in numbers]


def parts(
    connection: sqlite3.Connection, unpacker: Unpacker, condition: str, values: Sequence[object]
) -> Iterator[Stored]:
    """Yield the parts for which a condition holds, by record and block."""
    statement = f"{_PARTS} WHERE {condition} ORDER BY record, block, variant"
    for row in connection.execute(statement, values).fetchall():
        link = next(links(connection, "id", [row[0]]))
        yield _stored(connection, unpacker, row, link)


def numbered(connection: sqlite3.Connection, unpacker: Unpacker, numbers: Sequence[int]) -> dict[int, Stored]:
    """Return the parts with these numbers; a missing one is left out."""
    rows = {row[0]: row[1:] for row in rows_in(connection, _NUMBERED, numbers)}
    records = sorted({row[0] for row in rows.values()})
    homes = dict(zip(records, ordered_links(connection, records), strict=True))
    return {number: _stored(connection, unpacker, row, homes[row[0]]) for number, row in rows.items()}


def beginning(connection: sqlite3.Connection, text: str, limit: int) -> list[str]:
    """Return the uuids that begin with a text, those that are kept as bytes and those that are kept as text."""
    found = connection.execute(
        "SELECT uuid FROM records WHERE typeof(uuid) = 'text' AND uuid >= ?1 AND uuid < ?2 ORDER BY uuid LIMIT ?3",
        (text, text + chr(0x10FFFF), limit),
    ).fetchall()
    digits = text.replace("-", "").lower()
    if text and not digits.strip("0123456789abcdef") and len(digits) <= 32:
        span = (bytes.fromhex(digits.ljust(32, filler)) for filler in "0f")
        statement = "SELECT uuid FROM records WHERE uuid BETWEEN ? AND ? ORDER BY uuid LIMIT ?"
        found += connection.execute(statement, (*span, limit)).fetchall()
    return sorted(uuid_text(uuid) for (uuid,) in found)[:limit]


def opening(connection: sqlite3.Connection, session: str) -> list[str]:
    """Return the uuid of the first record of a session's transcript that says something."""
    statement = f"""
        SELECT records.uuid FROM sessions JOIN parts ON parts.session = sessions.id
          JOIN records ON records.id = parts.record JOIN files ON files.id = records.file
        WHERE sessions.name = ? AND sessions.id > 0 AND parts.kind != {KINDS.index(Kind.TITLE)} AND repeats IS NULL
        ORDER BY records.agent IS NOT NULL, files.kind != 'session', records.time IS NULL, records.time, records.line
        LIMIT 1
    """
    return [uuid_text(uuid) for (uuid,) in connection.execute(statement, (session,))]


def whose(connection: sqlite3.Connection, session: str, agent: str | None) -> tuple[int, int | None] | None:
    """Return the numbers of a session and of one of its agents; None where there is none."""
    statement = "SELECT sessions.id, (SELECT id FROM names WHERE name = ?) FROM sessions WHERE name = ?"
    found: tuple[int, int | None] | None = connection.execute(statement, (agent, session)).fetchone()
    return None if found is None or (agent is not None and found[1] is None) else found


def _link(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Link:
    number, uuid, parent, logical_parent, source_call, record_type, response, time, flags, standing, *rest = row
    cwd, branch, version, entrypoint, model, path, line, session, agent = rest
    home = Place(file=path, line=line, session=session, agent=agent)
    others = [
        Place(file=path, line=line, session=session, agent=agent)
        for path, line, session, agent in (connection.execute(_PLACES, (number,)) if flags & SHARED else ())
    ]
    return Link(
        uuid=uuid_text(uuid),
        type=record_type,
        parent=optional_text(parent),
        logical_parent=optional_text(logical_parent),
        source_call=optional_text(parent if flags & CALLED_BY_PARENT else source_call),
        response=None if response is None else response_text(response),
        time=time,
        is_sidechain=bool(int(flags) & SIDECHAIN),
        is_boundary=bool(int(flags) & BOUNDARY),
        standing=Standing(standing),
        context=Context(cwd=cwd, branch=branch, version=version, entrypoint=entrypoint, model=model),
        places=(home, *others),
    )


def _stored(connection: sqlite3.Connection, unpacker: Unpacker, row: tuple[Any, ...], link: Link) -> Stored:
    (
        _,
        uuid,
        block,
        variant,
        kind,
        role,
        digest,
        tool,
        call,
        is_error,
        fields,
        chunk,
        start,
        length,
        language,
        repeats,
    ) = row
    return Stored(
        id=part_id(uuid, block, variant),
        link=link,
        repeats=_name_of(connection, repeats) if repeats is not None else None,
        part=Part(
            uuid=link.uuid,
            block=block,
            kind=KINDS[kind],
            role=ROLES[role],
            text=unpacker.text(chunk, start, length),
            digest=digest,
            tool=tool,
            call=call,
            is_error=bool(is_error),
            fields=_fields(fields),
            language=LANGUAGES[language],
        ),
    )


def _fields(written: str | None) -> tuple[Field, ...]:
    if not written:
        return ()
    return tuple(Field(name=name, start=start, end=end) for name, start, end in orjson.loads(written))


def _name_of(connection: sqlite3.Connection, part: object) -> str | None:
    statement = "SELECT uuid, block, variant FROM parts JOIN records ON records.id = record WHERE parts.id = ?"
    row = connection.execute(statement, (part,)).fetchone()
    return None if row is None else part_id(*row)
