"""What is shown around one record: turns of its thread, agents inside it, fixes, and what more there is."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from searchkit.backends.base import Catalog, Node, Step
from searchkit.conversation.excerpt import excerpt
from searchkit.conversation.fixes import fixes
from searchkit.conversation.subagents import MOST_DEPTH, is_inline, own_records, started
from searchkit.conversation.thread import read
from searchkit.conversation.turns import broken, entries, shown, steps_of, turns
from searchkit.conversation.types import Agent, Break, Conversation, Entry, Folded, Inside
from searchkit.types import Kind

# The agents that are to be shown inside the conversation, by the calls that started them.
Started = Mapping[str, Sequence[Agent]]


def conversation(
    catalog: Catalog, uuid: str, before: int, after: int, is_full: bool = False, with_agents: bool = False
) -> Conversation | None:
    """Return the turn that a record is in and so many before and after; None where there is no such record."""
    found = excerpt(catalog, uuid, before, after)
    if found is None:
        return None
    here, thread = found.here, found.thread
    hits = {step.key for step in here.steps}
    calls = started(catalog, thread.nodes, found.has_inline) if with_agents else {}
    cut = [Break(reason=thread.ending, record=thread.nodes[0].uuid)] if thread.ending and not found.earlier else []
    homes = {place.session for place in catalog.links([uuid])[uuid].places if place.session}
    return Conversation(
        record=uuid,
        session=catalog.headings([here.session]).get(here.session) if here.session else None,
        entries=[*cut, *_entries(catalog, found.turns, hits, is_full, calls)],
        earlier=found.earlier,
        later=found.later,
        branches=thread.branches,
        above=thread.above,
        fixes=fixes(catalog, steps_of(found.near), {step.key for step in steps_of(found.turns[found.own])}, hits),
        also_in=sorted(homes - {here.session}),
        left_at=thread.left_at,
    )


def _entries(
    catalog: Catalog,
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
        texts = dict(zip(keys, catalog.stored(keys), strict=True))
        for one in chosen:
            yield from entries([one], hits, texts)
            yield from _inside(catalog, one.steps if isinstance(one, Folded) else [one], is_full, calls, within)


def _inside(
    catalog: Catalog, steps: Sequence[Step], is_full: bool, calls: Started, within: frozenset[str]
) -> Iterator[Inside]:
    """Yield what the agents did that were started by calls; none is shown inside itself."""
    made = [step.call or "" for step in steps if step.kind is Kind.TOOL_CALL]
    for agent in (agent for call in made for agent in calls.get(call, ())):
        if agent.name in within or len(within) == MOST_DEPTH:
            continue
        records = own_records(catalog, agent)
        told = read(catalog, records[0].uuid if records else agent.name)
        nodes = [node for node in told if node.agent == agent.name or is_inline(node)]
        inner = _entries(catalog, list(turns(nodes)), (), is_full, calls, within | {agent.name})
        yield Inside(agent=agent, entries=list(inner))
