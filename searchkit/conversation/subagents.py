"""Subagents: what is known of each, which call started it, and whose work a record is.

Agents have transcripts of their own. In old versions their records stand in the session's file instead, as
sidechains without a name; there a call is known by its prompt.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from searchkit.backends.base import Catalog, Node
from searchkit.conversation.types import Agent
from searchkit.sources.tools import AGENT_PROMPT, AGENT_PURPOSE, AGENT_TYPE, starts_agent
from searchkit.types import Fact, Kind, Part

# What is known of an agent.
_FACTS = ("agent-type", "call", "description", "parent-agent", "run")
# Agents that start agents were seen three deep; what is deeper is not told inside what started it.
MOST_DEPTH = 20


def agents_of(catalog: Catalog, session: str, names: Iterable[str]) -> list[Agent]:
    """Tell what is known of agents of a session.

    The agents of a workflow hang from the call that started its run, which is known as an agent's call is.
    """
    facts = [fact for fact in catalog.facts(session, _FACTS) if fact.agent is not None]
    callers = catalog.callers(sorted({fact.value for fact in facts if fact.name == "call"}))
    known: dict[str, list[Fact]] = {}
    for fact in facts:
        known.setdefault(fact.agent or "", []).append(fact)
    agents = []
    for name in names:
        own = known.get(name, [])
        runs = [one for fact in own if fact.name == "run" for one in known.get(fact.value, ()) if one.name == "call"]
        agent = _agent(session, name, [*own, *runs], callers)
        agents.append(agent if agent.caller else _below_parent(catalog, agent, own))
    return agents


def started(catalog: Catalog, nodes: Sequence[Node], has_inline: bool = True) -> dict[str, list[Agent]]:
    """Return the agents of the sessions that a thread is of, by the calls that started them; a workflow starts several.

    To look for agents in the session's own file takes all of that; a caller may know that there are none.
    """
    sessions = {node.session for node in nodes if node.session}
    agents = [agent for session in sessions for agent in agents_of(catalog, session, catalog.agents(session))]
    inline = sidechains(catalog, catalog.transcript(nodes[0].key)).values() if has_inline else ()
    by_call: dict[str, list[Agent]] = {}
    for agent in (*inline, *agents):
        if agent.call:
            by_call.setdefault(agent.call, []).append(agent)
    return by_call


def strays(catalog: Catalog, session: str) -> list[Agent]:
    """Return the agents of a session that no call is known to have started."""
    return [agent for agent in agents_of(catalog, session, catalog.agents(session)) if agent.caller is None]


def own_records(catalog: Catalog, agent: Agent) -> list[Node]:
    """Return the records of an agent without those that it only copies from its session."""
    return [node for node in catalog.members(agent.session, agent.name) if node.agent == agent.name]


def above(catalog: Catalog, here: Node, sidechains: Mapping[str, Agent]) -> list[Agent]:
    """Return the agents whose work a record is, outermost first; sidechains are known by their first records."""
    agents = [sidechains[here.uuid]] if here.uuid in sidechains else []
    session, name = here.session, here.agent
    while session is not None and name is not None and name not in {agent.name for agent in agents}:
        agents[:0] = agents_of(catalog, session, [name])
        caller = agents[0].caller
        home = catalog.links([caller])[caller].places[0] if caller else None
        session, name = (home.session, home.agent) if home else (None, None)
    return agents


def is_inline(node: Node) -> bool:
    """Say whether a record is the work of an agent in the file of the session."""
    return node.is_sidechain and node.agent is None


def sidechains(catalog: Catalog, nodes: Iterable[Node]) -> dict[str, Agent]:
    """Return the agents whose records stand in a session's file, by their first records."""
    several = list(nodes)
    first = [node for node in several if is_inline(node) and node.parent is None and node.steps]
    if not first:
        return {}
    made = [step for node in several for step in node.steps if step.kind is Kind.TOOL_CALL and starts_agent(step.tool)]
    keys = [step.key for step in made]
    inputs = {step: _inputs(text.part) for step, text in zip(made, catalog.stored(keys), strict=True) if text}
    asked = zip(first, catalog.stored([node.steps[0].key for node in first]), strict=True)
    agents: dict[str, Agent] = {}
    for node, stored in asked:
        prompt = stored.part.text if stored else ""
        call = next((step for step, values in inputs.items() if values.get(AGENT_PROMPT) == prompt), None)
        values = inputs.pop(call) if call else {}
        agents[node.uuid] = Agent(
            name=node.uuid,
            session=node.session or "",
            type=values.get(AGENT_TYPE),
            description=values.get(AGENT_PURPOSE),
            caller=call.uuid if call else None,
            call=call.call if call else None,
        )
    return agents


def _agent(session: str, name: str, facts: Sequence[Fact], callers: Mapping[str, str]) -> Agent:
    known = {fact.name: fact.value for fact in facts}
    calls = (fact.value for fact in facts if fact.name == "call")
    call = next((call for call in calls if call in callers), None)
    return Agent(
        name=name,
        session=session,
        type=known.get("agent-type"),
        description=known.get("description"),
        caller=callers[call] if call else None,
        call=call,
    )


def _below_parent(catalog: Catalog, agent: Agent, facts: Sequence[Fact]) -> Agent:
    """Hang an agent whose call is not known from the first record of the agent that is known to have started it."""
    parents = (fact.value for fact in facts if fact.name == "parent-agent" and fact.value != agent.name)
    for parent in parents:
        records = own_records(catalog, Agent(name=parent, session=agent.session))
        if records:
            return msgspec.structs.replace(agent, caller=records[0].uuid)
    return agent


def _inputs(part: Part) -> dict[str, str]:
    return {field.name: part.text[field.start : field.end] for field in part.fields}
