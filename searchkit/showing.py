"""What is shown around one record: turns of its thread, agents inside it, fixes, and what more there is."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from searchkit.agents import MOST_DEPTH, is_inline, own_records, started
from searchkit.backends.base import Backend, Node, Step
from searchkit.conversations import Agent, Break, Conversation, Entry, Folded, Inside
from searchkit.fixes import fixes
from searchkit.thread import read, thread
from searchkit.types import Kind
from searchkit.window import broken, entries, shown, steps_of, turns

# The call of each agent that is to be shown inside the conversation.
Started = Mapping[str, Agent]


def conversation(
    backend: Backend, uuid: str, before: int, after: int, is_full: bool = False, with_agents: bool = False
) -> Conversation | None:
    """Return the turn that a record is in and so many before and after; None where there is no such record."""
    found = thread(backend, uuid)
    if found is None:
        return None
    here = next(node for node in found.nodes if node.uuid == uuid)
    several = list(turns(found.nodes))
    own = next(number for number, turn in enumerate(several) if here in turn)
    first, end = max(0, own - before), min(own + after + 1, len(several))
    hits = {step.key for step in here.steps}
    calls = started(backend, found.nodes) if with_agents else {}
    cut = [Break(reason=found.ending, record=found.nodes[0].uuid)] if found.ending and not first else []
    homes = {place.session for place in backend.links([uuid])[uuid].places if place.session}
    return Conversation(
        record=uuid,
        session=backend.headings([here.session]).get(here.session) if here.session else None,
        entries=[*cut, *_entries(backend, several[first:end], hits, is_full, calls)],
        earlier=first,
        later=len(several) - end,
        branches=found.branches,
        above=found.above,
        fixes=fixes(backend, steps_of(found.nodes), {step.key for step in steps_of(several[own])}, hits),
        also_in=sorted(homes - {here.session}),
        left_at=found.left_at,
    )


def _entries(
    backend: Backend,
    several: Sequence[Sequence[Node]],
    hits: Collection[int],
    is_full: bool,
    calls: Started,
    within: frozenset[str] = frozenset(),
) -> Iterator[Entry]:
    """Yield what is shown of turns, with the agents that were started in them."""
    for turn in several:
        yield from broken(turn)
        steps = steps_of(turn)
        chosen: Sequence[Step | Folded] = steps if is_full else shown(steps, hits)
        keys = [one.key for one in chosen if isinstance(one, Step)]
        texts = dict(zip(keys, backend.stored(keys), strict=True))
        for one in chosen:
            yield from entries([one], hits, texts)
            yield from _inside(backend, one.steps if isinstance(one, Folded) else [one], is_full, calls, within)


def _inside(
    backend: Backend, steps: Sequence[Step], is_full: bool, calls: Started, within: frozenset[str]
) -> Iterator[Inside]:
    """Yield what the agents did that were started by calls; none is shown inside itself."""
    for step in steps:
        agent = calls.get(step.call or "") if step.kind is Kind.TOOL_CALL else None
        if agent is None or agent.name in within or len(within) == MOST_DEPTH:
            continue
        records = own_records(backend, agent)
        told = read(backend, records[0].uuid if records else agent.name)
        nodes = [node for node in told if node.agent == agent.name or is_inline(node)]
        inner = _entries(backend, list(turns(nodes)), (), is_full, calls, within | {agent.name})
        yield Inside(agent=agent, entries=list(inner))
