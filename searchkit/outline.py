"""A whole session, turn by turn: every way through it, and what its agents did."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from searchkit.agents import MOST_DEPTH, agents_of, is_inline, own_records, sidechains
from searchkit.backends.base import Backend, Node, Step, Stored
from searchkit.conversations import Agent, Outline, Reason, Strand, Turn, Work
from searchkit.fixes import CHANGING
from searchkit.graph import Graph, graph, on, under
from searchkit.questions import Condition, Filter
from searchkit.thread import is_left, leaves, told
from searchkit.types import Fact, Figures, Grouping, Kind, Touch
from searchkit.window import steps_of, turns


class _Way(NamedTuple):
    """A way through a session before its turns are told, and the record that it leads off."""

    keys: Sequence[int]
    at: int | None


class _Sketch(NamedTuple):
    """A turn before its texts are fetched."""

    nodes: Sequence[Node]
    asked: Step | None
    outcome: Step | None
    steps: Sequence[Step]


# The work of agents by the record that called them.
_Works = Mapping[str, Sequence[Work]]


def outline(backend: Backend, session: str) -> Outline | None:
    """Return the outline of a session; None where there is no such session."""
    named = backend.named([session])
    if session not in named:
        return None
    facts = backend.facts(session)
    agents = agents_of(backend, session, backend.agents(session))
    callers = backend.links([agent.caller for agent in agents if agent.caller])
    inside: dict[str | None, list[Agent]] = {}
    for agent in agents:
        home = callers[agent.caller].places[0] if agent.caller and agent.caller in callers else None
        inside.setdefault(home.agent if home and home.session == session else agent.name, []).append(agent)
    nodes = backend.members(session)
    inline = _inline(backend, nodes)
    condition = Condition(filters=(Filter(name="session", values=(session,)),))
    figures = backend.figures(condition, (Grouping.TOTAL, Grouping.MODEL))
    told_inside: set[str] = set()
    works = _works(backend, inside, None, told_inside)
    for work in inline:
        works.setdefault(work.agent.caller or "", []).append(work)
    return Outline(
        session=named[session],
        strands=_strands(backend, session, [node for node in nodes if not is_inline(node)], leaves(facts), works),
        agents=[*works.get("", ()), *(_work(backend, one, {}) for one in agents if one.name not in told_inside)],
        figures=next(iter(figures[Grouping.TOTAL].values()), Figures()),
        models=sorted(filter(None, figures[Grouping.MODEL])),
        files=_files(steps_of(nodes)),
        facts=_latest(facts),
    )


def _works(
    backend: Backend, inside: Mapping[str | None, Sequence[Agent]], name: str | None, told: set[str], depth: int = 0
) -> dict[str, list[Work]]:
    """Tell what the agents did that a session or one of its agents started, and those that they started."""
    works: dict[str, list[Work]] = {}
    for agent in inside.get(name, ()):
        if agent.caller and agent.name not in told and depth < MOST_DEPTH:
            told.add(agent.name)
            work = _work(backend, agent, _works(backend, inside, agent.name, told, depth + 1))
            works.setdefault(agent.caller, []).append(work)
    return works


def _inline(backend: Backend, nodes: Sequence[Node]) -> list[Work]:
    """Tell what the agents did whose records stand in the session's own file."""
    own = [node for node in nodes if is_inline(node)]
    found = graph(own)
    known = sidechains(backend, nodes) if own else {}
    beginnings = [key for key in found.nodes if found.above.get(key) not in found.nodes]
    works = []
    for key in beginnings:
        first = found.nodes[key]
        agent = known.get(first.uuid) or Agent(name=first.uuid, session=first.session or "")
        works.append(
            Work(
                agent=agent,
                strands=_strands(backend, agent.session, [found.nodes[one] for one in under(found, key)], {}, {}),
            )
        )
    return works


def _work(backend: Backend, agent: Agent, works: _Works) -> Work:
    return Work(agent=agent, strands=_strands(backend, agent.session, own_records(backend, agent), {}, works))


def _strands(
    backend: Backend, session: str, nodes: Sequence[Node], named: Mapping[str, int], works: _Works
) -> list[Strand]:
    """Tell the ways through the records of one conversation; each record is on one of them."""
    found = graph(nodes, named)
    ways = list(_ways(found))
    several = [[_sketch(turn) for turn in turns(found.nodes[key] for key in way.keys)] for way in ways]
    keys = sorted({step.key for way in several for turn in way for step in (turn.asked, turn.outcome) if step})
    texts = dict(zip(keys, backend.stored(keys), strict=True))
    leading_off = _forks(backend, found, session)
    roots: list[Strand] = []
    # A way is found before those that lead off it, so these are told first.
    for way, sketches in zip(reversed(ways), reversed(several), strict=True):
        strand = Strand(
            turns=[_turn(sketch, texts, works, leading_off) for sketch in sketches],
            ending=_ending(found, way.keys[0]) if way.at is None else None,
            is_abandoned=way.at is not None and is_left(found, way.at, way.keys[0]),
        )
        (roots if way.at is None else leading_off.setdefault(way.at, [])).insert(0, strand)
    return roots


def _ways(found: Graph) -> Iterator[_Way]:
    """Yield the ways from each beginning, and those that lead off them; what only a cycle leads to begins anywhere."""
    seen: set[int] = set()
    beginnings = [key for key in found.nodes if found.above.get(key) not in found.nodes]
    waiting: deque[tuple[int, int | None]] = deque((key, None) for key in (*beginnings, *found.nodes))
    while waiting:
        start, at = waiting.popleft()
        if start in seen:
            continue
        keys = [key for key in dict.fromkeys(told(found, [start, *on(found, start)])) if key not in seen]
        seen.update(keys)
        yield _Way(keys, at)
        # Before all else: a record that leads off this way must not be taken for a beginning.
        waiting.extendleft((child, key) for key in reversed(keys) for child in reversed(found.below.get(key, ())))


def _sketch(nodes: Sequence[Node]) -> _Sketch:
    steps = steps_of(nodes)
    opening = {Kind.SUMMARY} if nodes[0].is_boundary else ()
    asked = next((step for step in steps if step.is_typed or step.kind in opening), None)
    texts = [step for step in steps if step.kind is Kind.TEXT]
    return _Sketch(nodes, asked, texts[-1] if texts else None, [step for step in steps if step is not asked])


def _turn(
    sketch: _Sketch,
    texts: Mapping[int, Stored | None],
    works: _Works,
    leading_off: Mapping[int, Sequence[Strand]],
) -> Turn:
    first = sketch.nodes[0]
    return Turn(
        record=first.uuid,
        time=first.time,
        asked=texts.get(sketch.asked.key) if sketch.asked else None,
        steps=[step for step in sketch.steps if step is not sketch.outcome],
        outcome=texts.get(sketch.outcome.key) if sketch.outcome else None,
        is_compacted=first.is_boundary,
        agents=[work for node in sketch.nodes for work in works.get(node.uuid, ())],
        branches=[strand for node in sketch.nodes for strand in leading_off.get(node.key, ())],
    )


def _forks(backend: Backend, found: Graph, session: str) -> dict[int, list[Strand]]:
    """Return the ways that go on in other sessions, by the record that they lead off."""
    forks: dict[int, list[Strand]] = {}
    for node in backend.offspring(list(found.nodes), session):
        start = found.nodes.get(node.parent) if node.parent is not None else None
        if start is not None and node.key not in found.nodes:
            forks.setdefault(start.key, []).append(Strand(turns=(), session=node.session))
    return forks


def _ending(found: Graph, first: int) -> Reason | None:
    """Say why a way begins where it does, if that is no beginning."""
    if found.nodes[first].parent in found.nodes:
        return Reason.CYCLE
    return Reason.MISSING if found.nodes[first].missing else None


def _files(steps: Sequence[Step]) -> list[Touch]:
    """Return the files that calls touched, those that were changed first, each with the strongest thing done to it."""
    actions: dict[str, str] = {}
    for step in steps:
        if step.path:
            action = ("write" if step.tool == "Write" else "edit") if step.tool in CHANGING else "read"
            actions[step.path] = action if action != "read" else actions.get(step.path, action)
    touched = [Touch(path=path, action=action) for path, action in actions.items()]
    return sorted(touched, key=lambda touch: (touch.action == "read", touch.path))


def _latest(facts: Sequence[Fact]) -> dict[str, str]:
    """Return what is known of a session itself: of each fact the one that was said last."""
    ordered = sorted((fact for fact in facts if fact.agent is None), key=lambda fact: fact.line)
    return {fact.name: fact.value for fact in ordered}
