"""Regular expressions: what the keyword index can be asked for them, and running them over texts."""

import re
import time
from collections.abc import Iterator
from functools import lru_cache

import tantivy

from searchkit.text.analysis import composed, folded, words

# What the keyword index, which knows words, can be asked for a pattern as people write it.
#
# A pattern that stays inside one word is asked of it. For one that can span several, the index gives
# the parts that hold its literal pieces, and the pattern is run over those.

# Shorter pieces are in nearly every text; of scripts without spaces, pairs are what the index holds.
_SHORTEST_PIECE, _SHORTEST_FOREIGN_PIECE = 3, 2
# Each takes a look at all words of the index, and the longest are the rarest.
_MOST_PIECES = 4
_ESCAPE = r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)"
_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_TIMES = r"\{(?:\d+,?\d*|,\d*)\}"
_ATOM = re.compile(rf"{_ESCAPE}|{_CLASS}|\(\?(?:P<\w+>|[a-zA-Z-]*[:)])|{_TIMES}|.", re.DOTALL)
# All that a pattern can consist of that matches nothing but letters and digits.
_IN_A_WORD = re.compile(
    rf"(?:[a-zA-Z0-9]|\\[wd]|\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[a-zA-Z0-9]|\\d)+\]|\((?:\?:)?|[)|*+?]|{_TIMES})*"
)
_ANY_OF_A_NAME = rf"(?:\\w(?:[*+?]|{_TIMES})*)+"
_AT_AN_EDGE = re.compile(rf"^{_ANY_OF_A_NAME}|{_ANY_OF_A_NAME}$")
# Any match will do, so that it does not matter whether the shortest is taken.
_LAZY = re.compile(r"(?<!\\)([*+?}])\?")
# Classes of all scripts take a second to compile, and these hold the same of a term's characters.
_CLASSES = {r"\w": ".", r"\d": "[0-9]"}
# Written otherwise for Rust's engines, or of another meaning there: `\<` begins a word.
_FOR_RUST = {r"\<": "<", r"\>": ">", r"\Z": r"\z", "{": r"\{"}
_MAY_BE_ABSENT = re.compile(r"[*?]|\{0|\{,")
_MAY_REPEAT = re.compile(r"[+{]")


@lru_cache(256)
def spans_words(pattern: str) -> bool:
    """Say whether a pattern can match more than a part of one word, or is too much to be asked of the index.

    Names such as `user_id` are two words: `user\\w+id` can span them, and `user\\w+` needs no more than the first.
    """
    inner = _AT_AN_EDGE.sub("", pattern)
    return not _IN_A_WORD.fullmatch(inner) or r"\w" in inner or not _is_for_terms(for_term(pattern))


def for_term(pattern: str) -> str:
    """Return a pattern that matches the terms, which are in small letters, of words that hold what was asked for."""
    written = _LAZY.sub(r"\1", for_rust(pattern))
    return f".*({''.join(_CLASSES.get(atom, _small(atom)) for atom in atoms(written))}).*"


def for_rust(pattern: str) -> str:
    """Write what Python's engine reads for Rust's."""
    return "".join(_FOR_RUST.get(atom, atom).replace("{,", "{0,") for atom in atoms(pattern))


def atoms(pattern: str) -> list[str]:
    """Take a pattern apart into characters, escapes, classes, and signs for groups and repetition."""
    return _ATOM.findall(pattern)


def pieces(pattern: str) -> list[str]:
    """Return what the words of every match hold, the longest first; of alternatives nothing is certain."""
    runs = dict.fromkeys(piece for run in _runs(pattern) for piece in (words(run) if run else []))
    found = [run for run in runs if len(run) >= (_SHORTEST_PIECE if run.isascii() else _SHORTEST_FOREIGN_PIECE)]
    return sorted(found, key=len, reverse=True)[:_MOST_PIECES]


def _runs(pattern: str) -> Iterator[str]:
    """Yield the letters and digits that follow each other in every match."""
    known = list(_placed(pattern))
    uncertain = _uncertain(known)
    if any(atom.startswith("(?") and atom[-1] in ":)" and "x" in atom for _, atom, _ in known):
        # Of what may be a remark nothing is certain.
        return
    run = ""
    for place, atom, after in known:
        may_be_absent = _MAY_BE_ABSENT.match(after) or any(start <= place < end for start, end in uncertain)
        if len(atom) == 1 and atom.isalnum() and not may_be_absent:
            run += atom
            if not _MAY_REPEAT.match(after):
                continue
        elif atom.startswith("(") or (atom == ")" and not _MAY_REPEAT.match(after)):
            continue
        yield run
        run = ""
    yield run


def _uncertain(known: list[tuple[int, str, str]]) -> list[tuple[int, int]]:
    """Return the stretches, in parentheses or the whole, that have alternatives or may be absent."""
    opened = [0]
    divided = set[int]()
    found = []
    for place, atom, after in known:
        if atom.startswith("(") and not atom.endswith(")"):
            opened.append(place)
        elif atom == "|":
            divided.add(opened[-1])
        elif atom == ")" and len(opened) > 1:
            start = opened.pop()
            if start in divided or _MAY_BE_ABSENT.match(after):
                found.append((start, place))
    if len(opened) > 1 or 0 in divided:
        found.append((0, known[-1][0] + 1))
    return found


def _placed(pattern: str) -> Iterator[tuple[int, str, str]]:
    """Yield the atoms, where they stand, counted from one, and what comes after them."""
    for found in _ATOM.finditer(pattern):
        yield found.start() + 1, found[0], pattern[found.end() :]


def _small(atom: str) -> str:
    return re.sub(r"\\.|[^\\]+", lambda found: _SMALL.get(found[0], found[0].lower()), atom)


# Inside a class; no escape but these is in a pattern for single words.
_SMALL = {r"\d": "0-9"}


@lru_cache(256)
def _is_for_terms(pattern: str) -> bool:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text")
    try:
        tantivy.Query.regex_query(builder.build(), "text", pattern)
    except ValueError:
        return False
    return True


# Runs patterns over texts, with and without accents, for as long as it may take.
#
# Tantivy's engine takes time in proportion to the text whatever the pattern is, but for a pattern such
# as `.{1,1000}x` that is 40 seconds for every million characters.

# A longer text is looked at from its beginning, each time so many times more of it: the time that takes foretells
# the next. Looking for all matches can take time by the square of the length.
FIRST_CHARACTERS = 5_000
MORE_CHARACTERS = 4
# Ten patterns of a question, as they are written and without accents; each may hold megabytes.
_MOST_COMPILED = 32

Spans = list[tuple[int, int]]


def is_runnable(pattern: str) -> bool:
    """Say whether the engine takes a pattern: no lookaround, no reference back, and not too large."""
    return _compiled(pattern) is not None


def is_match(pattern: str, text: str, seconds: float) -> bool:
    """Say whether a pattern matches somewhere in a text; raise `TimeoutError` where that may take longer."""
    ends_at = time.monotonic() + seconds
    for one, reading in _readings(pattern, composed(text)):
        length = 0
        for length, found in _looks(one, reading, ends_at - time.monotonic()):
            # What ends where the look ended could need what comes after.
            if found and (length >= len(reading) or found[0][1] < length):
                return True
        if length < len(reading):
            raise TimeoutError(f"a text of {len(text)} characters takes too long")
    return False


def spans(pattern: str, text: str, seconds: float) -> Spans:
    """Return where a pattern matches; of a long text, in as much of it as can be looked at in time."""
    ends_at = time.monotonic() + seconds
    found: Spans = []
    for one, reading in _readings(pattern, text):
        looks = list(_looks(one, reading, ends_at - time.monotonic()))
        found += looks[-1][1] if looks else []
    return found


def _readings(pattern: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield a pattern and a text as they are written, and without accents; ranges of letters keep theirs."""
    yield pattern, text
    if not (pattern.isascii() and text.isascii()):
        bare = "".join(atom if atom.startswith("[") else folded(atom) for atom in atoms(composed(pattern)))
        yield bare, folded(text)


def _looks(pattern: str, text: str, seconds: float) -> Iterator[tuple[int, Spans]]:
    """Yield how much was looked at and what was found there, more and more of a text while there is time."""
    analyzer = _compiled(pattern)
    length = FIRST_CHARACTERS
    while analyzer is not None:
        started = time.monotonic()
        tokens = analyzer.pre_tokenize(text[:length]).tokens
        yield length, [(token.char_offset_from, token.char_offset_to) for token in tokens]
        took = time.monotonic() - started
        seconds -= took
        if length >= len(text) or took * MORE_CHARACTERS**2 > seconds:
            return
        length *= MORE_CHARACTERS


@lru_cache(_MOST_COMPILED)
def _compiled(pattern: str) -> tantivy.TextAnalyzer | None:
    try:
        return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(f"(?im){for_rust(pattern)}")).build()
    except ValueError:
        return None
