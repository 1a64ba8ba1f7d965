"""Asks labelled questions, one after the other, and keeps what is needed to say how well they were answered."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from searchkit.search.labelled import Labelled
from searchkit.search.score import Answered
from searchkit.search.types import Answer

# So many times as many hits are asked for as count, since several can be of one message.
HITS = 3


def homed(questions: Iterable[Labelled], homes: Mapping[str, str | None]) -> list[Labelled]:
    """Name the sessions of right messages where whoever wrote the questions did not."""
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
