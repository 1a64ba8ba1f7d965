"""Counts the parts that answer a query by their values: projects, tools, kinds, months, days."""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from searchkit.backends.local.catalog import sessions as telling
from searchkit.backends.local.catalog.ids import rows_in
from searchkit.backends.local.catalog.schema import IS_ERROR, IS_SIDECHAIN, KINDS, NUMBERED
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.backends.local.words.search import Search, matched
from searchkit.errors import UsageError
from searchkit.query.filters import BY_NAME, FACETS
from searchkit.types import Kind

# More different values than any history has sessions.
MOST_VALUES = 65_000
# Time is counted in pieces that never cross a day, in any zone: zones differ by quarters of an hour.
_QUARTER_HOUR = 15 * 60 * 1000
# A state that the index does not keep as such, because the kind says it.
SUMMARY = 0
_DATES = {"month": "%Y-%m", "day": "%Y-%m-%d"}


def facet(search: Search, connection: sqlite3.Connection, unpacker: Unpacker, name: str) -> Mapping[str, int]:
    """Return how many parts have which value, the most frequent first; months and days in order."""
    if name not in FACETS:
        raise UsageError(f"{name} is not a facet", f"use one of {', '.join(FACETS)}")
    if search.asked.is_hopeless:
        return {}
    if name in _DATES:
        return _dates(search, _DATES[name])
    if name in NUMBERED:
        return _named(_counts(search, name), NUMBERED[name])
    if name == "is":
        of_kind = {SUMMARY: _counts(search, "kind").get(KINDS.index(Kind.SUMMARY), 0)}
        states = {IS_ERROR: "error", IS_SIDECHAIN: "sidechain", SUMMARY: "summary"}
        counts = _counts(search, "state") | of_kind
        return _named({number: count for number, count in counts.items() if count}, states)
    if name in ("tool", "agent"):
        counts = _counts(search, name)
        return _named(counts, dict(rows_in(connection, "SELECT id, name FROM names WHERE id IN", list(counts))))
    spec = BY_NAME[name]
    if spec.context:
        counts = _counts(search, "context")
        statement = f"SELECT id, {spec.context} FROM contexts WHERE {spec.context} IS NOT NULL AND id IN"
        return _named(counts, dict(rows_in(connection, statement, list(counts))))
    counts = _counts(search, "session")
    numbers = [number for number in counts if number]
    if name == "session":
        return _named(counts, telling.ids(connection, numbers))
    if name == "title":
        headings = telling.headings(connection, unpacker, numbers, telling.summaries_of(connection))
        return _named(counts, {number: heading.title or "" for number, heading in headings.items()})
    return _named(counts, telling.latest(connection, spec.fact), spec.absent)


def _counts(search: Search, field: str) -> dict[int, int]:
    """Let Tantivy count by one of its numbers."""
    ask = {"values": {"terms": {"field": field, "size": MOST_VALUES}}}
    buckets = search.searcher.aggregate(matched(search), ask)["values"]["buckets"]
    return {int(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets}


def _named(counts: Mapping[int, int], names: Mapping[int, str], absent: str = "") -> dict[str, int]:
    total: Counter[str] = Counter()
    for number, count in counts.items():
        total[names.get(number, absent)] += count
    return {name: count for name, count in sorted(total.items(), key=lambda item: (-item[1], item[0])) if name}


def _dates(search: Search, form: str) -> dict[str, int]:
    ask = {"values": {"histogram": {"field": "time", "interval": _QUARTER_HOUR, "min_doc_count": 1}}}
    buckets = search.searcher.aggregate(matched(search), ask)["values"]["buckets"]
    total: Counter[str] = Counter()
    for bucket in buckets:
        total[datetime.fromtimestamp(float(bucket["key"]) / 1000).strftime(form)] += int(bucket["doc_count"])
    return dict(sorted(total.items()))
