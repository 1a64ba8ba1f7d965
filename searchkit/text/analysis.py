"""How texts become terms: words, parts of identifiers, pairs of characters, with and without accents."""

import re
import unicodedata

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
# name such as `getUserName` its parts stand too. Nothing is stemmed here: `forms.py` asks for the
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
