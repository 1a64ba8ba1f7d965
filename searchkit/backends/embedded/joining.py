"""Joins Tantivy queries."""

from collections.abc import Iterable

import tantivy


def any_of(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """Ask for what one of several queries finds."""
    several = [(tantivy.Occur.Should, query) for query in queries]
    return several[0][1] if len(several) == 1 else tantivy.Query.boolean_query(several)


def all_of(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """Ask for what all of several queries find."""
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])
