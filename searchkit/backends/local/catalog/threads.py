"""Records in their conversation, without their texts: files, sessions, turns, and what leads elsewhere."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from searchkit.backends.base import FAR_LINES, TYPED, Conclusion, Node, Step, Stored
from searchkit.backends.local.catalog.ids import Key, optional_text, part_id, response_text, rows_in, uuid_text
from searchkit.backends.local.catalog.schema import (
    BEST,
    BOUNDARY,
    CALLED_BY_PARENT,
    KINDS,
    LANGUAGES,
    LINK,
    ROLES,
    SHARED,
    SIDECHAIN,
)
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.types import Context, Field, Kind, Link, Part, Place, Role, Standing

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

# Conditions on the records of one conversation, in SQL, that several questions share.
#
# A conversation is named by the values `:file`, `:session` and `:agent`.

Values = Mapping[str, object]

PROGRESS = "(SELECT id FROM names WHERE name = 'progress')"

ASSISTANT = "(SELECT id FROM names WHERE name = 'assistant')"

_USER = "(SELECT id FROM names WHERE name = 'user')"

IS_TYPED_PART = f"""
parts.role = {ROLES.index(Role.USER)} AND parts.kind IN ({",".join(str(KINDS.index(kind)) for kind in sorted(TYPED))})
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


def is_own(record: str) -> str:
    """Say that a record is of the conversation; the sign keeps SQLite from the index over sessions."""
    return f"+{record}.session = :session AND +{record}.agent IS :agent AND {record}.flags & {LINK}"


def is_typed(record: str) -> str:
    """Say that a turn begins with a record, because somebody typed it."""
    return f"""
    EXISTS (SELECT 1 FROM parts WHERE parts.record = {record}.id AND {IS_TYPED_PART}
      AND (parts.repeats IS NULL OR {record}.type IS NOT {PROGRESS}))
    """


def is_turning(record: str) -> str:
    """Say that a record makes a way of its own, as in `graph.py`."""
    return f"({record}.type = {ASSISTANT} OR ({record}.type = {_USER} AND {is_typed(record)}))"


IN_LINES = f"one.file = :file AND one.line > :after AND one.line < :before AND {is_own('one')}"


# A record that lies in several places of a conversation is told at the first of them.
IS_ELSEWHERE = f"""
SELECT EXISTS (
  SELECT 1 FROM places JOIN records AS one ON one.id = places.record
  WHERE places.session = :session AND places.agent IS :agent AND one.flags & {LINK}
    AND NOT ({is_own("one")} AND one.file = :file AND places.file = :file AND one.line <= abs(places.line)))
"""


# Records in their conversation, without their texts: whole files, whole sessions, and what leads elsewhere.

# The columns of a step; `records` and `parts` are joined wherever they stand.
STEP = f"""
parts.id, records.uuid, parts.kind, parts.role, tools.name, parts.call, parts.is_error,
  CASE WHEN parts.kind = {KINDS.index(Kind.TOOL_CALL)} THEN (
    SELECT min(paths.path) FROM touches JOIN paths ON paths.id = touches.path WHERE touches.record = records.id) END
"""


_NODE = """
SELECT records.id, records.uuid, types.name, ifnull(records.parent, logical.id),
  CASE WHEN ifnull(records.parent, logical.id) IS NULL THEN ifnull(records.missing_parent, records.logical_parent) END,
  records.response, records.file, records.line, records.time, nullif(sessions.name, ''), agents.name, records.flags
"""


_RECORDS = """
JOIN names AS types ON types.id = records.type LEFT JOIN sessions ON sessions.id = records.session
  LEFT JOIN names AS agents ON agents.id = records.agent
  LEFT JOIN records AS logical ON records.parent IS NULL AND logical.uuid = records.logical_parent
"""


# Progress repeats what an agent says in its own transcript; anything else that was said twice is told twice.
IS_TOLD = "(parts.repeats IS NULL OR records.type IS NOT (SELECT id FROM names WHERE name = 'progress'))"


_WITH_PARTS = f"""
LEFT JOIN parts ON parts.record = records.id AND {IS_TOLD} LEFT JOIN names AS tools ON tools.id = parts.tool
"""


_TRANSCRIPT = f"""
{_NODE}, {STEP} FROM records {_RECORDS} {_WITH_PARTS}
WHERE records.file = (SELECT file FROM records WHERE id = ?1) AND (records.flags & {LINK} OR records.id = ?1)
ORDER BY abs(records.line), records.uuid, parts.block, parts.variant
"""


_MEMBERS = f"""
{_NODE.replace("records.file, records.line", "chosen.file, chosen.line")}, {STEP}
FROM ({IN_SESSION}) AS chosen JOIN records ON records.id = chosen.id {_RECORDS} {_WITH_PARTS}
WHERE records.flags & {LINK}
ORDER BY chosen.is_copy, chosen.is_foreign, chosen.path, chosen.line, records.uuid, parts.block, parts.variant
"""


_ON_LINES = f"""
{_NODE}, {STEP} FROM records {_RECORDS} {_WITH_PARTS}
WHERE records.file = :file AND records.line BETWEEN :first AND :last AND {is_own("records")}
ORDER BY records.line, records.uuid, parts.block, parts.variant
"""


_BY_KEY = f"{_NODE}, {STEP}, parts.block, parts.variant FROM records {_RECORDS} {_WITH_PARTS} WHERE records.id IN"


_TOUCHING = f"""
SELECT {STEP} FROM records JOIN parts ON parts.record = records.id LEFT JOIN names AS tools ON tools.id = parts.tool
WHERE parts.id IN
"""


# Of a file and a tool, the columns are those of the row with the highest line.
_LAST_TOUCHING = f"""
SELECT part, max(line) FROM (
  SELECT parts.id AS part, parts.tool AS tool, records.line AS line, (
    SELECT min(paths.path) FROM touches JOIN paths ON paths.id = touches.path WHERE touches.record = records.id) AS path
  FROM records JOIN parts ON parts.record = records.id AND {IS_TOLD}
  WHERE records.session = ? AND records.agent IS NULL AND records.flags & {LINK}
    AND parts.kind = {KINDS.index(Kind.TOOL_CALL)})
WHERE path IS NOT NULL GROUP BY path, tool ORDER BY 2
"""


_COLUMNS = 12


# The transcript of a warm-up is read, and yet nothing in it makes a part; a title may stand in a file beside it.
_AGENTS = f"""
SELECT names.name FROM (SELECT agent, id AS record FROM records WHERE session = ?1 AND agent IS NOT NULL
  UNION SELECT agent, record FROM places WHERE session = ?1 AND agent IS NOT NULL) AS held
JOIN names ON names.id = held.agent JOIN records ON records.id = held.record GROUP BY held.agent
HAVING NOT max(flags & {LINK})
  OR max(EXISTS (SELECT 1 FROM parts WHERE parts.record = held.record AND kind != {KINDS.index(Kind.TITLE)}))
"""


def transcript(connection: sqlite3.Connection, key: int) -> list[Node]:
    """Return the records with a uuid in the home file of this one, and this one, in line order."""
    return list(_nodes(connection.execute(_TRANSCRIPT, (key,))))


def members(connection: sqlite3.Connection, session: int, agent: int | None) -> list[Node]:
    """Return the records that are in a session, or in one of its agents, each once and as it lies there."""
    found: dict[int, Node] = {}
    for node in _nodes(connection.execute(_MEMBERS, (session, agent))):
        found.setdefault(node.key, node)
    return list(found.values())


def by_key(connection: sqlite3.Connection, keys: Sequence[int]) -> list[Node]:
    """Return the records with these numbers, in this order; one that is gone is left out."""
    rows: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows_in(connection, _BY_KEY, keys):
        rows.setdefault(row[0], []).append(row)
    ordered = (row[:-2] for key in keys for row in sorted(rows.get(key, ()), key=lambda row: row[-2:]))
    return list(_nodes(ordered))


def on_lines(connection: sqlite3.Connection, whose: Values, first: int, last: int) -> list[Node]:
    """Return the records of a conversation that lie on some lines of its file."""
    return list(_nodes(connection.execute(_ON_LINES, {**whose, "first": first, "last": last})))


def touching(connection: sqlite3.Connection, session: int) -> list[Step]:
    """Return the calls of a session that touched a file, in line order: of each file and tool the last."""
    keys = [row[0] for row in connection.execute(_LAST_TOUCHING, (session,))]
    found = {row[0]: step(row) for row in rows_in(connection, _TOUCHING, keys)}
    return [found[key] for key in keys]


def agents(connection: sqlite3.Connection, session: int) -> list[str]:
    """Return the agents that have records in a session, in order of their names, without those that say nothing."""
    return sorted(row[0] for row in connection.execute(_AGENTS, (session,)))


def offspring(connection: sqlite3.Connection, keys: Sequence[int], session: str) -> list[Node]:
    """Return the records of other sessions than this whose parent is one of these, without their steps."""
    found = connection.execute("SELECT id FROM sessions WHERE name = ?", (session,)).fetchone()
    # Only what ends the statement may vary, so the number of the session is written into it.
    others = f"{_NODE} FROM records {_RECORDS} WHERE records.session NOT IN (0, {int(found[0]) if found else 0})"
    rows = rows_in(connection, f"{others} AND records.parent IN", keys)
    return sorted((_node(row, ()) for row in rows), key=lambda node: (node.time or 0, node.uuid))


def callers(connection: sqlite3.Connection, calls: Sequence[str]) -> dict[str, str]:
    """Return the uuid of the record that made each of these calls."""
    # What an agent says is repeated in the progress of its caller, calls included.
    statement = f"""SELECT call, records.standing, uuid FROM parts JOIN records ON records.id = record
WHERE kind = {KINDS.index(Kind.TOOL_CALL)} AND call IN"""
    found = sorted(set(rows_in(connection, statement, calls)), reverse=True)
    return {call: uuid_text(uuid) for call, _, uuid in found}


def calls(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, int]:
    """Return the part of the call that each of these results is of."""
    statement = f"""SELECT results.id, calls.id FROM parts AS results JOIN parts AS calls
  ON calls.call = results.call AND calls.kind = {KINDS.index(Kind.TOOL_CALL)} WHERE results.id IN"""
    # What an agent says is repeated in the progress of its caller; the first of equals is the call itself.
    return dict(sorted(set(rows_in(connection, statement, keys)), reverse=True))


def step(row: Sequence[Any]) -> Step:
    """Make a step of its columns."""
    key, uuid, kind, role, tool, call, is_error, path = row
    return Step(
        key=key,
        uuid=uuid_text(uuid),
        kind=KINDS[kind],
        role=ROLES[role],
        tool=tool,
        call=call,
        path=path,
        is_error=bool(is_error),
    )


def _nodes(rows: Iterable[tuple[Any, ...]]) -> Iterator[Node]:
    # A record may lie in several places of a session.
    for _, group in groupby(rows, key=itemgetter(0, 6, 7)):
        several = list(group)
        said = tuple(step(row[_COLUMNS:]) for row in several if row[_COLUMNS] is not None)
        yield _node(several[0][:_COLUMNS], said)


def _node(row: Sequence[Any], steps: tuple[Step, ...]) -> Node:
    key, uuid, record_type, parent, missing, response, file, line, time, session, agent, flags = row
    return Node(
        key=key,
        uuid=uuid_text(uuid),
        type=record_type,
        parent=parent,
        missing=optional_text(missing),
        response=response,
        file=file,
        line=line,
        time=time,
        session=session,
        agent=agent,
        is_link=bool(flags & LINK),
        is_boundary=bool(flags & BOUNDARY),
        is_sidechain=bool(flags & SIDECHAIN),
        steps=steps,
    )


# The turns around hits: what lies on the lines between what a person typed and what he typed next.
#
# A file is in the order of writing, so a turn is a range of lines and takes no walk from record to
# record: ten hits are expanded in less time than it takes to find them.

_TYPED_PART = f"""
parts.record = records.id AND {IS_TOLD} AND parts.role = {ROLES.index(Role.USER)}
  AND parts.kind IN ({",".join(str(KINDS.index(kind)) for kind in sorted(TYPED))})
"""


_IN_RANGE = f"""
records.file = ? AND records.agent IS ? AND records.flags & {SIDECHAIN} = ? AND records.line BETWEEN ? AND ?
"""


_PLACE = f"records.file, records.agent, records.flags & {SIDECHAIN}, records.line"


_TYPED = f"""
SELECT records.line, records.parent FROM records WHERE {_IN_RANGE} AND records.flags & {LINK}
  AND EXISTS (SELECT 1 FROM parts WHERE {_TYPED_PART})
ORDER BY records.line"""


_PROMPT = f"""
SELECT parts.id FROM records JOIN parts ON {_TYPED_PART} WHERE {_IN_RANGE} AND records.flags & {LINK}
ORDER BY records.line DESC, records.uuid, parts.block, parts.variant LIMIT 1
"""


_LAST_TEXT = f"""
SELECT parts.id, parts.length FROM records JOIN parts ON parts.record = records.id AND {IS_TOLD}
  AND parts.kind = {KINDS.index(Kind.TEXT)} AND parts.role = {ROLES.index(Role.ASSISTANT)}
WHERE {_IN_RANGE} AND records.flags & {LINK}
ORDER BY records.line DESC, parts.block DESC, parts.variant DESC LIMIT 1
"""


_STEPS = f"""
SELECT {STEP} FROM records JOIN parts ON parts.record = records.id AND {IS_TOLD}
  LEFT JOIN names AS tools ON tools.id = parts.tool
WHERE {_IN_RANGE} AND (records.flags & {LINK} AND records.line >= 0 OR records.id = ?)
ORDER BY records.line, parts.block, parts.variant
"""


class _Place(NamedTuple):
    """Where a record lies, and in whose conversation there."""

    file: int
    agent: int | None
    sidechain: int
    line: int


class _Turn(NamedTuple):
    """The lines of a turn, and the parent of the record that it begins with."""

    place: _Place
    first: int
    last: int
    parent: int | None


def turns(connection: sqlite3.Connection, keys: Sequence[int], before: int, after: int) -> dict[int, list[Step]]:
    """Return, for each of these parts, those of the turns around it, in order."""
    statement = f"SELECT parts.id, record, {_PLACE} FROM parts JOIN records ON records.id = record WHERE parts.id IN"
    return {
        key: list(_steps(connection, record, _Place(*place), before, after))
        for key, record, *place in set(rows_in(connection, statement, keys))
    }


def prompts(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, int]:
    """Return what was typed that the turn of each of these parts begins with, where it does."""
    statement = f"SELECT parts.id, {_PLACE} FROM parts JOIN records ON records.id = record WHERE parts.id IN"
    found = {
        key: connection.execute(_PROMPT, (*where, max(0, line - FAR_LINES), line)).fetchone()
        for key, *where, line in set(rows_in(connection, statement, keys))
    }
    return {key: row[0] for key, row in found.items() if row}


def conclusions(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, Conclusion]:
    """Return the last text of the turn that each of these parts is in, where there is one."""
    statement = f"SELECT parts.id, length, {_PLACE} FROM parts JOIN records ON records.id = record WHERE parts.id IN"
    last: dict[tuple[int | None, ...], tuple[int, int] | None] = {}
    found = {}
    for key, length, *where in set(rows_in(connection, statement, keys)):
        turn = _turn(connection, _Place(*where))
        bounds = (*turn.place[:3], turn.first, turn.last)
        if bounds not in last:
            last[bounds] = connection.execute(_LAST_TEXT, bounds).fetchone()
        text = last[bounds]
        if text is not None:
            found[key] = Conclusion(key=text[0], length=text[1], other_length=length)
    return found


def _steps(connection: sqlite3.Connection, record: int, place: _Place, before: int, after: int) -> Iterator[Step]:
    own = _turn(connection, place)
    earlier = list(_earlier(connection, own, before))
    for turn in (*reversed(earlier), own, *_later(connection, own, after)):
        for row in connection.execute(_STEPS, (*turn.place[:3], turn.first, turn.last, record)):
            yield step(row)


def _turn(connection: sqlite3.Connection, place: _Place) -> _Turn:
    """Find where the turn begins and ends that a record is in."""
    *where, line = place
    if line < 0:
        # The file was replaced by one that does not hold the record: there is nothing around it.
        return _Turn(place, line, line, None)
    begin = connection.execute(f"{_TYPED} DESC LIMIT 1", (*where, max(0, line - FAR_LINES), line)).fetchone()
    end = connection.execute(f"{_TYPED} LIMIT 1", (*where, line + 1, line + FAR_LINES)).fetchone()
    first, parent = begin or (max(0, line - FAR_LINES), None)
    return _Turn(place, first, end[0] - 1 if end else line + FAR_LINES, parent)


def _earlier(connection: sqlite3.Connection, turn: _Turn, count: int) -> Iterator[_Turn]:
    """Yield the turns before one, nearest first: each holds the parent of the record that the next begins with."""
    seen = {(turn.place.file, turn.first)}
    for _ in range(count):
        place = connection.execute(f"SELECT {_PLACE} FROM records WHERE id = ?", (turn.parent,)).fetchone()
        turn = _turn(connection, _Place(*place)) if place else turn
        if (turn.place.file, turn.first) in seen:
            return
        seen.add((turn.place.file, turn.first))
        yield turn


def _later(connection: sqlite3.Connection, turn: _Turn, count: int) -> Iterator[_Turn]:
    """Yield the turns after one, as long as each begins below a record of the one before."""
    for _ in range(count if turn.first >= 0 else 0):
        *where, _ = turn.place
        begin = connection.execute(f"{_TYPED} LIMIT 1", (*where, turn.last + 1, turn.last + 1)).fetchone()
        parent = begin and connection.execute(f"SELECT {_PLACE} FROM records WHERE id = ?", (begin[1],)).fetchone()
        if not parent or list(parent[:3]) != where or not turn.first <= parent[3] <= turn.last:
            return
        turn = _turn(connection, turn.place._replace(line=begin[0]))
        yield turn
