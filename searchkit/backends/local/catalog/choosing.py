"""Chooses sessions: those with certain ids, or those for which a condition holds.

Of what a filter asks for there are few different values, so they are compared here and not in
SQL: one definition of what a filter means serves every backend.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

from searchkit.backends.local.catalog import sessions as telling
from searchkit.backends.local.catalog.asking import rows_in
from searchkit.backends.local.catalog.schema import KINDS, NUMBERED, SIDECHAIN
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.query.filter_matching import holds, is_time_met
from searchkit.query.filters import BY_NAME
from searchkit.query.types import Condition, Filter
from searchkit.types import Kind

# A session holds the parts that are at home in it and those of records that have another place in it.
_OF_PARTS = """
SELECT DISTINCT session, {value} FROM parts WHERE repeats IS NULL AND {test}
UNION SELECT places.session, {value} FROM places JOIN parts ON parts.record = places.record
  WHERE repeats IS NULL AND {test}
"""


def _of_facts(filter: str) -> str:
    spec = BY_NAME[filter]
    named = f"SELECT id FROM names WHERE name = '{spec.fact}'"
    facts = f"SELECT DISTINCT session, value FROM facts WHERE name = ({named})"
    if not spec.absent:
        return facts
    # What is of no session, number 0, counts as one that has no such fact.
    without = f"SELECT id, '{spec.absent}' FROM sessions WHERE id NOT IN (SELECT session FROM ({facts}))"
    return f"{facts} UNION {without}"


_IS_SIDECHAIN = f"parts.record IN (SELECT id FROM records WHERE flags & {SIDECHAIN})"
# Each yields sessions and the values they have of a filter. Of all others these are the facts that it names.
_HELD = {
    "session": "SELECT id, name FROM sessions WHERE id > 0",
    "agent": f"""
        SELECT session, name FROM (SELECT DISTINCT session, agent FROM records WHERE agent IS NOT NULL
          UNION SELECT session, agent FROM places WHERE agent IS NOT NULL) JOIN names ON names.id = agent
        UNION {_of_facts("agent")}""",
    "tool": f"""
        SELECT session, name FROM ({_OF_PARTS.format(value="tool", test="tool IS NOT NULL")})
        JOIN names ON names.id = tool""",
    "kind": _OF_PARTS.format(value="parts.kind", test="1"),
    "role": _OF_PARTS.format(value="parts.role", test="1"),
    "language": _OF_PARTS.format(value="parts.language", test="parts.language > 0"),
    "is": " UNION ".join(
        (
            _OF_PARTS.format(value="'error'", test="is_error"),
            _OF_PARTS.format(value="'sidechain'", test=_IS_SIDECHAIN),
            _OF_PARTS.format(value="'summary'", test=f"parts.kind = {KINDS.index(Kind.SUMMARY)}"),
        )
    ),
}
_TOUCHING = "SELECT DISTINCT records.session, touches.path FROM touches JOIN records ON records.id = record"
_TOUCHING_ELSEWHERE = """
SELECT DISTINCT places.session, touches.path FROM touches JOIN places ON places.record = touches.record
"""
_HELD["file"] = f"""
SELECT session, paths.path FROM ({_TOUCHING} UNION {_TOUCHING_ELSEWHERE}) AS touching
  JOIN paths ON paths.id = touching.path
UNION {_of_facts("file")}
"""


def named(connection: sqlite3.Connection, ids: Sequence[str]) -> list[int]:
    """Return the numbers of the sessions with these ids; session 0, which is none, has no id."""
    return [row[0] for row in rows_in(connection, "SELECT id FROM sessions WHERE id > 0 AND name IN", ids)]


def sessions(connection: sqlite3.Connection, unpacker: Unpacker, condition: Condition) -> list[int]:
    """Return the numbers of the sessions for which a condition holds, newest first."""
    rows = connection.execute(
        "SELECT id, started, ended FROM sessions WHERE id > 0 ORDER BY ended DESC NULLS LAST, name"
    ).fetchall()
    filters = dict.fromkeys(condition.filters)
    # Every word of a question is a filter of titles, which are read once for all.
    times = Counter(filter.name for filter in filters)
    held = {name: list(_held(connection, unpacker, name)) for name in times if times[name] > 1 and name != "file"}
    left = {number for number, _, _ in rows}
    for filter in filters:
        found = matching(filter, held[filter.name]) if filter.name in held else meant(connection, unpacker, filter)
        left = left - found if filter.is_excluded else left & found
        if not left:
            break
    return [
        number
        for number, started, ended in rows
        if number in left and all(is_time_met(period, started, ended) for period in condition.periods)
    ]


def values(connection: sqlite3.Connection, unpacker: Unpacker, name: str) -> list[str]:
    """Return the values there are of a filter, those that most sessions have first."""
    counted = Counter(value for _, value in set(_held(connection, unpacker, name)))
    return sorted(counted, key=lambda value: (-counted[value], value))


def _held(connection: sqlite3.Connection, unpacker: Unpacker, name: str) -> Iterable[tuple[int, str]]:
    """Yield sessions with the values they have of a filter."""
    if name == "title":
        return telling.titles(connection, unpacker)
    rows: Iterable[tuple[int, str]] = connection.execute(_HELD.get(name) or _of_facts(name))
    if name in NUMBERED:
        return ((session, NUMBERED[name][int(number)]) for session, number in rows)
    return rows


def meant(connection: sqlite3.Connection, unpacker: Unpacker, filter: Filter) -> set[int]:
    """Return the sessions in which something is meant by a filter."""
    if filter.name == "file":
        return _touching(connection, filter)
    return matching(filter, _held(connection, unpacker, filter.name))


def _touching(connection: sqlite3.Connection, filter: Filter) -> set[int]:
    """Return the sessions that touched what is meant: first the paths, which are fewer than who touched them."""
    paths = sorted(matching(filter, connection.execute("SELECT id, path FROM paths")))
    found = matching(filter, connection.execute(_of_facts("file")))
    for statement in (_TOUCHING, _TOUCHING_ELSEWHERE):
        found.update(row[0] for row in rows_in(connection, f"{statement} WHERE touches.path IN", paths))
    return found


def matching(filter: Filter, rows: Iterable[tuple[int, str]]) -> set[int]:
    """Return the numbers that come with a value that is meant; each value is looked at once."""
    verdicts: dict[str, bool] = {}
    found = set()
    for number, value in rows:
        if value not in verdicts:
            verdicts[value] = any(holds(filter.name, value, wanted) for wanted in filter.values)
        if verdicts[value]:
            found.add(number)
    return found
