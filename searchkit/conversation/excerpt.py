"""Some turns of a conversation, however long that is: read are these, and what its ways depend on."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from searchkit.backends.base import Catalog, Gap, Node, Step, Survey
from searchkit.conversation import fixes
from searchkit.conversation.subagents import MOST_DEPTH, is_inline, own_records, started
from searchkit.conversation.thread import (
    Walk,
    Ways,
    described,
    leads_elsewhere,
    loaded,
    read,
    sketched,
    strays_beside,
    unabridged,
    walk,
)
from searchkit.conversation.turns import broken, entries, shown, steps_of, turns
from searchkit.conversation.types import Agent, Break, Conversation, Entry, Folded, Inside, Thread
from searchkit.types import Kind

# Lines before and after the turns that are wanted: a response or a result may reach over what was typed meanwhile.
MARGIN_LINES = 32
# Lines that are read where more turns are wanted than were thought to be there, twice as many each time.
MORE_LINES = 64
# Among so many lines there are as many results as are looked at for fixes, most of the time.
FIXES_LINES = 5 * fixes.FAR_RESULTS


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """Turns around a record, and how many more there are before and after them on its way.

    The thread may have gaps, but not among the turns. `own` is the number of the record's turn among them, and
    `near` what was read around it without a gap. Without inline records no agent speaks in the session's own file.
    """

    here: Node
    thread: Thread
    turns: Sequence[Sequence[Node]]
    own: int
    earlier: int
    later: int
    near: Sequence[Node]
    has_inline: bool


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation: what is known of it, where the records of the thread may have gaps, and all of its records."""

    here: Node
    thread: Thread
    nodes: Iterator[Node]
    has_inline: bool


class _Laid(msgspec.Struct, frozen=True, kw_only=True):
    """A way that was read, in turns; the gaps nearest to the record come before the records `first` and `end`."""

    ways: Ways
    walked: Walk
    key: int
    turns: Sequence[Sequence[Node]]
    own: int
    near: Sequence[Node]
    first: int | None
    end: int | None


def excerpt(catalog: Catalog, uuid: str, before: int, after: int) -> Excerpt | None:
    """Return the turn that a record is in and so many before and after it; None where there is no such record."""
    key = catalog.record(uuid)
    if key is None:
        return None
    survey = catalog.survey(key)
    laid = _read(survey, key, before, after) if survey is not None else None
    return _cut(catalog, laid or _laid(loaded(catalog, uuid, key), key), before, after)


def whole(catalog: Catalog, uuid: str) -> Whole | None:
    """Return a whole conversation, to be read once from its beginning; None where there is no such record."""
    key = catalog.record(uuid)
    if key is None:
        return None
    survey = catalog.survey(key)
    ways = sketched(survey, [survey.turns(0, 0)]) if survey is not None else None
    if ways is None or leads_elsewhere(ways.found, key):
        ways = loaded(catalog, uuid, key)
    walked = walk(ways.found, key)
    thread = described(catalog, ways, walked, key)
    return Whole(
        here=ways.found.nodes[key],
        thread=replace(thread, strays=strays_beside(catalog, ways.found.nodes[key])),
        nodes=unabridged(ways, walked.members),
        has_inline=ways.survey is None,
    )


def _read(survey: Survey, key: int, before: int, after: int) -> _Laid | None:
    """Read until nothing is missing; None where the way leads to another session."""
    guess = survey.turns(before, after)
    spans = [Gap(first=max(0, guess.first - MARGIN_LINES), last=guess.last + MARGIN_LINES)]
    lines = MORE_LINES
    while True:
        ways = sketched(survey, spans)
        if leads_elsewhere(ways.found, key):
            return None
        laid = _laid(ways, key)
        missing = _missing(laid, before, after, lines) or _unpaired(survey, laid, before, after)
        if not missing:
            return laid
        spans += missing
        lines *= 2


def _laid(ways: Ways, key: int) -> _Laid:
    walked = walk(ways.found, key)
    nodes = [ways.found.nodes[one] for one in walked.members]
    at = walked.members.index(key)
    first = next((number for number in range(at, -1, -1) if nodes[number].key in ways.gaps), None)
    end = next((number for number in range(at + 1, len(nodes)) if nodes[number].key in ways.gaps), None)
    several = list(turns(nodes))
    return _Laid(
        ways=ways,
        walked=walked,
        key=key,
        turns=several,
        own=next(number for number, turn in enumerate(several) if any(node.key == key for node in turn)),
        near=nodes[first:end],
        first=None if first is None else nodes[first].key,
        end=None if end is None else nodes[end].key,
    )


def _missing(laid: _Laid, before: int, after: int, lines: int) -> list[Gap]:
    """Return lines to be read: gaps among the turns that are wanted, and what a fix may be in."""
    begin, end = _bounds(laid, before, after)
    wanted = [node.key for turn in laid.turns[begin:end] for node in turn]
    own = {step.key for step in steps_of(laid.turns[laid.own])}
    hits = {step.key for step in laid.ways.found.nodes[laid.key].steps}
    lacks_before, lacks_after = fixes.lacks(steps_of(laid.near), own, hits)
    missing = []
    if laid.first is not None and ((is_wanted := laid.first in wanted[1:]) or lacks_before):
        gap, most = laid.ways.gaps[laid.first], lines if is_wanted else max(lines, FIXES_LINES)
        missing.append(Gap(first=max(gap.first, gap.last - most), last=gap.last))
    if laid.end is not None and ((is_wanted := laid.near[-1].key in wanted) or lacks_after):
        gap, most = laid.ways.gaps[laid.end], lines if is_wanted else max(lines, FIXES_LINES)
        missing.append(Gap(first=gap.first, last=min(gap.last, gap.first + most)))
    return missing


def _unpaired(survey: Survey, laid: _Laid, before: int, after: int) -> list[Gap]:
    """Return the lines of calls whose results are shown, and of results whose calls are, as far as none was read."""
    first, end = _bounds(laid, before, after)
    sides: dict[str, set[Kind]] = {}
    for step in (step for turn in laid.turns[first:end] for node in turn for step in node.steps):
        if step.call:
            sides.setdefault(step.call, set()).add(step.kind)
    alone = [call for call, kinds in sides.items() if len(kinds) == 1]
    read = {node.line for node in laid.ways.found.nodes.values()} if alone else set()
    return [Gap(first=line, last=line) for line in survey.lines(alone) if line not in read]


def _cut(catalog: Catalog, laid: _Laid, before: int, after: int) -> Excerpt:
    first, end = _bounds(laid, before, after)
    several = laid.turns
    return Excerpt(
        here=laid.ways.found.nodes[laid.key],
        thread=described(catalog, laid.ways, laid.walked, laid.key),
        turns=several[first:end],
        own=laid.own - first,
        # A gap before the first turn that is wanted is one of earlier turns.
        earlier=first + _hidden(laid.ways, [*several[:first], several[first][:1]]),
        later=len(several) - end + _hidden(laid.ways, several[end:]),
        near=laid.near,
        has_inline=laid.ways.survey is None,
    )


def _bounds(laid: _Laid, before: int, after: int) -> tuple[int, int]:
    return max(0, laid.own - before), min(laid.own + after + 1, len(laid.turns))


def _hidden(ways: Ways, several: Sequence[Sequence[Node]]) -> int:
    """Count the turns that begin in gaps."""
    gaps = [ways.gaps[node.key] for turn in several for node in turn if node.key in ways.gaps]
    return ways.survey.prompts(gaps) if ways.survey and gaps else 0


# A message inside its conversation.


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
        fixes=fixes.fixes(catalog, steps_of(found.near), {step.key for step in steps_of(found.turns[found.own])}, hits),
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
