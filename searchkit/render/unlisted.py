"""Why no session is listed, and what could have been meant."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice

from msgspec.structs import replace

from searchkit.query.suggestions import unknown
from searchkit.query.types import Condition, Filter, Period, Span
from searchkit.render import terminal
from searchkit.text.format import count, day
from searchkit.text.sanitize import one_line
from searchkit.types import Session

List = Callable[[Condition], Sequence[Session]]
# Filters that are left out one by one to see what that would bring; each takes a look at all sessions.
MOST_LEFT_OUT = 8


def reasons(condition: Condition, values: Callable[[str], Sequence[str]], sessions: List) -> Iterator[str]:
    """Say which filter keeps all sessions away; `values` tells which there are of one, and `sessions` lists some."""
    everything = sessions(Condition())
    if not everything:
        yield "Nothing is indexed yet: run searchkit index."
        return
    yield "No sessions match."
    # Every word is a filter of titles, and which titles there are is found out once.
    unheard = list(terminal.unknown(unknown(condition, cache(values))))
    yield from unheard
    others = list(islice(_others(condition), MOST_LEFT_OUT))
    for written, rest in others if len(others) > 1 or not unheard else []:
        if left := sessions(rest):
            yield f"without {written} there would be {count(len(left), 'session')}"
    times = [time for one in everything for time in (one.started, one.ended) if time]
    if condition.periods and times:
        yield f"sessions are from {day(min(times))} to {day(max(times))}"


def _others(condition: Condition) -> Iterator[tuple[str, Condition]]:
    """Yield each filter as it could be typed, and the condition without it."""
    for number, one in enumerate(condition.filters):
        kept = condition.filters[:number] + condition.filters[number + 1 :]
        yield _filter(one), replace(condition, filters=kept)
    for number, period in enumerate(condition.periods):
        left = condition.periods[:number] + condition.periods[number + 1 :]
        yield _period(period), replace(condition, periods=left)


def _filter(one: Filter) -> str:
    value = one_line(",".join(one.values))[: terminal.VALUE_CHARACTERS]
    return f"{_sign(one)}{one.name}:{value}"


def _period(one: Period) -> str:
    return " ".join(_sign(one) + _span(span) for span in one.spans)


def _span(span: Span) -> str:
    if span.end is None:
        return f"after:{day(span.start)}"
    return f"before:{day(span.end)}" if span.start is None else f"on:{day(span.start)}"


def _sign(one: Filter | Period) -> str:
    return "-" if one.is_excluded else ""
