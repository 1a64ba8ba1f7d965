"""A whole session, turn by turn: every way through it, and what its agents did.

Of a way with very many turns, the first and the last are told. Others are not even read, where the session is long.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from searchkit.backends.base import Catalog, Gap, Node, Step, Stored, Survey
from searchkit.backends.prices import LIST, Price
from searchkit.conversation.graph import Graph, graph, on, under
from searchkit.conversation.subagents import MOST_DEPTH, agents_of, is_inline, own_records, sidechains
from searchkit.conversation.thread import Ways, is_left, leaves, sketched, told
from searchkit.conversation.turns import steps_of, turns
from searchkit.conversation.types import Agent, Outline, Reason, Strand, Turn, Work
from searchkit.query.types import Condition, Filter
from searchkit.sources.tools import file_action
from searchkit.text.secrets import mask
from searchkit.types import COST_STATE, TURN_DURATION, Fact, Figures, Grouping, Kind, Touch


class _Way(NamedTuple):
    """A way through a session before its turns are told, and the record that it leads off."""

    keys: Sequence[int]
    at: int | None


class _Told(NamedTuple):
    """A way of which some turns are told; so many are left out before one of them."""

    way: _Way
    turns: Sequence[Sequence[Node]]
    left_out: int = 0


class _Sketch(NamedTuple):
    """A turn before its texts are fetched."""

    nodes: Sequence[Node]
    asked: Step | None
    outcome: Step | None
    steps: Sequence[Step]


_NO_DURATIONS: Mapping[str, int] = {}
# The work of agents by the record that called them.
_Works = Mapping[str, Sequence[Work]]
# Of a way with more turns than both together, so many are told from its beginning and from its end. A day of work
# is some 100 turns; what was done last is asked for most.
FIRST_TURNS, LAST_TURNS = 100, 400


def outline(
    catalog: Catalog, session: str, is_full: bool = False, prices: Mapping[str, Price] = LIST
) -> Outline | None:
    """Return the outline of a session, with all turns of its ways if they are wanted; None where there is none."""
    named = catalog.named([session])
    if session not in named:
        return None
    facts = catalog.facts(session)
    agents = agents_of(catalog, session, catalog.agents(session))
    callers = catalog.links([agent.caller for agent in agents if agent.caller])
    inside: dict[str | None, list[Agent]] = {}
    for agent in agents:
        home = callers[agent.caller].places[0] if agent.caller and agent.caller in callers else None
        inside.setdefault(home.agent if home and home.session == session else agent.name, []).append(agent)
    survey = None if is_full else _surveyed(catalog, session)
    nodes = catalog.members(session) if survey is None else []
    own = [node for node in nodes if not is_inline(node)]
    ways = Ways(graph(own, leaves(facts))) if survey is None else sketched(survey)
    ways, chosen = _chosen(ways, is_full)
    condition = Condition(filters=(Filter(name="session", values=(session,)),))
    figures = catalog.figures(condition, (Grouping.TOTAL, Grouping.MODEL), prices)
    durations = _durations(facts)
    told_inside: set[str] = set()
    works = _works(catalog, inside, None, told_inside, 0, _shown(ways, chosen))
    for work in _inline(catalog, nodes):
        works.setdefault(work.agent.caller or "", []).append(work)
    return Outline(
        session=named[session],
        strands=_strands(catalog, session, ways.found, chosen, works, durations),
        agents=[*works.get("", ()), *(_work(catalog, one, {}) for one in agents if one.name not in told_inside)],
        figures=next(iter(figures[Grouping.TOTAL].values()), Figures()),
        models=sorted(filter(None, figures[Grouping.MODEL])),
        files=files(steps_of(nodes)) if survey is None else files(catalog.touching(session)),
        facts=_latest(facts),
        turns_ms=sum(durations.values()) or None,
    )


def files(steps: Iterable[Step]) -> list[Touch]:
    """Return the files that calls touched, those that were changed first, each with the strongest thing done to it."""
    actions: dict[str, str] = {}
    for step in steps:
        if step.path:
            action = file_action(step.tool) or "read"
            actions[step.path] = action if action != "read" else actions.get(step.path, action)
    touched = [Touch(path=mask(path), action=action) for path, action in actions.items()]
    return sorted(touched, key=lambda touch: (touch.action == "read", touch.path))


def turns_ms(catalog: Catalog, session: str) -> int | None:
    """Return how long the turns of a session took, of those that say so."""
    return sum(_durations(catalog.facts(session, (TURN_DURATION,))).values()) or None


def _surveyed(catalog: Catalog, session: str) -> Survey | None:
    """Survey a session that is long, by its last record."""
    tail = catalog.tail(session)
    return catalog.survey(tail.nodes[-1].key) if tail is not None and tail.nodes else None


def _chosen(ways: Ways, is_full: bool) -> tuple[Ways, list[_Told]]:
    """Choose the turns that are told; gaps among them are read until there are none."""
    spans: list[Gap] = []
    while True:
        missing: list[Gap] = []
        chosen: list[_Told] = []
        shown: set[int] = set()
        for way in _ways(ways.found):
            # What leads off a turn that is left out is left out with it.
            if way.at is None or way.at in shown:
                several = list(turns(ways.found.nodes[key] for key in way.keys))
                one, lacking = _picked(ways, way, several, is_full)
                chosen.append(one)
                missing += lacking
                shown.update(node.key for turn in one.turns for node in turn)
        if not missing or ways.survey is None:
            return ways, chosen
        spans += missing
        ways = sketched(ways.survey, spans)


def _picked(ways: Ways, way: _Way, several: Sequence[Sequence[Node]], is_full: bool) -> tuple[_Told, list[Gap]]:
    """Pick the first and the last turns of a way, or all of them; return also the lines that are missing for that."""
    keys = [(number, turn[0].key == node.key, node.key) for number, turn in enumerate(several) for node in turn]
    torn = [one for one in keys if one[2] in ways.gaps]
    gaps = [ways.gaps[key] for *_, key in torn]
    hidden = ways.survey.prompts(gaps) if ways.survey and gaps else 0
    if is_full or len(several) + hidden <= FIRST_TURNS + LAST_TURNS:
        return _Told(way, several), gaps
    missing = []
    if ways.survey and torn:
        # A gap before the first record of a turn tears the turn before it, one before another record that turn.
        number, is_first, _ = torn[0]
        if (lacking := FIRST_TURNS - (number - is_first)) > 0:
            missing.append(ways.survey.turns(0, lacking + 1, gaps[0].first))
        number, is_first, _ = torn[-1]
        if (lacking := LAST_TURNS - (len(several) - number - (not is_first))) > 0:
            missing.append(ways.survey.turns(lacking + 1, 0, gaps[-1].last))
    left_out = len(several) + hidden - FIRST_TURNS - LAST_TURNS
    return _Told(way, [*several[:FIRST_TURNS], *several[-LAST_TURNS:]], left_out), missing


def _shown(ways: Ways, chosen: Sequence[_Told]) -> AbstractSet[str] | None:
    """Return the records of turns that are told; None where all are."""
    if not ways.gaps and not any(one.left_out for one in chosen):
        return None
    return {node.uuid for one in chosen for turn in one.turns for node in turn}


def _works(
    catalog: Catalog,
    inside: Mapping[str | None, Sequence[Agent]],
    name: str | None,
    told: set[str],
    depth: int = 0,
    shown: AbstractSet[str] | None = None,
) -> dict[str, list[Work]]:
    """Tell what the agents did that a session or one of its agents started, and those that they started.

    Where only some records of the session are shown, agents that others started are passed over.
    """
    works: dict[str, list[Work]] = {}
    for agent in inside.get(name, ()):
        if agent.caller and agent.name not in told and depth < MOST_DEPTH:
            told.add(agent.name)
            if shown is not None and agent.caller not in shown:
                _works(catalog, inside, agent.name, told, depth + 1, frozenset())
                continue
            work = _work(catalog, agent, _works(catalog, inside, agent.name, told, depth + 1))
            works.setdefault(agent.caller, []).append(work)
    return works


def _inline(catalog: Catalog, nodes: Sequence[Node]) -> list[Work]:
    """Tell what the agents did whose records stand in the session's own file."""
    own = [node for node in nodes if is_inline(node)]
    found = graph(own)
    known = sidechains(catalog, nodes) if own else {}
    beginnings = [key for key in found.nodes if found.above.get(key) not in found.nodes]
    works = []
    for key in beginnings:
        first = found.nodes[key]
        agent = known.get(first.uuid) or Agent(name=first.uuid, session=first.session or "")
        works.append(_told_work(catalog, agent, [found.nodes[one] for one in under(found, key)], {}))
    return works


def _work(catalog: Catalog, agent: Agent, works: _Works) -> Work:
    return _told_work(catalog, agent, own_records(catalog, agent), works)


def _told_work(catalog: Catalog, agent: Agent, nodes: Sequence[Node], works: _Works) -> Work:
    # An agent is asked once or a few times.
    ways, chosen = _chosen(Ways(graph(nodes)), is_full=True)
    return Work(agent=agent, strands=_strands(catalog, agent.session, ways.found, chosen, works))


def _strands(
    catalog: Catalog,
    session: str,
    found: Graph,
    chosen: Sequence[_Told],
    works: _Works,
    durations: Mapping[str, int] = _NO_DURATIONS,
) -> list[Strand]:
    """Tell ways through the records of one conversation; each record is on one of them."""
    drawn = [[_sketch(turn) for turn in one.turns] for one in chosen]
    keys = sorted({step.key for way in drawn for turn in way for step in (turn.asked, turn.outcome) if step})
    texts = dict(zip(keys, catalog.stored(keys), strict=True))
    leading_off = _forks(catalog, found, session)
    roots: list[Strand] = []
    # A way is found before those that lead off it, so these are told first.
    for one, sketches in zip(reversed(chosen), reversed(drawn), strict=True):
        way, left_out = one.way, {FIRST_TURNS: one.left_out}
        strand = Strand(
            turns=[
                _turn(sketch, texts, works, leading_off, left_out.get(number, 0), durations)
                for number, sketch in enumerate(sketches)
            ],
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
    left_out: int,
    durations: Mapping[str, int],
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
        left_out=left_out,
        duration_ms=next((durations[node.uuid] for node in sketch.nodes if node.uuid in durations), None),
    )


def _forks(catalog: Catalog, found: Graph, session: str) -> dict[int, list[Strand]]:
    """Return the ways that go on in other sessions, by the record that they lead off."""
    forks: dict[int, list[Strand]] = {}
    for node in catalog.offspring(list(found.nodes), session):
        start = found.nodes.get(node.parent) if node.parent is not None else None
        if start is not None and node.key not in found.nodes:
            forks.setdefault(start.key, []).append(Strand(turns=(), session=node.session))
    return forks


def _ending(found: Graph, first: int) -> Reason | None:
    """Say why a way begins where it does, if that is no beginning."""
    if found.nodes[first].parent in found.nodes:
        return Reason.CYCLE
    return Reason.MISSING if found.nodes[first].missing else None


def _latest(facts: Sequence[Fact]) -> dict[str, str]:
    """Return what is known of a session itself: of each fact the one that was said last."""
    known = (fact for fact in facts if fact.agent is None and fact.name not in (COST_STATE, TURN_DURATION))
    return {fact.name: fact.value for fact in sorted(known, key=lambda fact: fact.line)}


def _durations(facts: Iterable[Fact]) -> dict[str, int]:
    """Return how long turns took, by the record that says so."""
    told = (fact for fact in facts if fact.agent is None and fact.name == TURN_DURATION)
    return {fact.leaf: int(fact.value.partition(" ")[0]) for fact in told if fact.leaf}
