"""Looks at texts for what the index cannot know: whether patterns that span words match."""

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from searchkit.backends.local.words.highlight import marks
from searchkit.backends.local.words.query import MOST_CHUNKS, looked_at
from searchkit.backends.local.words.regex import is_match, spans_words
from searchkit.query.types import Clause, Match, Query, Term
from searchkit.text.analysis import words

# What is looked at for one question, the best first, and for how long.
MOST_LOOKED_AT = 2_000
LOOKING_SECONDS = 1.0


class Either(NamedTuple):
    """A clause with patterns that span words, any of which will do, or else one of its other terms."""

    patterns: tuple[str, ...]
    others: Query | None


class Demands(NamedTuple):
    """What texts must be looked at for: one of `wanted`, all of `required`, and nothing that is excluded."""

    wanted: list[Either]
    required: list[Either]
    excluded: list[str]
    is_for_patterns_only: bool


def demands(query: Query) -> Demands | None:
    """Return what a query demands that only a look at the texts can tell, or None."""
    clauses = looked_at(query, MOST_CHUNKS)
    excluded = [pattern for clause in clauses if clause.is_excluded for pattern in _spanning(clause)]
    asked = [clause for clause in clauses if not clause.is_excluded]
    required = [_either(clause) for clause in asked if clause.is_required and _spanning(clause)]
    wanted: list[Either] = []
    if not any(clause.is_required for clause in asked) and any(map(_spanning, asked)):
        wanted = [_either(clause) for clause in asked]
    if not (wanted or required or excluded):
        return None
    terms = [term for clause in asked for term in clause.terms]
    return Demands(wanted, required, excluded, all(term.match is Match.REGEX for term in terms))


def looks(demanded: Demands, texts: Iterable[tuple[int, str]], ends_at: float) -> Iterator[tuple[int, bool]]:
    """Yield the keys of the texts that could be looked at in time, and whether they have what is demanded."""
    for key, text in texts:
        if time.monotonic() >= ends_at:
            return
        try:
            yield key, _has(demanded, text, ends_at)
        except TimeoutError:
            continue


def _has(demanded: Demands, text: str, ends_at: float) -> bool:
    if any(_matches(pattern, text, ends_at) for pattern in demanded.excluded):
        return False
    if not all(_holds(either, text, ends_at) for either in demanded.required):
        return False
    return not demanded.wanted or any(_holds(either, text, ends_at) for either in demanded.wanted)


def _holds(either: Either, text: str, ends_at: float) -> bool:
    if either.others is not None and marks(either.others, text):
        return True
    return any(_matches(pattern, text, ends_at) for pattern in either.patterns)


def _matches(pattern: str, text: str, ends_at: float) -> bool:
    return is_match(pattern, text, ends_at - time.monotonic())


def _either(clause: Clause) -> Either:
    patterns = _spanning(clause)
    others = tuple(_one_thing(clause, term) for term in clause.terms if term.text not in patterns)
    return Either(patterns, Query(text="", clauses=(Clause(terms=others),)) if others else None)


def _one_thing(clause: Clause, term: Term) -> Term:
    """Demand of alternatives what the index does: several words without blanks follow each other."""
    is_several = len(clause.terms) > 1 and term.match is Match.WORD and len(words(term.text)) > 1
    return Term(text=term.text, match=Match.PHRASE) if is_several else term


def _spanning(clause: Clause) -> tuple[str, ...]:
    return tuple(term.text for term in clause.terms if term.match is Match.REGEX and spans_words(term.text))
