"""What it means for a filter to hold: the one place that both backends ask."""

from searchkit.questions import Span


def holds(name: str, held: str, wanted: str) -> bool:
    """Say whether a value of the filter `name` is meant by what was asked for, whatever the case of its letters.

    A tool is meant by its whole name or by a part between double underscores, so that `github`
    means `mcp__github__search`; a session or an agent by the beginning of its id; kinds, roles
    and states by their whole names; everything else by any part of it.
    """
    held, wanted = held.casefold(), wanted.casefold()
    if name == "tool":
        return wanted == held or wanted in held.split("__")
    if name in ("session", "agent"):
        return held.startswith(wanted)
    if name in ("kind", "role", "is"):
        return wanted == held
    return wanted in held


def within(span: Span, time: int | None) -> bool:
    """Say whether a time lies in a span; what has no time lies in none."""
    if time is None:
        return False
    return (span.start is None or span.start <= time) and (span.end is None or time < span.end)
