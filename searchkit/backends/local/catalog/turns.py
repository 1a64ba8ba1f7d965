"""The turns around hits: what lies on the lines between what a person typed and what he typed next.

A file is in the order of writing, so a turn is a range of lines and takes no walk from record to
record: ten hits are expanded in less time than it takes to find them.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from searchkit.backends.base import FAR_LINES, TYPED, Conclusion, Step
from searchkit.backends.local.catalog.asking import rows_in
from searchkit.backends.local.catalog.schema import KINDS, LINK, ROLES, SIDECHAIN
from searchkit.backends.local.catalog.threads import IS_TOLD, STEP, step
from searchkit.types import Kind, Role

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
