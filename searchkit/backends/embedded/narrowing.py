"""From a condition to Tantivy queries that narrow a search.

What a filter asks for (a project, a title, a branch) is looked up in the catalog, where it is
always current; the keyword index only knows numbers.
"""

import sqlite3
from collections.abc import Iterable, Set

import tantivy

from searchkit.backends.embedded import choosing
from searchkit.backends.embedded.asking import rows_in
from searchkit.backends.embedded.joining import all_of, any_of
from searchkit.backends.embedded.keyword import IS_ERROR, IS_SIDECHAIN
from searchkit.backends.embedded.schema import KINDS, ROLES
from searchkit.backends.embedded.texts import Unpacker
from searchkit.questions import Condition, Filter, Period, Span
from searchkit.types import Kind

_FIRST = -(1 << 62)
_OF_SESSIONS = ("project", "session", "title")
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


class Narrowing:
    """Builds the queries for one catalog and one index."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        unpacker: Unpacker,
        schema: tantivy.Schema,
        known: dict[Filter, frozenset[int]],
    ) -> None:
        """Look values up through `connection`, sessions only where they are not `known`."""
        self._known = known
        self._connection = connection
        self._unpacker = unpacker
        self._schema = schema

    def clauses(self, condition: Condition) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """Return what must hold and what must not; none of it adds to a score."""
        meant = [(self._meant(one), one.is_excluded) for one in condition.filters]
        meant += [(self._during(period), period.is_excluded) for period in condition.periods]
        return [
            (tantivy.Occur.MustNot, query)
            if is_excluded
            else (tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0))
            for query, is_excluded in meant
        ]

    def _meant(self, filter: Filter) -> tantivy.Query:
        if filter.name in _OF_SESSIONS:
            if filter not in self._known:
                self._known[filter] = frozenset(choosing.meant(self._connection, self._unpacker, filter))
            within = self._in_sessions(self._known[filter])
            return any_of([within, self._outside_sessions(filter)]) if filter.name == "project" else within
        if filter.name == "file":
            return self._numbers("part", self._touching(filter))
        if filter.name in ("branch", "model"):
            rows = self._connection.execute(f"SELECT id, {filter.name} FROM contexts WHERE {filter.name} IS NOT NULL")
            return self._numbers("context", choosing.matching(filter, rows))
        if filter.name in ("tool", "agent"):
            found = choosing.matching(filter, self._connection.execute("SELECT id, name FROM names"))
            if filter.name == "agent":
                found |= choosing.matching(filter, self._connection.execute(_AGENTS_BY_TYPE))
            return self._numbers(filter.name, found)
        if filter.name == "is":
            return any_of(self._state(value) for value in filter.values)
        values = KINDS if filter.name == "kind" else ROLES
        return self._numbers(filter.name, choosing.matching(filter, ((n, v.value) for n, v in enumerate(values))))

    def _in_sessions(self, sessions: Set[int]) -> tantivy.Query:
        rows = rows_in(self._connection, _GUESTS, sorted(sessions))
        guests = {part for part, home in rows if home not in sessions}
        return any_of([self._numbers("session", sessions), *([self._numbers("part", guests)] if guests else [])])

    def _outside_sessions(self, filter: Filter) -> tantivy.Query:
        """Mean what belongs to no session and was written in the project."""
        rows = self._connection.execute("SELECT id, cwd FROM contexts WHERE cwd IS NOT NULL")
        contexts = self._numbers("context", choosing.matching(filter, rows))
        return all_of([self._numbers("session", [0]), contexts])

    def _touching(self, filter: Filter) -> set[int]:
        paths = choosing.matching(filter, self._connection.execute("SELECT id, path FROM paths"))
        rows = list(rows_in(self._connection, _TOUCHING, sorted(paths)))
        calls = sorted({call for _, call in rows if call})
        return {part for part, _ in rows} | {row[0] for row in rows_in(self._connection, _OF_CALLS, calls)}

    def _state(self, value: str) -> tantivy.Query:
        if value == "summary":
            return self._numbers("kind", [KINDS.index(Kind.SUMMARY)])
        return self._numbers("state", [IS_ERROR if value == "error" else IS_SIDECHAIN])

    def _during(self, period: Period) -> tantivy.Query:
        return any_of(self._span(span) for span in period.spans)

    def _span(self, span: Span) -> tantivy.Query:
        # A range must begin or end somewhere; what has no time is in none.
        start = span.start if (span.start, span.end) != (None, None) else _FIRST
        return tantivy.Query.range_query(
            self._schema, "time", tantivy.FieldType.Integer, start, span.end, include_upper=span.end is None
        )

    def _numbers(self, name: str, numbers: Iterable[int]) -> tantivy.Query:
        wanted = sorted(numbers)
        return tantivy.Query.term_set_query(self._schema, name, wanted) if wanted else tantivy.Query.empty_query()
