"""Why a search or a list of sessions is empty, and what to try instead."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Literal

from msgspec.structs import replace

from searchkit.query.suggestions import unknown
from searchkit.query.types import Condition, Filter, Period, Span
from searchkit.search.types import Answer
from searchkit.text.format import count, day
from searchkit.text.sanitize import one_line
from searchkit.types import Session

# Why a search has no result.
EmptyBecause = Literal["no_match", "filtered", "not_indexed"]
# A pasted text is not shown again.
MOST_CHARACTERS = 200
NOTHING_ASKED = 'Nothing was asked: type words, a "quoted phrase", or a filter such as kind:plan or after:7d.'


def empty_because(found: Answer) -> EmptyBecause | None:
    """Say why there is no result: nothing matches, filters keep it away, or it is not indexed yet."""
    if found.results:
        return None
    if found.hidden:
        return "filtered"
    return "not_indexed" if found.pending or not found.parts else "no_match"


def reasons(found: Answer, values: Callable[[str], Sequence[str]], files_behind: int) -> Iterator[str]:
    """Say what stands between the question and an answer; `values` tells which there are of a filter."""
    if not found.parts and not found.pending:
        yield "Nothing is indexed yet: run searchkit index."
        return
    if not found.query.clauses and found.query.condition == Condition():
        yield NOTHING_ASKED
        return
    text = one_line(found.query.text)[:MOST_CHARACTERS]
    if found.hidden:
        yield f"Nothing matches with these filters; without them {count(found.hidden, 'part')} would."
    else:
        yield f"Nothing matches {text!r}."
    for value in unknown(found.query.condition, values):
        near = ", ".join(map(one_line, value.nearest))
        hint = f"; {'did you mean' if value.are_near else 'there are'} {near}" if near else ""
        yield f"Nothing has {value.name}:{one_line(value.value)}{hint}."
    yield from missing(found)
    if files_behind:
        files = count(files_behind, "file is", "files are")
        yield f"{files} newer than the index: searchkit index reads what is new."
    yield from unfinished(found)


def unfinished(found: Answer) -> Iterator[str]:
    """Say what a pattern was not tried on, and what is not searchable yet."""
    if found.unseen:
        yield f"The pattern was not tried on {count(found.unseen, 'part')} that may match; add words or filters."
    if found.pending:
        yield f"{count(found.pending, 'part')} still to be indexed: searchkit index completes it."


def missing(found: Answer) -> Iterator[str]:
    """Name the words that nothing holds, with those most like them, unless those were looked for."""
    for word in found.missing:
        if word in found.respelled:
            continue
        alike = " or ".join(map(one_line, found.suggestions.get(word, ())))
        hint = f"; did you mean {alike}?" if alike else "."
        yield f"No {one_line(word)[:MOST_CHARACTERS]!r} anywhere{hint}"


# Why no session is listed, and what could have been meant.

List = Callable[[Condition], Sequence[Session]]
# Filters that are left out one by one to see what that would bring; each takes a look at all sessions.
MOST_LEFT_OUT = 8
# Paths and titles that are named in passing are cut here.
VALUE_CHARACTERS = 100


def no_sessions(condition: Condition, values: Callable[[str], Sequence[str]], sessions: List) -> Iterator[str]:
    """Say which filter keeps all sessions away; `values` tells which there are of one, and `sessions` lists some."""
    everything = sessions(Condition())
    if not everything:
        yield "Nothing is indexed yet: run searchkit index."
        return
    yield "No sessions match."
    # Every word is a filter of titles, and which titles there are is found out once.
    unheard = list(unknown_values(condition, cache(values)))
    yield from unheard
    others = list(islice(_others(condition), MOST_LEFT_OUT))
    for written, rest in others if len(others) > 1 or not unheard else []:
        if left := sessions(rest):
            yield f"without {written} there would be {count(len(left), 'session')}"
    times = [time for one in everything for time in (one.started, one.ended) if time]
    if condition.periods and times:
        yield f"sessions are from {day(min(times))} to {day(max(times))}"


def unknown_values(condition: Condition, values: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """Name the filters that nothing in the index has, with the nearest values."""
    for one in unknown(condition, values):
        listed = ", ".join(one_line(value)[:VALUE_CHARACTERS] for value in one.nearest)
        near = f"; {'the nearest are' if one.are_near else 'there are'} {listed}" if listed else ""
        yield f"nothing has {one.name}:{one_line(one.value)[:VALUE_CHARACTERS]}{near}"


def _others(condition: Condition) -> Iterator[tuple[str, Condition]]:
    """Yield each filter as it could be typed, and the condition without it."""
    for number, one in enumerate(condition.filters):
        kept = condition.filters[:number] + condition.filters[number + 1 :]
        yield _filter(one), replace(condition, filters=kept)
    for number, period in enumerate(condition.periods):
        left = condition.periods[:number] + condition.periods[number + 1 :]
        yield _period(period), replace(condition, periods=left)


def _filter(one: Filter) -> str:
    value = one_line(",".join(one.values))[:VALUE_CHARACTERS]
    return f"{_sign(one)}{one.name}:{value}"


def _period(one: Period) -> str:
    return " ".join(_sign(one) + _span(span) for span in one.spans)


def _span(span: Span) -> str:
    if span.end is None:
        return f"after:{day(span.start)}"
    return f"before:{day(span.end)}" if span.start is None else f"on:{day(span.start)}"


def _sign(one: Filter | Period) -> str:
    return "-" if one.is_excluded else ""
