"""Probes: one word that nothing else holds for each thing that can be written, and what must be found by it."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from searchkit import Engine
from searchkit.search.types import Result
from searchkit.types import Kind
from tests.support.answers import SESSION
from tests.support.transcript import Home, Record, Transcript

_LETTERS = "bcdfghjklmnprtvw"


class Line(NamedTuple):
    """A record of a session: its kind, what writes it around a word, and whose words it holds."""

    kind: Kind
    write: Callable[[Transcript, str], Record]
    role: str | None = None
    tool: str | None = None
    agent: str | None = None
    is_error: bool = False


class Probed(NamedTuple):
    """The records that were written, and what searches them."""

    engine: Engine
    records: dict[str, Record]


def marker(name: str) -> str:
    """Return a word for a probe: the same every time, no form of another, and in no language."""
    digest = hashlib.sha256(name.encode()).digest()
    return "q" + "".join(_LETTERS[byte % 16] for byte in digest[:9]) + "q"


@contextmanager
def searched(directory: Path, write: Callable[[Home], Any]) -> Iterator[Engine]:
    """Write a home, index it, and give what searches it."""
    home = Home(directory / "claude")
    write(home)
    with Engine(directory / "index", [home.root]) as engine:
        engine.index()
        yield engine


def write_lines(home: Home, lines: Mapping[str, Line]) -> dict[str, Record]:
    """Write the lines into one session, a prompt before each so that none leans on another; return the records."""
    transcript = home.session(SESSION)
    written: dict[str, Record] = {}
    for name, line in lines.items():
        transcript.prompt(f"next comes {len(written)}")
        written[name] = line.write(transcript, marker(name))
    return written


def only(engine: Engine, words: str) -> Result:
    """Return the only part that answers a question."""
    (found,) = every(engine, words)
    return found


def every(engine: Engine, words: str, limit: int = 50) -> list[Result]:
    """Return all parts that answer a question, best first."""
    return list(engine.search(words, limit, group="none", thread=0).results)


def texts(engine: Engine, words: str) -> list[str]:
    """Return the texts that answer a question, best first."""
    return [result.best.stored.part.text for result in every(engine, words)]


def state(record_type: str, **fields: Any) -> Callable[[Transcript, str], Record]:
    """Write a line without uuid, with the word in place of each None."""

    def write(transcript: Transcript, word: str) -> Record:
        told = {key: word if value is None else value for key, value in fields.items()}
        return transcript.line({"type": record_type, "sessionId": transcript.session, **told})

    return write
