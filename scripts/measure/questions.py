"""The questions that searches are timed with, chosen from an index, so that it has something to say to each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from searchkit import Engine
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.words.index import TEXT
from searchkit.backends.local.words.store import TantivyWords
from searchkit.query.dates import LOCAL
from searchkit.text.analysis import STOP_WORDS, words

# Of each kind of question, so that one odd word decides nothing.
EACH = 3
# In how many parts words are: a few, or a share of all.
RARE_PARTS = 3
MIDDLE_SHARE, COMMON_SHARE = 0.003, 0.1
PREFIX_LETTERS = 4
PHRASE_WORDS = 3
# Looked through for phrases and names.
TEXT_CHARACTERS = 2_000

_WORD = re.compile("[a-z]{5,14}")
_NAME = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:_[a-z]+)+)\b")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question of a kind; filters as options have them."""

    kind: str
    words: str
    filters: tuple[tuple[str, str], ...] = ()


def words_of(engine: Engine) -> TantivyWords:
    """Return the keyword index itself, which no engine gives away; it ends with this process."""
    return LocalBackend(engine.settings.index).words


def chosen(engine: Engine) -> list[Question]:
    """Choose questions of every kind; one that the index has nothing for is left out."""
    searcher = words_of(engine)._open_keyword().searcher
    held = [(word, count) for word, count in searcher.terms_with_prefix(TEXT, "", None) if count]
    plain = [(word, count) for word, count in held if _WORD.fullmatch(word) and word not in STOP_WORDS]
    rare = _nearest(plain, RARE_PARTS, EACH)
    middle = _nearest(plain, searcher.num_docs * MIDDLE_SHARE, 3 * EACH)
    common = _nearest(plain, searcher.num_docs * COMMON_SHARE, EACH)
    return [
        *(Question(kind="rare word", words=word) for word in rare),
        *(Question(kind="middling word", words=word) for word in middle[:EACH]),
        *(Question(kind="common word", words=word) for word in common),
        *(Question(kind="three words", words=" ".join(middle[each::EACH])) for each in range(EACH)),
        *(Question(kind="phrase", words=f'"{phrase}"') for phrase in _phrases(engine, middle)),
        *(Question(kind="prefix", words=f"{word[:PREFIX_LETTERS]}*") for word in middle[:EACH]),
        *(Question(kind="identifier", words=name) for name in _names(engine, common)),
        *_filtered(engine, common),
        *(Question(kind="question", words=_question(*pair)) for pair in zip(common, middle, strict=False)),
        Question(kind="most common words", words=" ".join(word for word, _ in plain[:EACH])),
        Question(kind="only stop words", words=" ".join([word for word, _ in held if word in STOP_WORDS][:EACH])),
    ]


def _nearest(held: Iterable[tuple[str, int]], parts: float, count: int) -> list[str]:
    """Return the words that about so many parts hold."""
    found = sorted(held, key=lambda entry: (max(entry[1] / parts, parts / entry[1]), entry[0]))
    return [word for word, _ in found[:count]]


def _phrases(engine: Engine, wanted: Sequence[str]) -> Iterator[str]:
    found = 0
    for word in wanted:
        tokens = next((words(text) for text in _texts(engine, word) if word in words(text)), [])
        at = max(0, tokens.index(word) - 1) if tokens else 0
        if len(tokens) >= PHRASE_WORDS and found < EACH:
            found += 1
            yield " ".join(tokens[at : at + PHRASE_WORDS])


def _names(engine: Engine, wanted: Sequence[str]) -> list[str]:
    found = (name for word in wanted for text in _texts(engine, word) for name in _NAME.findall(text))
    return list(dict.fromkeys(found))[:EACH]


def _texts(engine: Engine, word: str) -> Iterator[str]:
    for result in engine.search(word).results:
        yield result.best.stored.part.text[:TEXT_CHARACTERS]


def _filtered(engine: Engine, common: Sequence[str]) -> Iterator[Question]:
    times = sorted(session.ended for session in engine.sessions() if session.ended)
    middle = datetime.fromtimestamp(times[len(times) // 2] / 1000, LOCAL) if times else datetime.now(LOCAL)
    filters = [("project", project) for project in engine.values("project")[:1]]
    filters += [("kind", "prompt"), ("after", middle.date().isoformat())]
    for name, value in filters:
        for word in common:
            yield Question(kind=f"word, {name}", words=word, filters=((name, value),))


def _question(one: str, other: str) -> str:
    return f"why did the {one} fail after we changed the {other}?"
