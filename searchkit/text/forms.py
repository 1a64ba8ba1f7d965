"""The forms of a word, in English and in French: `configure` also finds `configured` and `configuration`."""

import re
from functools import lru_cache
from itertools import takewhile

import tantivy

from searchkit.text.analysis import analyzer

# The forms of a word: `configure` finds `configured`, `configuration` and `configuring`.
#
# They are made up from the word's stem and asked for together. On labelled questions this ranks as
# a field of stems does (hit@10 76.7, MRR 56.5 either way), and texts need not be stemmed.

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


# The forms of a French word: `fusionné` finds `fusionner` and `fusionnent`, `déploie` finds `déploiement`.
#
# Asked for in French questions only: in English `server` is no form of `serve`. Accents are folded, as in the index.
# On 33 questions in French, with its small words left out, too, MRR rose from 55 to 64.

_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’](?=\w)", re.IGNORECASE)
# The endings that one stem takes, of verbs in -er with the nouns made of them, of those in -ir, of adjectives.
_FRENCH_ENDINGS = tuple(
    tuple(several.split())
    for several in (
        "er e es ent ez ons ant ais ait aient ee ees era erait eront ation ations ement ements age ages eur eurs",
        "ir i is it ie ies issent issant issait issement",
        "u ue us ues re ent ait",
        "al ale ales aux",
        "if ive ifs ives",
        "eux euse euses",
    )
)
_SHORTEST_WORD = 4


def unelided(text: str) -> str:
    """Take off what is written in one with the next word: `l'import`, `qu'il`."""
    return _ELISION.sub(" ", text)


@lru_cache(1024)
def french_forms(word: str) -> tuple[str, ...]:
    """Return what a French word may become, without accents; most of it is no word at all, and found nowhere."""
    if len(word) < _SHORTEST_WORD or not (word.isascii() and word.isalpha()):
        return ()
    made = [word[:-1] if word.endswith("s") else word + "s", word + "e", word + "es"]
    for endings in _FRENCH_ENDINGS:
        for ending in endings:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                made += [stem + other for stem in _stems(word[: -len(ending)]) for other in endings]
    return tuple(dict.fromkeys(made))


def beginning(word: str) -> str:
    """Return what a word and all that it may become begin with."""
    alike = zip(word, *french_forms(word), strict=False)
    return word[: sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, alike))]


def _stems(stem: str) -> list[str]:
    """Return a stem in its spellings: `deploy` and `deploi`, `renouvel` and `renouvell`."""
    if stem[-1] in "iy":
        return [stem[:-1] + "i", stem[:-1] + "y"]
    if stem[-1] in "lt":
        single = stem[:-1] if stem[-2] == stem[-1] else stem
        return [single, single + stem[-1]]
    return [stem]
