"""The forms of a word: `configure` finds `configured`, `configuration` and `configuring`.

They are made up from the word's stem and asked for together. On labelled questions this ranks as
a field of stems does (hit@10 76.7, MRR 56.5 either way), and texts need not be stemmed.
"""

import re
from functools import lru_cache

import tantivy

from searchkit.text.analysis import analyzer

# English endings, and the French ones of plurals.
_ENDINGS = (
    " s es e ed d er ers r rs ing ings ion ions ation ations ator ators or ors ly ment ments able ible y ies ied ier "
    "iest al ally ive ively ness ity ities ize izes ized izing ization ise ised ising ful ance ence ent ant ic ical "
    "ics ism ist ists ee ees t ts"
).split(" ")
# `corrigé`, `corrigés`, `corrigée` and `corrigées`, accents folded, to which the stemmer gives two stems.
_PARTICIPLE = re.compile("(.{3,}?)ee?s?")
_PARTICIPLE_ENDINGS = ("e", "es", "ee", "ees")
# Longer words may differ in more places.
FUZZY_TWO_LENGTH = 8
# Shorter stems belong to words that have nothing in common.
_SHORTEST_STEM = 3
_STEMMER = analyzer(tantivy.Filter.stemmer("english"))


@lru_cache(4096)
def stem(word: str) -> str:
    """Return what the forms of a word have in common."""
    found = _STEMMER.analyze(word)
    return found[0] if len(found) == 1 else word


@lru_cache(4096)
def stems(word: str) -> frozenset[str]:
    """Return the stems that a form of this word may have."""
    return frozenset(map(stem, (word, *_participles(word))))


@lru_cache(1024)
def forms(word: str) -> tuple[str, ...]:
    """Return the word and all words that an ending makes of the same stem."""
    common = stem(word)
    if not (word.isascii() and common.isalpha()) or len(common) < _SHORTEST_STEM:
        return (word,)
    bases = [common]
    if common[-1] in "ei":
        # hope, hoping; retry, retries.
        bases += [common[:-1], common[:-1] + "y"]
    elif common[-1] not in "aou":
        # Endings double the last letter: stop, stopped.
        bases.append(common + common[-1])
    made = (base + ending for base in bases for ending in _ENDINGS)
    same = (form for form in made if stem(form) == common)
    return tuple(dict.fromkeys((word, *same, *_participles(word))))


def fuzzy_distance(word: str) -> int:
    """Return in how many letters a word may differ from one that was misspelt."""
    return 2 if len(word) >= FUZZY_TWO_LENGTH else 1


def _participles(word: str) -> list[str]:
    found = _PARTICIPLE.fullmatch(word)
    return [found[1] + ending for ending in _PARTICIPLE_ENDINGS] if found else []
