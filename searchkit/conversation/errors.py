"""What tells one error from another: its lines that say what went wrong, without what changes from run to run.

An error is known where a text holds its telling words, rare ones counting more, close together. Numbers, addresses,
times and the directories of paths differ between two runs of the same thing, so they are not looked at.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

# Lines that say what went wrong; of a long error they are what can be found again.
# An option such as `-Werror` in a command says nothing of the kind.
_KEY_LINE = re.compile(
    r"(?<!-W)error|exception|fail|fatal|cannot|can't|denied|refused|not found|undefined|panic|assert", re.I
)
# Places in code, and the code there: what was raised is said again below, with its values.
_FRAME = re.compile(r'File "|at .+[:(].*\d+\)?$|raise\b|return\b|Traceback \(|npm (?:error|ERR!) A complete log')
_COLOURS = re.compile(r"\x1b\[[\d;]*m|\[\d{1,2}m")
_PATH = re.compile(r"(?:\b[a-z]+:(?=//)|\b[A-Za-z]:(?=[/\\]))?[\w.~@%+-]*(?:[/\\]+[\w.~@%+-]+)+")
_VARYING = re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b", re.I)
# Numbers, and rules drawn across a page.
_EMPTY = re.compile(r"[\d._-]+")
# The name of a file, an option or a module is one word: its parts stand everywhere.
_WORD = re.compile(r"\w+(?:[.-]\w+)*")

MAX_LINES = 4
MAX_CHARACTERS = 400
# The share of an error's telling words, by their rarity, that a text must hold to be of the same error.
# Of 42 errors that occur nowhere in real transcripts none has more than 0.70 anywhere; where one did occur, its place
# has 0.77 or more, and nearly always 1 (docs/ranking.md).
FLOOR = 0.75
# A word of so much of the rarity of the rarest one is what the error is about.
_SPECIFIC = 0.5
_MIN_SPECIFIC_CHARACTERS = 3
# Of a long text its beginning and its end are looked at, so many characters each.
_MOST_CHARACTERS = 100_000


class Likeness(NamedTuple):
    """The share of an error that a text holds, and where in the text it does."""

    share: float
    place: int


class Telling(NamedTuple):
    """The words of each line of an error that tells what went wrong, and how rare they are."""

    lines: Sequence[frozenset[str]]
    rarities: Mapping[str, float]

    def likeness(self, text: str) -> Likeness:
        """Say how much of the error a text holds: of each line, what two adjacent lines of the text hold together."""
        total = sum(map(self._weight, self.lines))
        if not total:
            return Likeness(0.0, 0)
        best = [Likeness(0.0, 0)] * len(self.lines)
        before: frozenset[str] = frozenset()
        start_before = 0
        for start, line in _lines(text):
            words = line_words(line)
            for number, wanted in enumerate(self.lines):
                # What one line holds is where that line is.
                for held, place in ((wanted & words, start), (wanted & (words | before), start_before)):
                    weight = self._weight(held)
                    if weight > best[number].share:
                        best[number] = Likeness(weight, place)
            before, start_before = words, start
        rarest = max(best)
        return Likeness(sum(one.share for one in best) / total, rarest.place)

    def is_known(self, text: str) -> bool:
        """Say whether a text tells of the same error."""
        return self.likeness(text).share >= FLOOR

    @property
    def rarest(self) -> list[str]:
        """The words by their rarity, the rarest first."""
        return sorted(self.rarities, key=lambda word: (-self.rarities[word], word))

    @property
    def specific(self) -> list[str]:
        """The words that say what the error is about, beside what kind of error it is."""
        least = _SPECIFIC * max(self.rarities.values(), default=0.0)
        return [word for word in self.rarest if self.rarities[word] >= least and len(word) >= _MIN_SPECIFIC_CHARACTERS]

    def _weight(self, words: frozenset[str]) -> float:
        return sum(self.rarities[word] for word in words)


def telling(error: str, rarity: Callable[[str], float]) -> Telling:
    """Read an error, given how rare a word is."""
    lines = [words for one in key_lines(error).splitlines() if (words := line_words(one))]
    return Telling(lines, {word: rarity(word) for words in lines for word in words})


def key_lines(error: str) -> str:
    """Return the lines of an error that say what went wrong: the last of them, for a traceback ends in it."""
    lines = [one.strip() for one in error.splitlines() if one.strip()]
    if len(error) <= MAX_CHARACTERS and len(lines) <= 1:
        return error
    outside = [one for one in lines if not _FRAME.match(one)] or lines
    chosen = [one for one in outside if _KEY_LINE.search(one)] or outside
    return "\n".join(chosen[-MAX_LINES:])[-MAX_CHARACTERS:]


def line_words(line: str) -> frozenset[str]:
    """Return the words of a line that are the same in every run; of a path only the name of the file."""
    line = _PATH.sub(lambda path: re.split(r"[/\\]", path[0])[-1], _COLOURS.sub(" ", line))
    words = (word.casefold() for word in _WORD.findall(_VARYING.sub(" ", line)))
    return frozenset(word for word in words if len(word) > 1 and not _EMPTY.fullmatch(word))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text, each with where it begins."""
    spans = [(0, len(text))]
    if len(text) > 2 * _MOST_CHARACTERS:
        spans = [(0, _MOST_CHARACTERS), (len(text) - _MOST_CHARACTERS, len(text))]
    for begin, end in spans:
        for line in text[begin:end].splitlines(keepends=True):
            yield begin, line
            begin += len(line)
