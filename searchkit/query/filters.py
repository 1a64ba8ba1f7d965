"""The table of filters, and how a filter is read and combined with others.

Everything that names filters is made from `FILTERS`: options, completion, the query language, HTTP parameters, facets,
the page, suggestions. A filter over a fact of a session, or over a field of a record's context, is a row here and
nothing else; a backend has code of its own only for what it keeps in a way of its own.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

import msgspec

from searchkit.errors import UsageError
from searchkit.query import dates
from searchkit.query.types import Condition, Filter, Period, Span
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
