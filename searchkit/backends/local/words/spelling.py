"""What a misspelt word may have meant: words of the index that differ from it in a letter or two."""

import tantivy

from searchkit.backends.local.words.highlight import difference
from searchkit.backends.local.words.index import TEXT
from searchkit.text.analysis import words
from searchkit.text.forms import fuzzy_distance

# Shorter words resemble too many others.
SHORTEST = 4
MOST = 3
# Words whose first letters agree: the commonest of so many are looked at.
LOOKED_AT = 5_000
# People mistype the end of a word more often than its beginning.
_PREFIX = 2


def similar(searcher: tantivy.Searcher, text: str) -> list[str]:
    """Return the words that differ from this one in as many letters as a fuzzy query allows, the nearest first.

    That is one letter, or two of eight and more: a word that differs in three is another word, and so is one that is
    spelt right and happens to be nowhere.
    """
    found = words(text)
    if len(found) != 1 or len(found[0]) < SHORTEST or not found[0].isascii():
        return []
    word = found[0]
    most, letters = fuzzy_distance(word), frozenset(word)
    alike = []
    for other, frequency in searcher.terms_with_prefix(TEXT, word[:_PREFIX], None, LOOKED_AT):
        if abs(len(other) - len(word)) > most or other == word or other.isdigit():
            continue
        # Each letter that the other lacks is one to put in or to replace.
        if len(letters.difference(other)) <= most and (distance := difference(other, word)) <= most:
            alike.append((distance, -frequency, other))
    return [other for _, _, other in sorted(alike)[:MOST]]
