"""The table of filters, and how a filter is read and combined with others.

Everything that names filters is made from `FILTERS`: options, completion, the query language, HTTP parameters, facets,
the page, suggestions. A filter over a fact of a session, or over a field of a record's context, is a row here and
nothing else; a backend has code of its own only for what it keeps in a way of its own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from types import MappingProxyType

import msgspec

from searchkit.errors import UsageError
from searchkit.query import dates
from searchkit.query.types import Condition, Filter, Period, Span
from searchkit.text.sanitize import one_line
from searchkit.types import Kind, Language, Role


class Value(StrEnum):
    """What a value of a filter is, which decides how it is compared."""

    # Any part of a text.
    TEXT = "text"
    # An id, or its beginning.
    ID = "id"
    # A whole name, or what stands in it between double underscores: `github` means `mcp__github__search`.
    NAME = "name"
    # One of a few values.
    CHOICE = "choice"
    # A comparison with a number: `>1`, `<=0.5`, `2..5`.
    NUMBER = "number"
    DATE = "date"


class Level(StrEnum):
    """What has the values: each part, or a session as a whole."""

    PART = "part"
    SESSION = "session"


class Completion(StrEnum):
    """What a shell is offered as values."""

    NONE = "none"
    CHOICES = "choices"
    # What the index holds.
    INDEXED = "indexed"


class FilterSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A filter: what it is called, what its values are, who has them, and where it is offered.

    `aliases` are shorter names; `foreign_names` is what other tools call the same, for "did you mean". `choices` maps
    each spelling to the value, and `noun` says what such a value is. A value `is_list` if it may hold several, with
    commas; elsewhere a comma may be part of a name.

    `fact` names the facts whose values a session has, and `absent` is the value of one that has no such fact. `context`
    is the field of a record's context with the value of its parts. Where neither is enough, a backend knows where it
    keeps the values.

    Values of which there are too `many` are not listed where nothing matches. `panel` is the place among the facets
    that the page shows, from 1; 0 is none.
    """

    name: str
    help: str
    value: Value = Value.TEXT
    level: Level = Level.PART
    aliases: tuple[str, ...] = ()
    foreign_names: tuple[str, ...] = ()
    choices: Mapping[str, str] = {}
    noun: str = ""
    is_list: bool = False
    fact: str = ""
    absent: str = ""
    context: str = ""
    completion: Completion = Completion.NONE
    is_facet: bool = False
    many: bool = False
    panel: int = 0

    @property
    def argument(self) -> str:
        """The name as that of a Python variable."""
        return self.name.replace("-", "_")


def _spellings(values: Iterable[str], others: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Map what may be typed to its value, plurals included."""
    named = {value: value for value in values} | dict(others)
    return named | {f"{typed}s": value for typed, value in named.items()}


# What `is:` can say of a part.
STATES = ("error", "sidechain", "summary")
_OTHER_KINDS = {
    "call": Kind.TOOL_CALL.value,
    "tool_use": Kind.TOOL_CALL.value,
    "result": Kind.TOOL_RESULT.value,
    "thought": Kind.THINKING.value,
    "summaries": Kind.SUMMARY.value,
    "memories": Kind.MEMORY.value,
}

# In the order in which they are shown.
FILTERS = (
    FilterSpec(
        name="project",
        help="The last part of a project's path, or any part of it.",
        level=Level.SESSION,
        foreign_names=("repo",),
        fact="project",
        completion=Completion.INDEXED,
        is_facet=True,
        panel=1,
    ),
    FilterSpec(
        name="session",
        help="A session's id, or its beginning.",
        value=Value.ID,
        level=Level.SESSION,
        is_facet=True,
        many=True,
    ),
    FilterSpec(
        name="agent",
        help="An agent's id or type, or its beginning.",
        value=Value.ID,
        fact="agent-type",
        completion=Completion.INDEXED,
        is_facet=True,
    ),
    FilterSpec(
        name="agent-app",
        help="The program that wrote the session: claude, codex, ...",
        value=Value.NAME,
        level=Level.SESSION,
        is_list=True,
        fact="app",
        # Indexes were made from its transcripts alone before there were others.
        absent="claude",
        completion=Completion.INDEXED,
        is_facet=True,
    ),
    FilterSpec(
        name="branch",
        help="Any part of a branch's name.",
        fact="branch",
        context="branch",
        completion=Completion.INDEXED,
        is_facet=True,
        panel=4,
    ),
    FilterSpec(
        name="tool",
        help="A tool's name, or the server that offers it.",
        value=Value.NAME,
        is_list=True,
        completion=Completion.INDEXED,
        is_facet=True,
        panel=3,
    ),
    FilterSpec(
        name="kind",
        help="A kind of part: prompt, text, thinking, tool_call, ...",
        value=Value.CHOICE,
        choices=_spellings([kind.value for kind in Kind], _OTHER_KINDS),
        noun="a kind of part",
        is_list=True,
        completion=Completion.CHOICES,
        is_facet=True,
        panel=2,
    ),
    FilterSpec(
        name="role",
        help="Who speaks: user, assistant or system.",
        value=Value.CHOICE,
        choices=_spellings([role.value for role in Role]),
        noun="a role",
        is_list=True,
        completion=Completion.CHOICES,
        is_facet=True,
    ),
    FilterSpec(
        name="language",
        help="What a text is written in: en, fr, zh, ..., or english, french, chinese, ...",
        value=Value.CHOICE,
        aliases=("lang",),
        choices={spelling: one.value for one in Language for spelling in (one.value, one.name.lower())},
        noun="a known language",
        is_list=True,
        completion=Completion.INDEXED,
        is_facet=True,
        panel=6,
    ),
    FilterSpec(
        name="model",
        help="Any part of a model's name.",
        fact="model",
        context="model",
        completion=Completion.INDEXED,
        is_facet=True,
        panel=5,
    ),
    FilterSpec(
        name="file",
        help="Any part of the path of a file that was touched.",
        foreign_names=("path",),
        fact="tracked",
        many=True,
    ),
    FilterSpec(
        name="title", help="Any part of a session's title.", level=Level.SESSION, is_facet=True, many=True
    ),
    FilterSpec(
        name="is",
        help="A state of a part: error, sidechain or summary.",
        value=Value.CHOICE,
        choices=_spellings(STATES),
        noun="a state of a part",
        is_list=True,
        completion=Completion.CHOICES,
        is_facet=True,
    ),
    FilterSpec(
        name="after",
        help="From then on: 2026-03-01, 7d, yesterday, 'last march'.",
        value=Value.DATE,
        foreign_names=("since",),
    ),
    FilterSpec(name="before", help="Before then.", value=Value.DATE, foreign_names=("until",)),
    FilterSpec(name="on", help="On that day, in that week, month or year.", value=Value.DATE, foreign_names=("date",)),
)  # fmt: skip
BY_NAME = {spec.name: spec for spec in FILTERS}
NAMES = tuple(BY_NAME)
ALIASES = {alias: spec.name for spec in FILTERS for alias in spec.aliases}
FOREIGN_NAMES = {foreign: spec.name for spec in FILTERS for foreign in spec.foreign_names}
# Parts are counted by days and months, too, which no filter is called.
PERIODS = ("month", "day")
FACETS = (*(spec.name for spec in FILTERS if spec.is_facet), *PERIODS)


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A filter as it was given, before those of one name are put together."""

    name: str
    is_excluded: bool = False
    values: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


def read(name: str, value: str, now: datetime, *, is_excluded: bool = False) -> Given | None:
    """Read the value of one of `NAMES`; nothing comes of one that makes no sense, as `refusal` says."""
    spec = BY_NAME[name]
    if spec.value is Value.DATE:
        span = _span(name, value, now)
        return None if span is None else Given(name=name, is_excluded=is_excluded, spans=(span,))
    listed = [one.strip() for one in value.split(",")] if spec.is_list else [value]
    values = [_spelled(spec, one) for one in listed if one]
    known = tuple(one for one in values if one is not None)
    return Given(name=name, is_excluded=is_excluded, values=known) if known and len(known) == len(values) else None


def read_option(name: str, value: str, now: datetime) -> Given:
    """Read a filter that was given as an option, where it must make sense; a leading `-` excludes."""
    typed, name = name, full_name(name)
    if name not in BY_NAME:
        raise UsageError(f"{typed} is not a filter", f"Use one of {', '.join(NAMES)}.")
    is_excluded = value.startswith("-")
    value = value.removeprefix("-").strip()
    given = read(name, value, now, is_excluded=is_excluded)
    if given is None:
        raise UsageError(f"{name}:{value} {refusal(name)}", "To look for it as words, write it inside the query.")
    return given


def among(arguments: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the filters among named arguments, each with its value; a list has several, and a blank is none."""
    given = [(spec.name, arguments.get(spec.argument)) for spec in FILTERS]
    several = [(name, value if isinstance(value, list) else [value]) for name, value in given if value is not None]
    return [(name, str(value)) for name, values in several for value in values if str(value).strip()]


def full_name(typed: str) -> str:
    """Return the name of the filter that an alias stands for, in small letters."""
    name = typed.casefold()
    return ALIASES.get(name, name)


def refusal(name: str) -> str:
    """Say why nothing came of a value, in words that follow it."""
    spec = BY_NAME[name]
    if spec.value is Value.DATE:
        return f"is not a date; use forms such as {', '.join(dates.EXAMPLES)}"
    if spec.value is Value.NUMBER:
        return "is not a comparison with a number; use forms such as >1, <=0.5, 2..5"
    if spec.value is Value.CHOICE:
        return f"is not {spec.noun}; use one of {', '.join(dict.fromkeys(spec.choices.values()))}"
    return "has no value"


def combine(given: Iterable[Given]) -> Condition:
    """Put filters together: any value of one name will do, and every name must hold; so must every comparison."""
    values: dict[tuple[str, bool, str], dict[str, None]] = {}
    spans: dict[tuple[str, bool], dict[Span, None]] = {}
    for one in given:
        if one.spans:
            spans.setdefault((one.name, one.is_excluded), {}).update(dict.fromkeys(one.spans))
        else:
            comparison = ",".join(one.values) if BY_NAME[one.name].value is Value.NUMBER else ""
            values.setdefault((one.name, one.is_excluded, comparison), {}).update(dict.fromkeys(one.values))
    return Condition(
        filters=tuple(
            Filter(name=name, values=tuple(held), is_excluded=is_excluded)
            for (name, is_excluded, _), held in values.items()
        ),
        periods=tuple(Period(spans=tuple(held), is_excluded=is_excluded) for (_, is_excluded), held in spans.items()),
    )


def _span(name: str, value: str, now: datetime) -> Span | None:
    if name == "on":
        return dates.span(value, now)
    moment = dates.moment(value, now)
    if moment is None:
        return None
    return Span(start=moment) if name == "after" else Span(end=moment)


_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_COMPARISON = re.compile(rf"(?P<sign>>=|<=|>|<|=|)(?P<number>{_NUMBER})|(?P<least>{_NUMBER})\.\.(?P<most>{_NUMBER})")


def _spelled(spec: FilterSpec, value: str) -> str | None:
    if spec.value is Value.NUMBER:
        typed = value.replace(" ", "")
        return typed if _COMPARISON.fullmatch(typed) else None
    return spec.choices.get(value.casefold().replace("-", "_")) if spec.value is Value.CHOICE else value


def compares(comparison: str, number: str) -> bool:
    """Whether a number, as it is written in a fact, stands in a comparison such as `>1` or `2..5`."""
    found = _COMPARISON.fullmatch(comparison)
    try:
        held = float(number)
    except ValueError:
        return False
    if found is None:
        return False
    if found["least"]:
        return float(found["least"]) <= held <= float(found["most"])
    bound = float(found["number"])
    match found["sign"]:
        case ">":
            return held > bound
        case ">=":
            return held >= bound
        case "<":
            return held < bound
        case "<=":
            return held <= bound
    return held == bound


# What it means for a filter to hold: the one place that both backends ask.


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


# What to suggest for a word or the value of a filter that nothing in the index has.


# How many values are named, and how alike they must be: difflib's own measure and its usual bound.
MOST_NEAREST = 5
# Values that nothing has and that are told; of a text that was pasted, nobody reads more.
MOST_UNKNOWN = 20
LIKENESS = 0.6
# Of a word that was pasted.
MAX_CHARACTERS = 200


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A value that nothing has, and those nearest to it; where none is near, the most frequent."""

    name: str
    value: str
    nearest: Sequence[str]
    are_near: bool


def unknown(condition: Condition, values: Callable[[str], Sequence[str]]) -> Iterator[Unknown]:
    """Yield what a condition wants and nothing has, the first of many; `values` tells which there are of a filter."""
    return islice(_unknown(condition, values), MOST_UNKNOWN)


def respelled(words: Mapping[str, str]) -> Iterator[str]:
    """Name the words that nothing holds, and what was looked for instead."""
    for word, instead in words.items():
        yield f"Nothing holds {one_line(word)[:MAX_CHARACTERS]!r}; showing {one_line(instead)!r}."


def _unknown(condition: Condition, values: Callable[[str], Sequence[str]]) -> Iterator[Unknown]:
    for filter in dict.fromkeys(condition.filters):
        if filter.is_excluded:
            continue
        there = values(filter.name)
        for wanted in filter.values:
            if not any(holds(filter.name, value, wanted) for value in there):
                spec = BY_NAME[filter.name]
                # No number is spelt like a comparison.
                near = [] if spec.value is Value.NUMBER else _near(wanted, there)
                frequent = [] if spec.many else there[:MOST_NEAREST]
                yield Unknown(name=filter.name, value=wanted, nearest=near or frequent, are_near=bool(near))


def _near(wanted: str, there: Sequence[str]) -> list[str]:
    """Return the values most like the one that is wanted; of paths and tools, any part may be what was meant."""
    # Only needed where nothing was found, and so not worth a wait elsewhere.
    from difflib import get_close_matches

    spellings: dict[str, str] = {}
    for value in there:
        for part in (value, *value.replace("\\", "/").replace("__", "/").split("/")):
            if part:
                spellings.setdefault(part.casefold(), value)
    close = get_close_matches(wanted.casefold(), spellings, 2 * MOST_NEAREST, LIKENESS)
    return list(dict.fromkeys(spellings[spelling] for spelling in close))[:MOST_NEAREST]
