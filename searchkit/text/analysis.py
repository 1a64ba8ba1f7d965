"""How texts become terms: words, parts of identifiers, pairs of characters, with and without accents."""

import re
import unicodedata
from functools import lru_cache
from itertools import takewhile

import tantivy


def folded(text: str) -> str:
    """Take the accents off, letter for letter."""
    return text if text.isascii() else text.translate(_BARE)


class _Bare(dict[int, int]):
    """Letters without their accents, looked up once each."""

    def __missing__(self, letter: int) -> int:
        bare = unicodedata.normalize("NFD", chr(letter))[0]
        value = ord(bare) if bare.isascii() else letter
        self[letter] = value
        return value


_BARE = _Bare()


# How texts become terms, and questions the same way, or nothing would meet.
#
# Words are kept as they are written, without case and accents, with their positions; beside a
# name such as `getUserName` its parts stand too. Nothing is stemmed here: `forms` below asks for the
# forms of a word instead, which ranks as well, leaves phrases, prefixes and patterns exact, and
# makes indexing twice as fast. Scripts that put no spaces between words become pairs of adjacent
# characters.

# Longer words are encoded data. Names of generated symbols reach 90 characters, SHA-256 sums 64.
LONGEST_WORD = 100
# Thai, Lao, Myanmar, Khmer, Chinese, Japanese and Korean. Korean has spaces, but its particles stick to
# the nouns: with pairs the first ten held the answer for 90 of 100 questions, with words for 70.
# Compiled where it is first used: the many ranges take some 3 ms, and English needs none of them.
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
# The first bytes of all of these in UTF-8: a text without them need not be searched for runs.
_UNSPACED_LEADS = bytes([0xE0, 0xE1, *range(0xE3, 0xF1)])
# Stands between the parts of two names, so that no phrase reaches from one into the other. A Tifinagh letter by
# itself, because only what is indexed takes up a place; the index grows by one part in a hundred.
_BETWEEN_NAMES = " \u2d63 "
# Names recur: the parts of so many of them are remembered.
MOST_NAMES = 100_000

# The class of each byte: small letters and digits, capitals, anything else.
_CLASSES = bytes(
    ord("a") if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" else ord("A") if 65 <= byte <= 90 else ord(" ")
    for byte in range(256)
)
# A capital after a small letter, or a word after capitals, as in `HTTPServer`.
_SEAMS = (b"aA", b"AAa")
_NAME_PART = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_parts_of: dict[bytes, str] = {}


def analyzer(*more: tantivy.Filter) -> tantivy.TextAnalyzer:
    """Build what Tantivy takes texts apart with."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    filters = tantivy.Filter
    # Folding makes capitals of some small letters, such as phonetic ones, and takes the dot off a Turkish one.
    for each in (filters.remove_long(LONGEST_WORD), filters.ascii_fold(), filters.lowercase(), *more):
        builder = builder.filter(each)
    return builder.build()


ANALYZER = analyzer()


def prepared(text: str, encoded: bytes) -> tuple[str, str]:
    """Return a text, which is given in UTF-8 too, as it is to be indexed, and the parts of the names in it."""
    if not text.isascii():
        whole = composed(text)
        if whole != text:
            text, encoded = whole, whole.encode()
        if len(encoded) != len(encoded.translate(None, _UNSPACED_LEADS)):
            text = spaced(text)
    return text, _parts_of_names(encoded)


def composed(text: str) -> str:
    """Join letters with the accents that follow them, which would end a word: Apple's file names come apart."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spaced(text: str) -> str:
    """Put spaces around every two adjacent characters of scripts that have none.

    Where the script changes a new word begins, so that `读progress文件` holds `progress`.
    """
    return text if text.isascii() else re.sub(_UNSPACED, lambda run: f" {' '.join(pairs(run[0]))} ", text)


def is_unspaced(text: str) -> bool:
    """Say whether a text is all of a script without spaces."""
    return not text.isascii() and re.fullmatch(_UNSPACED, text) is not None


def pairs(run: str) -> list[str]:
    """Return every two adjacent characters, or the only one."""
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]


def words(text: str) -> list[str]:
    """Take a short text apart as the index does, the parts of its names left out."""
    return ANALYZER.analyze(spaced(composed(text)))


def name_parts(text: str) -> list[str]:
    """Return the parts of the names in a text that join words by capitals."""
    parts = _parts_of_names(text.encode("utf-8", "replace"))
    return ANALYZER.analyze(parts.replace(_BETWEEN_NAMES, " "))


def _parts_of_names(text: bytes) -> str:
    found = _joined_names(text)
    if not found:
        return ""
    if len(_parts_of) > MOST_NAMES:
        _parts_of.clear()
    return _BETWEEN_NAMES.join(_parts_of.get(name) or _take_apart(name) for name in found)


def _joined_names(text: bytes) -> dict[bytes, None]:
    """Return the names that join words by capitals, each once.

    Looks for seams between classes of bytes, because that is six times as fast as a regular
    expression over the text, and every text passes here.
    """
    found: dict[bytes, None] = {}
    classes = text.translate(_CLASSES)
    find, rfind = classes.find, classes.rfind
    for seam in _SEAMS:
        at = find(seam)
        while at >= 0:
            start = rfind(b" ", 0, at) + 1
            end = find(b" ", at)
            end = len(classes) if end < 0 else end
            if end - start <= LONGEST_WORD:
                found[text[start:end]] = None
            at = find(seam, end)
    return found


def _take_apart(name: bytes) -> str:
    parts = " ".join(_NAME_PART.findall(name.decode("ascii")))
    _parts_of[name] = parts
    return parts


# Words that say nothing of what is sought: question words, pronouns, auxiliaries.
#
# They are indexed, because phrases hold them, and left out of questions that have other words. With them nDCG@10 over
# long chats is 46.7, and 43.0 without. Those of scripts without spaces are pairs of characters, as everything there:
# with them 82 of 100 questions in Chinese and 70 in Korean are answered in the first ten, and 79 and 67 without.


STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each else ever few for
    from further get gets getting got had hadn has hasn have haven having he her here hers herself him himself his how
    i if in into is isn it its itself just let ll m made make many may me might more most much must my myself no nor
    not now of off on once one only or other our ours ourselves out over own re s same shall she should shouldn so
    some such t than that the their theirs them themselves then there these they this those through to too under until
    up us ve very was wasn we were weren what when where which while who whom why will with won would wouldn you your
    yours yourself yourselves
    although arent cant couldnt didnt doesnt dont hadnt hasnt havent however isnt shouldnt though wasnt werent whereas
    whether wont wouldnt
    au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur lui ma mais mes mon ne nous on ou
    par pas pour qu que quel quelle qui sa se ses son sont sur ta te tes ton tu un une vous
    怎么 么样 怎样 为什 什么 为啥 为何 如何 咋办 哪个 哪些 哪里 多少 那个 这个 那些 这些 当时 上次 之前 以前
    我们 你们 一下 时候 是不 因为 所以 然后 但是 已经 可以
    어떻 떻게 어떤 왜 뭐 뭐였 뭐지 였지 무엇 무슨 언제 어디 누가 어느 그때 때 거 것 좀 그 이 저 수 더
    하는 했던 하던 되는 는지 했더 더라 었더 었지 했지 했나 었나 했었 습니 니다 했습 합니 입니
    どう なぜ いつ どこ っけ です ます
    """.split()
)
# Some of these mean something in English, so that only questions in French are without them.
FRENCH_STOP_WORDS = STOP_WORDS | frozenset(
    """
    afin ai ainsi ait alors apres aucun aujourd aura aurait aussi autre autres avaient avait avant avez avoir avons
    bien ca car ceci cela celle celles celui cet ceux chaque chez ci combien comme comment deja depuis dessous
    dessus devaient devait doit doivent donc dont elles encore entre es etaient etais etait etant ete etes etre eu
    eux faire fait fallait faut fois font hier hui ici jamais jusqu laquelle lequel lesquels leurs lors lorsque
    meme memes mien moi moins ni non nos notre ont oui parce pendant peu peut peux plus plusieurs plutot pourquoi
    pouvaient pouvait pouvoir puis puisque quand quelles quelque quelques quels quoi rien sans sauf sera serait si
    soi soit sommes sous suis tandis tel telle telles tels toi toujours tous tout toute toutes tres trop va vais
    vas venaient venait vers veut veux viennent vient voici voila vont vos votre vu y
    """.split()
)

# The forms of a word, in English and in French: `configure` also finds `configured` and `configuration`.


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
