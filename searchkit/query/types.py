"""The nouns that questions are made of."""

import re
from collections.abc import Collection
from enum import StrEnum
from typing import TypeVar

import msgspec

from searchkit.errors import UsageError

Choice = TypeVar("Choice", bound=StrEnum)


class Match(StrEnum):
    """How a term wants to be found."""

    WORD = "word"
    PHRASE = "phrase"
    PREFIX = "prefix"
    FUZZY = "fuzzy"
    REGEX = "regex"


class Mode(StrEnum):
    """Which channels are asked: words, meaning, or both."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"


class Group(StrEnum):
    """What a result is: the best hit of a session, or every hit."""

    SESSION = "session"
    NONE = "none"


def one_of(name: str, choices: type[Choice], value: str) -> Choice:
    """Take a choice by its value; `name` is that of the parameter."""
    try:
        return choices(value)
    except ValueError:
        raise UsageError(f"{name}={value!r} is not possible", f"use one of {', '.join(choices)}") from None


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """Something to look for, without the signs that say how."""

    text: str
    match: Match = Match.WORD


# Prefixes, misspelt words and patterns of a question, each of which goes through all words of the index.
MOST_SCANS = 10
# Of these, such as match a large share of all words (`.e*`, `/a+/`): they take the most time, and say the least.
MOST_BROAD_SCANS = 3
_FEW_LETTERS = 3
# What stands for any of several characters in a pattern, and how often.
_NO_LETTERS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{[\d,]*\}")


def is_scan(term: Term) -> bool:
    """Say whether a term goes through all words of an index."""
    return term.match not in (Match.WORD, Match.PHRASE)


def is_broad(term: Term) -> bool:
    """Say whether a term goes through all words and matches many of them: it has hardly a letter of its own."""
    written = _NO_LETTERS.sub("", term.text) if term.match is Match.REGEX else term.text
    return term.match in (Match.PREFIX, Match.REGEX) and written.isascii() and _letters(written) < _FEW_LETTERS


def may_scan(term: Term, others: Collection[Term]) -> bool:
    """Say whether a question may have a term beside others that go through all words; the same one is no other."""
    if not is_scan(term) or term in others:
        return True
    is_one_more_broad = is_broad(term) and sum(map(is_broad, others)) >= MOST_BROAD_SCANS
    return len(others) < MOST_SCANS and not is_one_more_broad


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


class Clause(msgspec.Struct, frozen=True, kw_only=True):
    """Terms any of which will do. A part must hold one of them where it is required, none where excluded."""

    terms: tuple[Term, ...]
    is_required: bool = False
    is_excluded: bool = False


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """One of `filters.FILTERS` by name, and its values: any of them will do, or, where it excludes, none may hold."""

    name: str
    values: tuple[str, ...]
    is_excluded: bool = False


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of time in milliseconds since 1970: from `start`, up to but without `end`."""

    start: int | None = None
    end: int | None = None


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """Spans any of which will do, or none of which may hold where it excludes."""

    spans: tuple[Span, ...]
    is_excluded: bool = False


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """Which parts, or which sessions, are meant: every filter and every period must hold."""

    filters: tuple[Filter, ...] = ()
    periods: tuple[Period, ...] = ()


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A question as it was understood.

    `period` is a time that the question names in passing ("in march"): it ranks and excludes
    nothing. So do `sessions`, those of a project that it names, by keys of the backend.
    `notes` say what was taken for plain words although it looked like more.
    """

    text: str
    clauses: tuple[Clause, ...] = ()
    condition: Condition = Condition()
    period: Period | None = None
    sessions: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        """The words that are asked for, without signs, filters and what is excluded."""
        return " ".join(term.text for clause in self.clauses if not clause.is_excluded for term in clause.terms)


def narrowed(query: Query, *filters: Filter) -> Query:
    """Add filters to a question."""
    condition = msgspec.structs.replace(query.condition, filters=(*query.condition.filters, *filters))
    return msgspec.structs.replace(query, condition=condition)
