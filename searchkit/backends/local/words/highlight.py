"""Where in a text something stands that a query asks for: in any form, inside names, without accents."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count, takewhile
from typing import NamedTuple

from searchkit.backends.local.words.query import looked_at
from searchkit.backends.local.words.regex import spans
from searchkit.query.types import Match, Query, Term
from searchkit.text import analysis
from searchkit.text.analysis import (
    FRENCH_STOP_WORDS,
    STOP_WORDS,
    folded,
    fuzzy_distance,
    name_parts,
    stem,
    stems,
    words,
)
from searchkit.text.language import is_in_french

# A passage is cut around the first of so many, so far into a text, and nobody reads more of them.
MOST_MARKS = 60
MOST_CHARACTERS = 200_000
# For a pattern in one text: a page of results has some ten of them.
PATTERN_SECONDS = 0.1
# Of a pasted text.
MOST_CLAUSES = 100
# Places of a text that are looked at for the forms of all words together. Words of two letters can have as many as
# that without being there; those of real questions have some hundreds.
MOST_PLACES = 20_000
# Prefixes, misspelt words and patterns that are looked for in the whole of a long text; more of them share that.
SIGNS_IN_WHOLE = 3
# Words of a text that are compared with those that may be misspelt, letter by letter; they share it.
MOST_COMPARED = 5_000
_ACCENTS = "\u0300-\u036f"
_WORD = re.compile(r"[^\W_]+")
_APART = re.compile(f"[{_ACCENTS}]+")
_WORD_END = re.compile(rf"(?:[^\W_]|[{_ACCENTS}])*")
# The rest of a part of a name such as `getUserName` or `parseHTMLPage`.
_NAME_PART_END = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]*")

Marks = list[tuple[int, int]]


class _Wanted(NamedTuple):
    """What to look for: beginnings of words and the stems they must have, pieces of text, and patterns."""

    beginnings: frozenset[str]
    stems: frozenset[str]
    prefixes: frozenset[str]
    pieces: frozenset[str]
    phrases: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    patterns: tuple[str, ...]
    misspelt: frozenset[str]


def marks(query: Query, text: str) -> Marks:
    """Return the stretches of a text that answer a query, in order, none overlapping another."""
    wanted = _wanted(query)
    plain = folded(text[:MOST_CHARACTERS])
    small = plain.lower()
    found: Marks = _letters(plain, small, wanted)
    places = count()
    # Long words are rare; where a text has too many places for all, those of the shortest are left out.
    for beginning in sorted(wanted.beginnings, key=lambda one: (-len(one), one)):
        if len(beginning) > 1:
            found += _first(
                _forms(
                    plain,
                    small,
                    takewhile(lambda _: next(places) < MOST_PLACES, _places(small, beginning)),
                    wanted.stems,
                )
            )
    signs = len(wanted.prefixes) + len(wanted.misspelt) + len(wanted.patterns)
    most = MOST_CHARACTERS * SIGNS_IN_WHOLE // max(signs, SIGNS_IN_WHOLE)
    for prefix in wanted.prefixes:
        found += _first(_begun(plain[:most], small[:most], prefix))
    for piece in wanted.pieces:
        found += _first((at, at + len(piece)) for at in _places(small, piece))
    for phrase, inside_names in wanted.phrases:
        found += _first(match.span() for match in phrase.finditer(small)) or _first(
            match.span() for match in inside_names.finditer(small)
        )
    for word in wanted.misspelt:
        found += _first(_similar(small[:most], word, MOST_COMPARED // len(wanted.misspelt)))
    for pattern in wanted.patterns:
        found += spans(pattern, text[:most], PATTERN_SECONDS)[:MOST_MARKS]
    return _apart(sorted(found))


def _letters(plain: str, small: str, wanted: _Wanted) -> Marks:
    """Return the words and parts of names that are one of the letters that were asked for, in one pass for all.

    No other word has the stem of a letter, so those that go on are passed over.
    """
    letters = "".join(sorted(one for one in wanted.beginnings if len(one) == 1))
    if not letters:
        return []
    times: Counter[str] = Counter()
    found: Marks = []
    alone = re.compile(rf"(?:(?<![^\W_])|(?=[A-Z]))[{letters}{letters.upper()}](?![a-z0-9])")
    for match in alone.finditer(plain):
        letter = match[0].lower()
        if times[letter] < MOST_MARKS:
            spans = list(_forms(plain, small, [match.start()], wanted.stems))
            times[letter] += len(spans)
            found += spans
    return found


def _forms(plain: str, small: str, places: Iterable[int], stems: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield words, and parts of names, that begin at one of these places and have one of the stems."""
    for at in places:
        if not at or not plain[at - 1].isalnum() or _is_seam(plain, at):
            # Both expressions match everywhere, if only nothing.
            end = _WORD_END.match(plain, at).end()  # type: ignore[union-attr]
            word = small[at:end]
            if stem(word if word.isascii() else _APART.sub("", word)) in stems:
                yield at, end
                continue
            inside = _NAME_PART_END.match(plain, at).end()  # type: ignore[union-attr]
            if inside != end and stem(small[at:inside]) in stems:
                yield at, inside


def _is_seam(text: str, at: int) -> bool:
    """Say whether a part of a name begins here: a capital behind a small letter, or before one."""
    return text[at].isupper() and (not text[at - 1].isupper() or text[at + 1 : at + 2].islower())


def _begun(plain: str, small: str, prefix: str) -> Iterator[tuple[int, int]]:
    for at in _places(small, prefix):
        if not at or not plain[at - 1].isalnum():
            yield at, _end(_WORD_END, plain, at)


def _similar(small: str, word: str, most: int) -> Iterator[tuple[int, int]]:
    """Yield words that differ from this one in as many letters as a fuzzy query allows, comparing `most` of them."""
    distance = fuzzy_distance(word)
    comparisons = count()
    letters = frozenset(word)
    known: dict[str, bool] = {}
    for found in _WORD.finditer(small):
        other = found[0]
        if abs(len(other) - len(word)) <= distance:
            if other not in known:
                # Each letter that the other lacks is one to put in or to replace.
                known[other] = (
                    len(letters.difference(other)) <= distance
                    and next(comparisons) < most
                    and difference(other, word) <= distance
                )
            if known[other]:
                yield found.span()


def difference(one: str, other: str) -> int:
    """Count the letters to put in, leave out, replace or swap with their neighbour."""
    before, above = list[int](), list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, wanted in enumerate(other, 1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, above = above, current
    return above[-1]


def _places(text: str, piece: str) -> Iterator[int]:
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + len(piece))


def _end(ending: re.Pattern[str], text: str, at: int) -> int:
    found = ending.match(text, at)
    return found.end() if found else at


def _first(spans: Iterator[tuple[int, int]]) -> Marks:
    return [span for span, _ in zip(spans, range(MOST_MARKS), strict=False)]


def _apart(found: Marks) -> Marks:
    """Join what overlaps."""
    apart: Marks = []
    for start, end in found:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


@lru_cache(64)
def _wanted(query: Query) -> _Wanted:
    terms = [term for clause in looked_at(query, MOST_CLAUSES) if not clause.is_excluded for term in clause.terms]
    plain = [term for term in terms if term.match in (Match.WORD, Match.FUZZY)]
    begun = {_last(term) for term in terms if term.match is Match.PREFIX and words(term.text)}
    is_french = is_in_french(query.wanted)
    silent = FRENCH_STOP_WORDS if is_french else STOP_WORDS
    texts = [analysis.unelided(term.text) if is_french else term.text for term in plain]
    found = [word for text in texts for word in (*words(text), *name_parts(text))]
    asked = [word for word in found if word not in silent] or found
    spaced = [word for word in asked if word.isascii()]
    others = [one for word in spaced for one in analysis.french_forms(word)] if is_french else []
    return _Wanted(
        beginnings=frozenset([*map(_beginning, spaced), *(map(analysis.beginning, spaced) if is_french else ())]),
        stems=frozenset([*(one for word in spaced for one in stems(word)), *map(stem, others)]),
        prefixes=frozenset(word for word in begun if word.isascii()),
        # Scripts without spaces have no words that could begin.
        pieces=frozenset(word for word in (*asked, *begun) if not word.isascii()),
        phrases=tuple(_phrase(term.text) for term in terms if term.match is Match.PHRASE and words(term.text)),
        patterns=tuple(term.text for term in terms if term.match is Match.REGEX),
        misspelt=frozenset(term.text.lower() for term in terms if term.match is Match.FUZZY),
    )


def _last(term: Term) -> str:
    return words(term.text)[-1]


def _phrase(text: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Match words that follow each other, whatever stands between them, or a run without spaces; and parts of names."""
    found = words(text)
    if all(word.isascii() for word in found):
        strict = r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, found)) + r"(?![^\W_])"
        return re.compile(strict), re.compile(r"[\W_]*".join(map(re.escape, found)))
    run = re.compile(r"\s*".join(re.escape(piece) for piece in folded(text).lower().split()))
    return run, run


def _beginning(word: str) -> str:
    """Return what all forms of a word begin with; a stem can have changed its last letter: retry, retries."""
    common = stem(word)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, common, strict=False)))
    return word[: max(2, shared - 1)] if common[-1:] in ("e", "i") else word[:shared] or word
