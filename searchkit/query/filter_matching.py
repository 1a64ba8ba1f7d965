"""What it means for a filter to hold: the one place that both backends ask."""

from collections.abc import Iterable

from searchkit.query.types import Condition, Filter, Period, Span


def holds(name: str, held: str, wanted: str) -> bool:
    """Say whether a value of the filter `name` is meant by what was asked for, whatever the case of its letters.

    A tool is meant by its whole name or by a part between double underscores, so that `github`
    means `mcp__github__search`; a session or an agent by the beginning of its id; kinds, roles,
    languages and states by their whole names; everything else by any part of it.
    """
    held, wanted = held.casefold(), wanted.casefold()
    if name == "tool":
        return wanted == held or wanted in held.split("__")
    if name in ("session", "agent"):
        return held.startswith(wanted)
    if name in ("kind", "role", "language", "is"):
        return wanted == held
    return wanted in held


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
