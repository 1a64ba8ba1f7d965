"""All ways through a session, one after the other: each with the turn that it leaves from, and whose it is."""

from collections.abc import Iterable, Iterator

import msgspec

from searchkit.conversation.steps import count_steps
from searchkit.conversation.types import Agent, Outline, Strand, Turn, Work


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """A strand in its place: the turn that it leaves from, or that its agent was started in, and the agent."""

    strand: Strand
    at: str | None = None
    agent: Agent | None = None
    depth: int = 0


def ways(outline: Outline) -> Iterator[Way]:
    """Yield every strand of a session and of its agents, each before those that leave from it, however deep."""
    waiting = [Way(strand=strand) for strand in outline.strands]
    waiting += [Way(strand=strand, agent=work.agent) for work in outline.agents for strand in work.strands]
    waiting.reverse()
    while waiting:
        way = waiting.pop()
        yield way
        waiting += reversed([below for turn in way.strand.turns for below in _leaving(turn, way)])


def _leaving(turn: Turn, way: Way) -> Iterator[Way]:
    for work in turn.agents:
        for strand in work.strands:
            yield Way(strand=strand, at=turn.record, agent=work.agent, depth=way.depth + 1)
    for strand in turn.branches:
        yield Way(strand=strand, at=turn.record, agent=way.agent, depth=way.depth + 1)


def steps(turns: Iterable[Turn]) -> int:
    """Count what was done in some turns."""
    return sum(count_steps(turn.steps) for turn in turns)


def beginning(work: Work) -> str | None:
    """Return the first record of what an agent did, if anything is known of it."""
    return next((turn.record for strand in work.strands for turn in strand.turns), None)
