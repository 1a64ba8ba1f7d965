"""The conversation around a record, as a person would want to read it, out of the catalog alone.

Of a long conversation, what its ways depend on is read, and gaps are left in between.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from msgspec.structs import replace

from searchkit.backends.base import Catalog, Extent, Gap, Node, Survey
from searchkit.conversation.graph import Graph, back, graph, is_turning, on, under
from searchkit.conversation.subagents import above, is_inline, sidechains, strays
from searchkit.conversation.types import Agent, Branch, Reason, Thread
from searchkit.types import Fact, Kind

# Lines that name the record with which a conversation goes on when it is reopened.
NAMING = ("last-prompt", "summary")


class Ways(NamedTuple):
    """All ways through a conversation; what lies in gaps, known by the key of the record after, is left out."""

    found: Graph
    gaps: Mapping[int, Gap] = {}
    survey: Survey | None = None


class Walk(NamedTuple):
    """A way from the root through a record to the newest leaf, and all that belongs to it, in the order of reading."""

    start: int
    way: Sequence[int]
    members: Sequence[int]


def thread(catalog: Catalog, uuid: str) -> Thread | None:
    """Return the thread of a record; None where there is no such record."""
    key = catalog.record(uuid)
    if key is None:
        return None
    ways = Ways(_loaded(catalog, uuid, key))
    found = described(catalog, ways, walk(ways.found, key), key)
    return replace(found, strays=strays_beside(catalog, ways.found.nodes[key]))


def described(catalog: Catalog, ways: Ways, walked: Walk, key: int) -> Thread:
    """Tell the way that a record is on, with gaps where there are some: where else it leads, and whose work it is.

    Strays are not looked for.
    """
    found = ways.found
    here = found.nodes[key]
    start, way, members = walked
    inline = sidechains(catalog, found.nodes.values()) if is_inline(here) else {}
    return Thread(
        record=here.uuid,
        nodes=[found.nodes[one] for one in members],
        branches=[
            *_branches(ways, members),
            *_beginnings(ways, members),
            *_forks(catalog, found, members, here.session or ""),
        ],
        above=above(catalog, found.nodes[way[0]] if is_inline(here) else here, inline),
        ending=_ending(found, way[0]),
        left_at=_left_at(found, way[: way.index(start) + 1]),
    )


def strays_beside(catalog: Catalog, here: Node) -> Sequence[Agent]:
    """Return the agents that no call is known to have started, of the session that a record is of."""
    return strays(catalog, here.session) if here.session and here.agent is None else ()


def read(catalog: Catalog, uuid: str) -> list[Node]:
    """Return the records of a thread alone, without where else it leads and whose work it is."""
    key = catalog.record(uuid)
    if key is None:
        return []
    found = _loaded(catalog, uuid, key)
    return [found.nodes[one] for one in walk(found, key).members]


def loaded(catalog: Catalog, uuid: str, key: int) -> Ways:
    """Load the conversation of a record, all of it."""
    return Ways(_loaded(catalog, uuid, key))


def sketched(survey: Survey, spans: Sequence[Gap] = ()) -> Ways:
    """Load a conversation with gaps, but none on these lines."""
    sketch = survey.sketch(spans)
    return Ways(graph(sketch.nodes, sketch.leaves), sketch.gaps, survey)


def leads_elsewhere(found: Graph, key: int) -> bool:
    """Say whether the way back from a record leads to another session; an agent's conversation is its own."""
    first = [key, *back(found, key)][-1]
    return found.above.get(first, first) not in found.nodes and found.nodes[key].agent is None


def unabridged(ways: Ways, members: Sequence[int]) -> Iterator[Node]:
    """Yield the records of a way, and what lies in its gaps, which is read some of it at a time."""
    for key in members:
        if key in ways.gaps and ways.survey is not None:
            for piece in ways.survey.pieces(ways.gaps[key]):
                yield from _between(piece)
                last = piece[-1]
                if last.key != key:
                    yield last
        yield ways.found.nodes[key]


def _between(piece: Sequence[Node]) -> Iterator[Node]:
    """Yield what lies between the first and the last record of a piece, in the order of reading."""
    found, ends = graph(piece), {piece[0].key, piece[-1].key}
    way = [*reversed(list(back(found, piece[-1].key))), piece[-1].key]
    yield from (found.nodes[key] for key in dict.fromkeys(told(found, way)) if key not in ends)


def leaves(facts: Iterable[Fact]) -> dict[str, int]:
    """Return the records that a session was said to go on with, and the line on which that was said."""
    return {fact.leaf: fact.line for fact in facts if fact.leaf and fact.name in NAMING and fact.agent is None}


def _loaded(catalog: Catalog, uuid: str, key: int) -> Graph:
    """Load the session or the agent that a record is of, and the sessions that its way back leads through.

    An agent's transcript is a conversation of its own, also where its first record hangs below one of the session.
    """
    home = catalog.links([uuid])[uuid].places[0]
    several = catalog.members(home.session, home.agent) if home.session else []
    nodes = {node.key: node for node in several}
    if key not in nodes:
        nodes = {node.key: node for node in catalog.transcript(key)}
    named = leaves(catalog.facts(home.session, NAMING) if home.session and home.agent is None else ())
    while True:
        found = graph(nodes.values(), named)
        beyond = found.above.get([key, *back(found, key)][-1])
        if beyond is None or beyond in nodes or home.agent is not None:
            return found
        nodes |= {node.key: node for node in catalog.transcript(beyond)}


def walk(found: Graph, key: int) -> Walk:
    """Walk the way that a record belongs to, or through the record itself if that one goes past it."""
    walked = _through(found, _start(found, key))
    # Where a chain is torn, the result of a call may begin a way of its own.
    return walked if key in walked.members else _through(found, key)


def _through(found: Graph, start: int) -> Walk:
    way = [*reversed(list(back(found, start))), start, *on(found, start)]
    return Walk(start, way, list(dict.fromkeys(told(found, way))))


def _start(found: Graph, key: int) -> int:
    """Return the record from which the way goes on that a record belongs to.

    The result of one of several parallel calls, or an aside, leads nowhere; its call, or another call of
    the same response, does.
    """
    seen: set[int] = set()
    while key not in seen:
        seen.add(key)
        last = max(_exchange(found, key, {}), key=lambda one: found.reach[one])
        if found.reach[last] > found.reach[key]:
            key = last
        elif key not in found.leading:
            before = found.above.get(key, -1)
            is_before = before in found.nodes and found.nodes[before].file == found.nodes[key].file
            key = before if is_before else key
    return key


def told(found: Graph, way: Sequence[int]) -> Iterator[int]:
    """Yield what belongs to a way, in the order of reading: responses whole, each call before its result, asides."""
    on_way = {key: number for number, key in enumerate(way)}
    seen: set[int] = set()
    for key in way:
        if key in seen:
            continue
        several = list(dict.fromkeys(_exchange(found, key, on_way)))
        seen.update(several)
        yield from several
        for one in several:
            for child in found.below.get(one, ()):
                if child in on_way or child in seen or child in found.leading:
                    continue
                aside = list(under(found, child))
                if seen.isdisjoint(aside):
                    seen.update(aside)
                    yield from aside


def _exchange(found: Graph, key: int, on_way: Mapping[int, int]) -> Iterator[int]:
    """Yield the records of the response that a record is of, each with the results of its calls."""
    node = found.nodes[key]
    response = (node.file, node.response) if node.response is not None else None
    blocks = found.responses.get(response, (key,)) if response else (key,)
    if on_way.keys() >= set(blocks):
        # Lines may be swapped; the way is not.
        blocks = sorted(blocks, key=on_way.__getitem__)
    known = {call for block in blocks for call in _calls(found.nodes[block])}
    for block in blocks:
        yield block
        for call in _calls(found.nodes[block]):
            yield from (one for one in found.answers.get(call, ()) if found.nodes[one].file == node.file)
        if found.nodes[block].type == "assistant":
            # A call without input and a blank result make no part that could tell which belongs to which.
            yield from (one for one in found.below.get(block, ()) if _is_result(found.nodes[one], known))


def _calls(node: Node) -> list[str]:
    return [step.call for step in node.steps if step.kind is Kind.TOOL_CALL and step.call]


def _is_result(node: Node, known: AbstractSet[str]) -> bool:
    """Say whether a record below a response holds a result that is of none of these calls."""
    results = all(step.kind is Kind.TOOL_RESULT and step.call not in known for step in node.steps)
    return node.type == "user" and results


def _branches(ways: Ways, told: Sequence[int]) -> Iterator[Branch]:
    """Yield the other ways that lead off what is told."""
    found, inside = ways.found, set(told)
    for key in told:
        for child in found.below.get(key, ()):
            several = [] if child in inside else [one for one in under(found, child) if one not in inside]
            if any(is_turning(found.nodes[one]) for one in several):
                yield _branch(ways, found.nodes[key].uuid, several, is_left(found, key, child))


def _beginnings(ways: Ways, told: Sequence[int]) -> Iterator[Branch]:
    """Yield the ways of the same conversation that lead off nothing; what only a cycle leads to begins anywhere."""
    found = ways.found
    where = (found.nodes[told[0]].agent, is_inline(found.nodes[told[0]]))
    own = [key for key, node in found.nodes.items() if (node.agent, is_inline(node)) == where and not where[1]]
    reached = set(under(found, *told))
    newest = max((found.reach[key] for key in own), default=0)
    for key in sorted(own, key=lambda key: found.above.get(key) in found.nodes):
        if key not in reached:
            several = [one for one in under(found, key) if one not in reached]
            reached.update(several)
            yield _branch(ways, None, several, found.reach[key] < newest)


def _branch(ways: Ways, at: str | None, several: Sequence[int], is_abandoned: bool) -> Branch:
    extent = _extent(ways, several)
    first = ways.found.nodes[several[0]].uuid
    return Branch(at=at, first=first, records=extent.records, ended=extent.ended, is_abandoned=is_abandoned)


def _extent(ways: Ways, several: Sequence[int]) -> Extent:
    """Count records, and those in the gaps before them, and say when the last was written."""
    times = [time for one in several if (time := ways.found.nodes[one].time)]
    gaps = [ways.gaps[one] for one in several if one in ways.gaps]
    missing = ways.survey.extent(gaps) if ways.survey and gaps else Extent(records=0)
    times += [missing.ended] if missing.ended else []
    return Extent(records=len(several) + missing.records, ended=max(times, default=None))


def _forks(catalog: Catalog, found: Graph, told: Sequence[int], session: str) -> Iterator[Branch]:
    """Yield the ways that go on in other sessions."""
    others: dict[str, Ways] = {}
    for node in catalog.offspring(told, session):
        start = found.nodes[node.parent] if node.parent is not None else None
        if start is None or node.key in found.nodes or node.session is None:
            continue
        if node.session not in others:
            others[node.session] = _elsewhere(catalog, node)
        own = others[node.session]
        several = list(under(own.found, node.key)) if node.key in own.found.nodes else []
        extent = _extent(own, several) if several else Extent(records=1, ended=node.time or None)
        yield Branch(at=start.uuid, first=node.uuid, records=extent.records, ended=extent.ended, session=node.session)


def _elsewhere(catalog: Catalog, node: Node) -> Ways:
    """Load the session that a record is of, with gaps where it is long."""
    survey = catalog.survey(node.key) if node.agent is None else None
    if survey is not None:
        return sketched(survey)
    return Ways(graph(one for one in catalog.members(node.session or "") if one.session == node.session))


def _ending(found: Graph, first: int) -> Reason | None:
    """Say why there is nothing before the first record of a way, if there should be."""
    if found.nodes[first].parent is not None:
        return Reason.CYCLE
    return Reason.MISSING if found.nodes[first].missing else None


def _left_at(found: Graph, way: Sequence[int]) -> str | None:
    """Return the last record of a way after which the conversation went on elsewhere."""
    for key, child in zip(reversed(way[:-1]), reversed(way[1:]), strict=True):
        if is_left(found, key, child):
            return found.nodes[key].uuid
    return None


def is_left(found: Graph, key: int, child: int) -> bool:
    """Say whether the conversation later went on another way from a record, or ended there."""
    later = max(found.ends.get(key, 0), found.latest.get((key, found.nodes[child].file), 0))
    return later > found.reach[child]
