"""Searches to try that find something, made of what an index holds: words of a title, a file, a failure, a period."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from searchkit.backends.base import Backend
from searchkit.query.parse import understand
from searchkit.sources.tools import changes_files
from searchkit.text.analysis import STOP_WORDS
from searchkit.text.format import last_part
from searchkit.types import Session

# Sessions that examples are taken from.
RECENT_SESSIONS = 12
# A title's words are told from those of every other title by being long.
LEAST_LETTERS = 5
# Files that are tried, those that most sessions changed.
MOST_FILES = 3
PERIODS = (("7d", "the last week"), ("30d", "the last month"), ("365d", "the last year"))


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A search that finds something in an index, and what it asks for."""

    query: str
    meaning: str


def examples(backend: Backend, recent: Sequence[Session]) -> Iterator[Example]:
    """Yield one search of each sort that finds something; each was tried."""
    for candidates in (_topics(recent), _files(backend, recent), _failures(backend), _periods()):
        found = next((one for one in candidates if backend.words.search(understand(one.query), 1).hits), None)
        if found is not None:
            yield found


def _topics(recent: Sequence[Session]) -> Iterator[Example]:
    """Take two long words of a title, as somebody would who remembers it."""
    for session in recent:
        words = [word.strip(".,:;!?()[]\"'`") for word in (session.title or "").split()]
        telling = [word for word in words if len(word) >= LEAST_LETTERS and word.isalpha()]
        telling = [word for word in dict.fromkeys(telling) if word.casefold() not in STOP_WORDS]
        if len(telling) > 1:
            longest = sorted(telling, key=len)[-2:]
            query = " ".join(word for word in telling if word in longest)
            yield Example(query=query, meaning="words, as you remember them")


def _files(backend: Backend, recent: Sequence[Session]) -> Iterator[Example]:
    counted: Counter[str] = Counter()
    for session in recent:
        steps = backend.catalog.touching(session.id)
        counted.update({last_part(step.path) for step in steps if step.path and changes_files(step.tool)})
    for name, _ in counted.most_common(MOST_FILES):
        if name.isprintable() and not set(name) & set(" \"'$`\\"):
            yield Example(query=f"file:{name}", meaning="what was done with a file")


def _failures(backend: Backend) -> Iterator[Example]:
    for tool in backend.words.facets(understand("is:error"), "tool"):
        if tool.isidentifier():
            yield Example(query=f"is:error tool:{tool}", meaning=f"where {tool} failed")
    yield Example(query="is:error", meaning="what failed")


def _periods() -> Iterator[Example]:
    for period, meaning in PERIODS:
        yield Example(query=f"kind:prompt after:{period}", meaning=f"what you typed in {meaning}")
    yield Example(query="kind:prompt", meaning="what you typed")
