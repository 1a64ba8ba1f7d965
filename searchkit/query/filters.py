"""Reads filters, one by one, and puts those of one name together to a condition."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from searchkit.errors import UsageError
from searchkit.query import dates
from searchkit.query.types import FILTERS, STATES, Condition, Filter, Period, Span
from searchkit.types import Kind, Language, Role

DATES = ("after", "before", "on")
NAMES = (*FILTERS, *DATES)
# Shorter names.
ALIASES = {"lang": "language"}
# Filters of which one value may list several, with commas; elsewhere a comma may be part of a name.
_LISTS = ("kind", "role", "language", "tool", "is")


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A filter as it was given, before those of one name are put together."""

    name: str
    is_excluded: bool = False
    values: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


def read(name: str, value: str, now: datetime, *, is_excluded: bool = False) -> Given | None:
    """Read the value of one of `NAMES`; nothing comes of one that makes no sense, as `refusal` says."""
    if name in DATES:
        span = _span(name, value, now)
        return None if span is None else Given(name=name, is_excluded=is_excluded, spans=(span,))
    listed = [one.strip() for one in value.split(",")] if name in _LISTS else [value]
    values = [_spelled(name, one) for one in listed if one]
    known = tuple(one for one in values if one is not None)
    return Given(name=name, is_excluded=is_excluded, values=known) if known and len(known) == len(values) else None


def read_option(name: str, value: str, now: datetime) -> Given:
    """Read a filter that was given as an option, where it must make sense; a leading `-` excludes."""
    typed, name = name, full_name(name)
    if name not in NAMES:
        raise UsageError(f"{typed} is not a filter", f"Use one of {', '.join(NAMES)}.")
    is_excluded = value.startswith("-")
    value = value.removeprefix("-").strip()
    given = read(name, value, now, is_excluded=is_excluded)
    if given is None:
        raise UsageError(f"{name}:{value} {refusal(name)}", "To look for it as words, write it inside the query.")
    return given


def full_name(typed: str) -> str:
    """Return the name of the filter that is meant, in small letters."""
    name = typed.casefold()
    return ALIASES.get(name, name)


def refusal(name: str) -> str:
    """Say why nothing came of a value, in words that follow it."""
    if name in DATES:
        return f"is not a date; use forms such as {', '.join(dates.EXAMPLES)}"
    if name in _SPELLINGS:
        return f"is not {_NOUNS[name]}; use one of {', '.join(dict.fromkeys(_SPELLINGS[name].values()))}"
    return "has no value"


def combine(given: Iterable[Given]) -> Condition:
    """Put filters together: any value of one name will do, and every name must hold."""
    values: dict[tuple[str, bool], dict[str, None]] = {}
    spans: dict[tuple[str, bool], dict[Span, None]] = {}
    for one in given:
        key = (one.name, one.is_excluded)
        if one.spans:
            spans.setdefault(key, {}).update(dict.fromkeys(one.spans))
        else:
            values.setdefault(key, {}).update(dict.fromkeys(one.values))
    return Condition(
        filters=tuple(
            Filter(name=name, values=tuple(held), is_excluded=is_excluded)
            for (name, is_excluded), held in values.items()
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


def _spelled(name: str, value: str) -> str | None:
    if name not in _SPELLINGS:
        return value
    return _SPELLINGS[name].get(value.casefold().replace("-", "_"))


def _spellings(values: Iterable[str], others: dict[str, str]) -> dict[str, str]:
    """Map what may be typed to what is meant, plurals included."""
    named = {value: value for value in values} | others
    return named | {f"{typed}s": meant for typed, meant in named.items()}


_NOUNS = {
    "kind": "a kind of part",
    "role": "a role",
    "language": "a known language",
    "is": "a state of a part",
}
_OTHER_KINDS = {
    "call": Kind.TOOL_CALL.value,
    "tool_use": Kind.TOOL_CALL.value,
    "result": Kind.TOOL_RESULT.value,
    "thought": Kind.THINKING.value,
    "summaries": Kind.SUMMARY.value,
    "memories": Kind.MEMORY.value,
}
_SPELLINGS = {
    "kind": _spellings([kind.value for kind in Kind], _OTHER_KINDS),
    "role": _spellings([role.value for role in Role], {}),
    "language": {
        spelling: language.value for language in Language for spelling in (language.value, language.name.lower())
    },
    "is": _spellings(STATES, {}),
}
