"""Agents of a workflow: they hang from the call that started the run in whose directory they lie."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from searchkit.backends.base import Backend
from searchkit.conversation.outline import outline
from searchkit.conversation.subagents import agents_of, started, strays
from tests.support.answers import SESSION, facts_of
from tests.support.running import Run
from tests.support.transcript import Home, Record, tool_id

Index = Callable[[], Backend]
RUN = "wf_95ebd6cd-ddd"
BELOW = "{session}/subagents/workflows/" + RUN
LAUNCHED = f"Workflow launched in background. Task ID: w1\nRun ID: {RUN}\nYou will be notified when it completes."


def call(home: Home, **extra: Any) -> Record:
    """Write a session that starts a workflow, and return the record of the call."""
    transcript = home.session(SESSION)
    transcript.prompt("count the numbats")
    made = transcript.call("Workflow", {"script": "await agent('count')"})
    transcript.result(made, LAUNCHED, **extra)
    transcript.text("it runs")
    return made


def agents(home: Home, *names: str) -> None:
    """Write transcripts of agents of the run."""
    for name in names:
        transcript = home.agent(SESSION, name, below=BELOW)
        transcript.prompt(f"task of {name}")
        transcript.text(f"done by {name}")


@pytest.mark.parametrize("extra", [{}, {"toolUseResult": {"runId": RUN, "transcriptDir": "/elsewhere"}}])
def test_agents_of_a_workflow_hang_from_its_call(home: Home, indexed: Index, extra: dict[str, Any]) -> None:
    """All agents of a run were started by the call whose result names it, in its fields or in its text."""
    made = call(home, **extra)
    agents(home, "a1", "a2")

    backend = indexed()

    found = agents_of(backend.catalog, SESSION, backend.catalog.agents(SESSION))
    assert [("a1", made["uuid"]), ("a2", made["uuid"])] == [(agent.name, agent.caller) for agent in found]
    assert ["a1", "a2"] == [
        agent.name for agent in started(backend.catalog, backend.catalog.members(SESSION))[tool_id(made)]
    ]
    assert [] == strays(backend.catalog, SESSION)


def test_agents_of_a_workflow_are_drawn_and_shown(home: Home, run: Run) -> None:
    """`tree` draws them below the turn of the call, `show --agents` tells what each did."""
    made = call(home)
    agents(home, "a1", "a2")
    run("index")

    drawn = run("tree", SESSION).out
    shown = run("show", str(made["uuid"]), "--agents").out

    assert "no call is known" not in drawn
    assert drawn.index("count the numbats") < drawn.index("task of a1") < drawn.index("task of a2")
    assert shown.index("done by a1") < shown.index("done by a2") < shown.index("it runs")
    assert "what the agents did: --agents" in run("show", str(made["uuid"])).out


def test_agent_that_only_the_journal_knows_hangs_from_the_call(home: Home, indexed: Index) -> None:
    """A journal keeps what an agent returned; its transcript may be gone."""
    made = call(home)
    lines: list[Record] = [{"type": "launched"}, {"type": "started", "key": "k", "agentId": "a3", "label": "counter"}]
    lines.append({"type": "result", "key": "k", "agentId": "a3", "result": "nine numbats"})
    journal = home.project() / BELOW.format(session=SESSION) / "journal.jsonl"
    home.write(journal, b"\n".join(map(orjson.dumps, lines)) + b"\n")

    backend = indexed()

    found = agents_of(backend.catalog, SESSION, backend.catalog.agents(SESSION))
    assert [("a3", made["uuid"])] == [(agent.name, agent.caller) for agent in found]
    assert [] == list(backend.findings())


def test_run_that_no_call_names_leaves_strays(home: Home, indexed: Index) -> None:
    """Where the call is not known, the agents are told apart from it."""
    home.session(SESSION).prompt("hello")
    agents(home, "a1")

    backend = indexed()

    assert ["a1"] == [agent.name for agent in strays(backend.catalog, SESSION)]
    assert [("a1", RUN)] == facts_of(backend, "run")


def test_nested_agent_hangs_from_its_parent_where_its_call_is_not_known(home: Home, indexed: Index) -> None:
    """Its meta file names the agent that started it."""
    transcript = home.session(SESSION)
    transcript.prompt("look for prices")
    made = transcript.call("Agent", {"prompt": "look"})
    outer, inner = home.agent(SESSION, "outer"), home.agent(SESSION, "inner")
    first = outer.prompt("look")
    outer.text("looking")
    inner.prompt("look deeper")
    home.meta(SESSION, "outer", agentType="general-purpose", toolUseId=tool_id(made), spawnDepth=1)
    home.meta(SESSION, "inner", agentType="general-purpose", parentAgentId="outer", spawnDepth=2, finished=True)

    backend = indexed()

    found = {agent.name: agent.caller for agent in agents_of(backend.catalog, SESSION, backend.catalog.agents(SESSION))}
    told = outline(backend.catalog, SESSION)
    assert {"outer": made["uuid"], "inner": first["uuid"]} == found
    assert told is not None
    assert [] == list(told.agents)


@pytest.mark.parametrize("parent", ["inner", "nobody", "x" * 1000])
def test_agent_with_an_impossible_parent_is_a_stray(home: Home, indexed: Index, parent: str) -> None:
    """An agent that names itself, or one that is not there, hangs from nothing."""
    home.session(SESSION).prompt("hello")
    home.agent(SESSION, "inner").prompt("look")
    home.meta(SESSION, "inner", agentType="general-purpose", parentAgentId=parent)

    backend = indexed()

    assert ["inner"] == [agent.name for agent in strays(backend.catalog, SESSION)]


def test_warm_up_is_listed_nowhere(home: Home, run: Run) -> None:
    """An agent that was only warmed up is no agent of its session: not in lists, trees, outlines or counts."""
    transcript = home.session(SESSION)
    transcript.prompt("look for prices")
    made = transcript.call("Agent", {"prompt": "look"})
    home.agent(SESSION, "worker").prompt("look")
    home.meta(SESSION, "worker", agentType="general-purpose", toolUseId=tool_id(made))
    for name, below in (("warm1", "{session}/subagents"), ("warm2", "")):
        warm = home.agent(SESSION, name, below=below)
        warm.prompt("Warmup")
        warm.text("I am ready.")
    home.meta(SESSION, "warm1", agentType="Explore", description="warming up")
    run("index")

    listed = run("sessions", "--json").json["sessions"]
    drawn = run("tree", SESSION).out + run("show", SESSION).out + run("show", str(made["uuid"]), "--agents").out

    assert [1] == [session["agents"] for session in listed]
    assert "worker" in drawn
    assert "warm" not in drawn


def test_agent_that_works_after_its_warm_up_is_listed(home: Home, indexed: Index) -> None:
    """What follows a warm-up counts, also when it is read later."""
    home.session(SESSION).prompt("hello")
    agent = home.agent(SESSION, "a1")
    agent.prompt("Warmup")
    agent.text("I am ready.")
    before = indexed().catalog.agents(SESSION)
    agent.prompt("look for prices")
    agent.text("nine euros")

    assert ([], ["a1"]) == (before, indexed().catalog.agents(SESSION))
