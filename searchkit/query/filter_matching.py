"""What it means for a filter to hold: the one place that both backends ask."""

from collections.abc import Iterable

from searchkit.query.filters import BY_NAME, Value, compares
from searchkit.query.types import Condition, Filter, Period, Span

_TEXT = Value.TEXT


def holds(name: str, held: str, wanted: str) -> bool:
    """Whether a value of the filter `name` is wanted, in any case of its letters; `Value` says how they compare."""
    held, wanted = held.casefold(), wanted.casefold()
    value = BY_NAME[name].value
    # First, because paths and titles are those of which there are many.
    if value is _TEXT:
        return wanted in held
    if value is Value.NAME:
        return wanted == held or wanted in held.split("__")
    if value is Value.ID:
        return held.startswith(wanted)
    return compares(wanted, held) if value is Value.NUMBER else wanted == held


def within(span: Span, time: int | None) -> bool:
    """Say whether a time lies in a span; what has no time lies in none."""
    if time is None:
        return False
    return (span.start is None or span.start <= time) and (span.end is None or time < span.end)


def overlaps(span: Span, started: int | None, ended: int | None) -> bool:
    """Say whether something that lasted has any moment in a span; what has no time has none."""
    if started is None or ended is None:
        return False
    return (span.start is None or span.start <= ended) and (span.end is None or started < span.end)


def is_met(filter: Filter, held: Iterable[str]) -> bool:
    """Say whether a filter holds for a thing that has these values of it."""
    return filter.is_excluded != any(holds(filter.name, value, wanted) for value in held for wanted in filter.values)


def is_then(condition: Condition, time: int | None) -> bool:
    """Say whether all periods of a condition hold for a moment."""
    return all(period.is_excluded != any(within(span, time) for span in period.spans) for period in condition.periods)


def is_time_met(period: Period, started: int | None, ended: int | None) -> bool:
    """Say whether a period holds for something that lasted."""
    return period.is_excluded != any(overlaps(span, started, ended) for span in period.spans)
