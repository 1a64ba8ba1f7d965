"""Asks labelled questions and measures how well they were answered."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from searchkit.errors import UsageError
from searchkit.search.types import Answer

FORM = (
    'a line is {"query": "...", "gold": [ids of messages], "sessions"?: [ids], "type"?: "...", "lang"?: "...", "id"?}'
)


class Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """A question, the messages that answer it, and their sessions; figures are told by type and by language."""

    query: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...] = ()
    type: str | None = None
    lang: str | None = None
    id: str | int | None = None


def read(path: Path) -> list[Labelled]:
    """Read all questions of a file; what is wrong is told with its line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", f"name a file of JSON lines: {FORM}") from error
    found = list(_questions(path, lines))
    if not found:
        raise UsageError(f"{path} holds no questions", FORM)
    return found


def _questions(path: Path, lines: list[bytes]) -> Iterator[Labelled]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = msgspec.json.decode(line, type=Labelled)
        except msgspec.ValidationError as error:
            raise UsageError(f"{path}:{number}: {error}", FORM) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}:{number} is not JSON: {error}", FORM) from error
        if not found.query.strip() or not found.gold:
            lacking = "gold names no message" if found.query.strip() else "the query is empty"
            raise UsageError(f"{path}:{number}: {lacking}", FORM)
        yield found if found.id is not None else msgspec.structs.replace(found, id=number)


# How well questions were answered, as others measure it, too: shares of right messages and sessions, in percent.


ALL = "ALL"
# The columns before that of all that counts.
FIRST, FEW = 1, 5


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A question with what was found, best first: for each hit its message and its session."""

    question: Labelled
    messages: Sequence[str]
    sessions: Sequence[str | None]


class Measures(msgspec.Struct, frozen=True, kw_only=True):
    """How well: a right answer came first, among the first five, among those that count; how many of all right ones
    did; how near to the top the first one was (the mean of 1 / its place); and nDCG, which rewards all of that.
    """

    first: float
    few: float
    hit: float
    recall: float
    reciprocal: float
    gain: float


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The means over the questions of a type or of a language, or over all."""

    name: str
    questions: int
    message: Measures
    session: Measures


def rows(answered: Iterable[Answered], depth: int) -> list[Row]:
    """Measure answers by type and language, and over all, by so many of the first messages and sessions."""
    gathered: dict[str, list[tuple[Measures, Measures]]] = defaultdict(list)
    for one in answered:
        message = measure(one.messages, set(one.question.gold), depth)
        session = measure(one.sessions, set(one.question.sessions), depth)
        for name in (one.question.lang, one.question.type, ALL):
            if name:
                gathered[name].append((message, session))
    return [
        Row(
            name=name,
            questions=len(gathered[name]),
            message=_mean([message for message, _ in gathered[name]]),
            session=_mean([session for _, session in gathered[name]]),
        )
        for name in sorted(gathered, key=lambda one: (one == ALL, one))
    ]


def measure(found: Sequence[str | None], right: set[str], depth: int) -> Measures:
    """Measure one answer; of what was found several times the first counts."""
    distinct = list(dict.fromkeys(found))[:depth]
    places = [place for place, one in enumerate(distinct, 1) if one in right]
    first = places[0] if places else math.inf
    ideal = sum(_discount(place) for place in range(1, min(len(right), depth) + 1))
    return Measures(
        first=100.0 * (first <= FIRST),
        few=100.0 * (first <= FEW),
        hit=100.0 * (first <= depth),
        recall=100 * len(places) / (len(right) or 1),
        reciprocal=100 / first,
        gain=100 * sum(map(_discount, places)) / (ideal or 1),
    )


def _discount(place: int) -> float:
    return 1 / math.log2(place + 1)


def _mean(several: Sequence[Measures]) -> Measures:
    columns = zip(*(msgspec.structs.astuple(one) for one in several), strict=True)
    means = (sum(column) / len(several) for column in columns)
    return Measures(**dict(zip(Measures.__struct_fields__, means, strict=True)))


# Asks labelled questions, one after the other, and keeps what is needed to say how well they were answered.

# So many times as many hits are asked for as count, since several can be of one message.
HITS = 3


def homed(questions: Iterable[Labelled], homes: Mapping[str, str | None]) -> list[Labelled]:
    """Name the sessions of right messages where the questions do not."""
    return [
        one
        if one.sessions
        else replace(one, sessions=tuple({home: None for id in one.gold if (home := homes.get(id))}))
        for one in questions
    ]


def answered(ask: Callable[[str], Answer], questions: Sequence[Labelled]) -> Iterator[Answered]:
    """Ask everything."""
    for question in questions:
        found = [one.best.stored for one in ask(question.query).results]
        yield Answered(
            question=question,
            messages=[stored.part.uuid for stored in found],
            sessions=[stored.link.places[0].session for stored in found],
        )
