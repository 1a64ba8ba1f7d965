"""Text of any length, cut from reels that are filled once: building each word by chance would be slow."""

import base64
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from tests.corpus import listings, words

REEL_CHARS = 700_000  # long enough that two cuts of a session seldom overlap, short enough to fill in 0.1 s
SHORT_REEL_CHARS = 120_000
LANGUAGES = {
    "zh": words.CHINESE,
    "ja": words.JAPANESE,
    "ko": words.KOREAN,
    "fr": words.FRENCH,
    "es": words.SPANISH,
    "ru": words.RUSSIAN,
}
CODE = (*listings.PYTHON, *listings.TYPESCRIPT, *listings.GO, *listings.RUST, *listings.SQL)
BASE64_BYTES = 400_000


class Reel:
    """A long text and the places where it may be cut."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.text = "".join(pieces)
        self.starts: list[int] = []
        position = 0
        for piece in pieces:
            self.starts.append(position)
            position += len(piece)

    def cut(self, rng: random.Random, chars: int) -> str:
        """Return whole pieces of together about that many characters, at least one, without outer space."""
        first = int(rng.random() * len(self.starts))
        start = self.starts[first]
        last = bisect_left(self.starts, start + chars, first + 1)
        end = self.starts[last] if last < len(self.starts) else len(self.text)
        return self.text[start:end].strip()


class Text:
    """Everything that is said, thought, run and printed in the corpus."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.identifiers = _identifiers(rng)
        self.paths = [self._path() for _ in range(3_000)]
        self._prose = {
            "ask": self._reel(words.ASKS, " ", REEL_CHARS),
            "answer": self._reel(words.ANSWERS, " ", REEL_CHARS),
            "narration": self._reel(words.NARRATIONS, " ", REEL_CHARS),
            "thought": self._reel(words.THOUGHTS, " ", REEL_CHARS),
        }
        self._foreign = {name: self._reel(rows, " ", SHORT_REEL_CHARS) for name, rows in LANGUAGES.items()}
        self._printed = {
            "code": self._reel(CODE, "\n", REEL_CHARS),
            "trace": self._reel(listings.TRACES, "", SHORT_REEL_CHARS),
            "log": self._reel(listings.LOGS, "", REEL_CHARS),
            "shell": self._reel((*listings.SHELL * 6, *listings.SHELL_CJK), "", REEL_CHARS),
        }
        self.said: Counter[str] = Counter()
        self.pictured = 0
        self._base64 = base64.b64encode(rng.randbytes(BASE64_BYTES)).decode()

    def prose(self, voice: str, language: str, chars: int) -> str:
        """Return talk of one voice (ask, answer, narration, thought); other languages have one voice for all."""
        reel = self._prose[voice] if language == "en" else self._foreign[language]
        text = reel.cut(self.rng, chars if language == "en" else chars // 2)
        self.said[language] += len(text)
        return text

    def printed(self, what: str, chars: int) -> str:
        """Return code, a trace, a log or shell output."""
        return self._printed[what].cut(self.rng, chars)

    def line(self, templates: Sequence[str]) -> str:
        return self._fill(templates[int(self.rng.random() * len(templates))])

    def base64(self, chars: int) -> str:
        """Return base64 that decodes to nothing but could be an image or a signature."""
        start = int(self.rng.random() * (len(self._base64) - min(chars, len(self._base64) - 4) - 4))
        return self._base64[start : start + chars]

    def size(self, median: int, spread: float, most: int) -> int:
        """Return a length from a log-normal distribution, as the measured blocks have it."""
        return min(most, int(median * self.rng.lognormvariate(0, spread)) + 1)

    def _reel(self, templates: Sequence[str], end: str, chars: int) -> Reel:
        pieces, length = [], 0
        while length < chars:
            piece = self.line(templates) + end
            pieces.append(piece)
            length += len(piece)
        return Reel(pieces)

    def _fill(self, template: str) -> str:
        rng = self.rng
        pick = rng.random
        names, paths = self.identifiers, self.paths
        return template.format(
            i=names[int(pick() * len(names))],
            j=names[int(pick() * len(names))],
            p=paths[int(pick() * len(paths))],
            n=int(9_000 * pick() ** 2) + 2,
            m=int(900 * pick()) + 2,
            d=int(30 * pick()) + 1,
            h=f"{rng.getrandbits(32):08x}",
            v=f"{int(9 * pick())}.{int(30 * pick())}.{int(9 * pick())}",
            e=words.ERRORS[int(pick() * len(words.ERRORS))],
            t=words.TECHNOLOGIES[int(pick() * len(words.TECHNOLOGIES))],
        )

    def _path(self) -> str:
        rng = self.rng
        folders = "/".join(rng.choices(words.DIRECTORIES, k=rng.randint(1, 3)))
        name = rng.choice(self.identifiers)
        return f"{folders}/{name}.{rng.choice(words.EXTENSIONS)}"


def _identifiers(rng: random.Random) -> list[str]:
    made: set[str] = set()
    while len(made) < 9_000:
        verb, noun, suffix = rng.choice(words.VERBS), rng.choice(words.NOUNS), rng.choice(words.SUFFIXES)
        form = rng.random()
        if form < 0.35:
            made.add(f"{verb}_{noun}")
        elif form < 0.55:
            made.add(f"{noun}_{suffix}")
        elif form < 0.8:
            made.add(verb + noun.title() + suffix.title())
        else:
            made.add(noun.title() + suffix.title())
        if form > 0.9:
            made.add(f"{verb}_{noun}_{suffix}")
    return sorted(made)
