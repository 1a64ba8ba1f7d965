"""From the conditions of a query to bounds in the catalog's numbers, for words and for vectors."""

import sqlite3
from collections.abc import Iterable, Set

import msgspec

from searchkit.backends.local.catalog import sessions as choosing
from searchkit.backends.local.catalog.ids import rows_in
from searchkit.backends.local.catalog.schema import IS_ERROR, IS_SIDECHAIN, KINDS, NUMBERED
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.query.filters import BY_NAME, Level
from searchkit.query.types import Condition, Filter
from searchkit.types import Kind


class Among(msgspec.Struct, frozen=True):
    """A field that must hold one of these numbers; none of them means nothing at all."""

    field: str
    numbers: frozenset[int]


class During(msgspec.Struct, frozen=True):
    """A time from `start` up to but without `end`; what has no time is in no span, also in one without ends."""

    start: int | None
    end: int | None


class AnyOf(msgspec.Struct, frozen=True):
    """Something that holds if one of several does."""

    tests: "tuple[Test, ...]"


class AllOf(msgspec.Struct, frozen=True):
    """Something that holds if all of several do."""

    tests: "tuple[Test, ...]"


Test = Among | During | AnyOf | AllOf


class Bound(msgspec.Struct, frozen=True):
    """What must hold of a part, or must not."""

    test: Test
    is_excluded: bool


# From a condition to bounds that narrow a search, of words or of vectors.
#
# What a filter asks for (a project, a title, a branch) is looked up in the catalog, where it is
# always current; what derives from it only knows numbers.

_AGENTS_BY_TYPE = """
SELECT agent, value FROM facts WHERE name = (SELECT id FROM names WHERE name = 'agent-type')
"""
# Records that lie in one of these sessions too, though they live in another.
_GUESTS = """
SELECT parts.id, parts.session FROM places JOIN parts ON parts.record = places.record WHERE places.session IN
"""
# A result belongs to its call: what a file held is found with who read it.
_TOUCHING = "SELECT parts.id, parts.call FROM touches JOIN parts USING (record) WHERE touches.path IN"
_OF_CALLS = "SELECT id FROM parts WHERE call IN"


_NOTHING = (Among("tool", frozenset()),)


class Narrowing:
    """Builds the bounds for one catalog."""

    def __init__(self, connection: sqlite3.Connection, unpacker: Unpacker, known: dict[Filter, frozenset[int]]) -> None:
        """Look values up through `connection`, sessions and tools only where they are not `known`."""
        self._known = known
        self._connection = connection
        self._unpacker = unpacker

    def bounds(self, condition: Condition) -> list[Bound]:
        """Return what must hold and what must not."""
        spans = [
            (AnyOf(tuple(During(span.start, span.end) for span in period.spans)), period.is_excluded)
            for period in condition.periods
        ]
        filters = [(self._meant(filter), filter.is_excluded) for filter in condition.filters]
        bounds = [Bound(test, is_excluded) for test, is_excluded in (*filters, *spans)]
        # To leave out nothing is no bound: a search by meaning takes longer within any.
        return [bound for bound in bounds if not (bound.is_excluded and bound.test in _NOTHING)]

    def _meant(self, filter: Filter) -> Test:
        spec = BY_NAME[filter.name]
        if spec.level is Level.SESSION:
            if filter not in self._known:
                self._known[filter] = frozenset(choosing.meant(self._connection, self._unpacker, filter))
            within = self._in_sessions(self._known[filter])
            return AnyOf((within, self._outside_sessions(filter))) if filter.name == "project" else within
        if filter.name == "file":
            return _among("part", self._touching(filter))
        if spec.context:
            rows = self._connection.execute(f"SELECT id, {spec.context} FROM contexts WHERE {spec.context} IS NOT NULL")
            return _among("context", choosing.matching(filter, rows))
        if filter.name == "tool":
            return _among("tool", self._tools(filter))
        if filter.name == "agent":
            found = choosing.matching(filter, self._connection.execute("SELECT id, name FROM names"))
            return _among("agent", found | choosing.matching(filter, self._connection.execute(_AGENTS_BY_TYPE)))
        if filter.name == "is":
            return AnyOf(tuple(_state(value) for value in filter.values))
        return _among(filter.name, choosing.matching(filter, NUMBERED[filter.name].items()))

    def _tools(self, filter: Filter) -> frozenset[int]:
        """Find tools by their names; every search leaves some out, and among the names are those of all agents."""
        if filter not in self._known:
            is_simple = all(value.isascii() for value in filter.values)
            test = " OR ".join("name LIKE ?" for _ in filter.values) if is_simple else "1"
            values = [f"%{value}%" for value in filter.values] if is_simple else []
            rows = self._connection.execute(f"SELECT id, name FROM names WHERE {test}", values)
            self._known[filter] = frozenset(choosing.matching(filter, rows))
        return self._known[filter]

    def _in_sessions(self, sessions: Set[int]) -> Test:
        rows = rows_in(self._connection, _GUESTS, sorted(sessions))
        guests = {part for part, home in rows if home not in sessions}
        own = _among("session", sessions)
        return AnyOf((own, _among("part", guests))) if guests else own

    def _outside_sessions(self, filter: Filter) -> Test:
        """Mean what belongs to no session and was written in the project."""
        rows = self._connection.execute("SELECT id, cwd FROM contexts WHERE cwd IS NOT NULL")
        return AllOf((_among("session", [0]), _among("context", choosing.matching(filter, rows))))

    def _touching(self, filter: Filter) -> set[int]:
        paths = choosing.matching(filter, self._connection.execute("SELECT id, path FROM paths"))
        rows = list(rows_in(self._connection, _TOUCHING, sorted(paths)))
        calls = sorted({call for _, call in rows if call})
        return {part for part, _ in rows} | {row[0] for row in rows_in(self._connection, _OF_CALLS, calls)}


def _state(value: str) -> Test:
    if value == "summary":
        return _among("kind", [KINDS.index(Kind.SUMMARY)])
    return _among("state", [IS_ERROR if value == "error" else IS_SIDECHAIN])


def _among(field: str, numbers: Iterable[int]) -> Test:
    return Among(field, frozenset(numbers))
