"""Joins Tantivy queries, and turns bounds into such."""

from collections.abc import Iterable

import tantivy

from searchkit.backends.local.bounds import AllOf, Among, AnyOf, Bound, During, Test

_FIRST = -(1 << 62)


def any_of(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """Ask for what one of several queries finds."""
    several = [(tantivy.Occur.Should, query) for query in queries]
    return several[0][1] if len(several) == 1 else tantivy.Query.boolean_query(several)


def all_of(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """Ask for what all of several queries find."""
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def within(schema: tantivy.Schema, bounds: Iterable[Bound]) -> list[tuple[tantivy.Occur, tantivy.Query]]:
    """Ask for what is within bounds; none of it adds to a score."""
    tests = [(_test(schema, bound.test), bound.is_excluded) for bound in bounds]
    return [
        (tantivy.Occur.MustNot, query)
        if is_excluded
        else (tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0))
        for query, is_excluded in tests
    ]


def _test(schema: tantivy.Schema, test: Test) -> tantivy.Query:
    match test:
        case Among(field, numbers):
            wanted = sorted(numbers)
            return tantivy.Query.term_set_query(schema, field, wanted) if wanted else tantivy.Query.empty_query()
        case During(start, end):
            # A range must begin or end somewhere; what has no time is in none.
            first = _FIRST if start is None and end is None else start
            kind = tantivy.FieldType.Integer
            return tantivy.Query.range_query(schema, "time", kind, first, end, include_upper=end is None)
        case AnyOf(tests):
            return any_of(_test(schema, one) for one in tests)
        case AllOf(tests):
            return all_of(_test(schema, one) for one in tests)
