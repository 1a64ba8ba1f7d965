"""Runs patterns over texts, with and without accents, for as long as it may take.

Tantivy's engine takes time in proportion to the text whatever the pattern is, but for a pattern such
as `.{1,1000}x` that is 40 seconds for every million characters.
"""

import time
from collections.abc import Iterator
from functools import lru_cache

import tantivy

from searchkit.backends.local.words.regex import atoms, for_rust
from searchkit.text.analysis import composed, folded

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
