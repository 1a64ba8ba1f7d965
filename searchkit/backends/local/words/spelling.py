"""What a misspelt word may have meant: words of the index that differ from it in a letter or two."""

from difflib import SequenceMatcher

import tantivy

from searchkit.backends.local.words.index import TEXT
from searchkit.text.analysis import words

# Shorter words resemble too many others.
SHORTEST = 4
MOST = 3
# Letters in common, of all: one letter of five wrong, or two of nine.
LEAST_ALIKE = 0.75
# Words whose first letters agree: the commonest of so many are looked at.
LOOKED_AT = 5_000
# People mistype the end of a word more often than its beginning.
_PREFIX = 2


def similar(searcher: tantivy.Searcher, text: str) -> list[str]:
    """Return the words most like this one, the more frequent of equals first."""
    found = words(text)
    if len(found) != 1 or len(found[0]) < SHORTEST or not found[0].isascii():
        return []
    word = found[0]
    matcher = SequenceMatcher(b=word, autojunk=False)
    alike = []
    for other, frequency in searcher.terms_with_prefix(TEXT, word[:_PREFIX], None, LOOKED_AT):
        if abs(len(other) - len(word)) > 2 or other == word or other.isdigit():
            continue
        matcher.set_seq1(other)
        if matcher.quick_ratio() >= LEAST_ALIKE and (ratio := matcher.ratio()) >= LEAST_ALIKE:
            alike.append((-ratio, -frequency, other))
    return [other for _, _, other in sorted(alike)[:MOST]]
