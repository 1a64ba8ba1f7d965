"""What the records of a session make together: progress, repeats, titles and facts."""

from collections.abc import Callable

import pytest

from searchkit.backends.base import Backend
from searchkit.types import Standing
from tests.support.answers import (
    OTHER,
    SESSION,
    facts_in,
    facts_of,
    found,
    kept,
    noise_in,
    read,
    records_of,
    said,
    session_of,
    sessions_with,
    spoken,
    texts,
)
from tests.support.transcript import Home, Record, tool_id

Index = Callable[[], Backend]
QUEUE = {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION}


def test_progress_stands_in_until_the_result_comes(home: Home, indexed: Index) -> None:
    """What a running call printed last is found while there is nothing better, and never again after."""
    transcript = home.session(SESSION)
    call = transcript.call("Bash", {"command": "make"})
    transcript.progress({"type": "bash_progress", "output": "", "fullOutput": "compiling wombat"}, call)
    transcript.progress({"type": "bash_progress", "output": "", "fullOutput": "compiling wombat\nlinking"}, call)
    backend = indexed()
    assert [("tool_call", "command: make"), ("tool_result", "compiling wombat\nlinking")] == said(backend)
    transcript.progress({"type": "bash_progress", "fullOutput": "compiling wombat\nlinking numbat"}, call)
    backend = indexed()
    assert ["command: make", "compiling wombat\nlinking numbat"] == texts(backend)
    transcript.result(call, "built")

    backend = indexed()

    assert [("tool_call", "command: make"), ("tool_result", "built")] == said(backend)
    assert [] == found(backend, "wombat")
    assert ({"tool_call": 1, "tool_result": 1}, 0) == (backend.catalog.counts().parts, backend.catalog.counts().repeats)
    assert 5 == backend.catalog.counts().links


def test_progress_before_its_result_in_one_reading_makes_no_part(home: Home) -> None:
    """A result in the same reading makes all progress of its call superfluous."""
    transcript = home.session(SESSION)
    call = transcript.call("Bash", {"command": "make"})
    for number in range(3):
        transcript.progress({"type": "bash_progress", "output": f"step {number}"}, call)
    transcript.result(call, "built")

    changes = read(home.root)

    assert ["command: make", "built"] == [text for _, _, text in spoken(changes)]
    assert 5 == len(records_of(changes))


def test_hook_progress_is_noise(home: Home) -> None:
    """Progress of hooks is counted and says nothing."""
    transcript = home.session(SESSION)
    call = transcript.call("Bash", {"command": "make"})
    transcript.progress({"type": "hook_progress", "hookName": "PreToolUse:Bash", "command": "lint"}, call)

    changes = read(home.root)

    assert {"hook_progress": 1} == noise_in(changes)
    assert ["command: make"] == [text for _, _, text in spoken(changes)]


def agent_progress(text: str, agent: str = "a1b2c3d") -> Record:
    """Make progress that repeats what an agent said."""
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "agent_progress", "agentId": agent, "message": {"type": "assistant", "message": message}}


def test_agent_progress_is_the_agents_word(home: Home, indexed: Index) -> None:
    """What a parent's transcript repeats of an agent belongs to the agent, and names the call that started it."""
    transcript = home.session(SESSION)
    call = transcript.call("Task", {"prompt": "explore"})
    transcript.progress(agent_progress("found a wombat"), call)

    backend = indexed()

    assert ["prompt: explore"] == texts(backend)
    assert ["found a wombat"] == texts(backend, SESSION, "a1b2c3d")
    assert [("a1b2c3d", tool_id(call))] == facts_of(backend, "call")


def test_agent_progress_tells_the_machines_words_from_the_persons(home: Home) -> None:
    """What an agent was reminded of is a system text in its parent's transcript too."""
    transcript = home.session(SESSION)
    message = {"role": "user", "content": "<system-reminder>be brief</system-reminder>"}
    progress = {"type": "agent_progress", "agentId": "a1", "message": {"type": "user", "message": message}}
    transcript.progress(progress, transcript.call("Task", {"prompt": "explore"}))

    assert ("system", "system", "<system-reminder>be brief</system-reminder>") == spoken(read(home.root))[-1]


def test_agent_progress_holds_the_whole_of_a_persisted_result(home: Home, indexed: Index) -> None:
    """A result that went into a file is the same text in the agent's transcript and in its parent's."""
    transcript, agent = home.session(SESSION), home.agent(SESSION, "a1b2c3d")
    home.overflow(SESSION, "toolu_1.txt", "the whole wombat")
    persisted = "<persisted-output>\nsaved to: /x/tool-results/toolu_1.txt\n\nPreview:\nthe whole"
    result = agent.result(agent.call("Bash", {"command": "make"}), persisted)
    progress = {"type": "agent_progress", "agentId": "a1b2c3d", "message": result}
    transcript.progress(progress, transcript.call("Task", {"prompt": "explore"}))

    backend = indexed()

    assert ["the whole wombat"] == [hit.part.text for hit in found(backend, "whole")]
    assert 1 == backend.catalog.counts().parts["tool_result"]


def test_agent_progress_repeats_the_agents_own_file(home: Home, indexed: Index) -> None:
    """Where the agent's transcript says the same, the repetition is not found, whichever was read first."""
    transcript = home.session(SESSION)
    call = transcript.call("Task", {"prompt": "explore"})
    transcript.progress(agent_progress("found a wombat"), call)
    indexed()
    home.agent(SESSION, "a1b2c3d").text("found a wombat")

    backend = indexed()

    (hit,) = found(backend, "wombat")
    assert ("agent-a1b2c3d.jsonl", Standing.ORIGINAL) == (
        hit.link.places[0].file.rpartition("/")[2],
        hit.link.standing,
    )
    assert 1 == backend.catalog.counts().repeats


def test_secondary_words_repeat_primary_ones(home: Home, indexed: Index) -> None:
    """A prompt that the queue, the state and the history also hold is one part and three repeats."""
    transcript = home.session(SESSION)
    transcript.line({**QUEUE, "content": "fix it", "timestamp": "2026-03-01T09:00:00.000Z"})
    transcript.prompt("fix it")
    transcript.line({"type": "last-prompt", "lastPrompt": "fix it", "sessionId": SESSION})
    home.history("fix it", SESSION)

    backend = indexed()

    assert [("prompt", "fix it")] == said(backend)
    assert "user" == kept(backend)[0].link.type
    assert 3 == backend.catalog.counts().repeats


def test_secondary_words_alone_are_found(home: Home, indexed: Index) -> None:
    """Of words that only the queue, the state and the history hold, the queue's are kept."""
    transcript = home.session(SESSION)
    transcript.line({"type": "last-prompt", "lastPrompt": "fix it", "sessionId": SESSION})
    transcript.line({**QUEUE, "content": "fix it", "timestamp": "2026-03-01T09:00:00.000Z"})
    home.history("fix it", SESSION)

    backend = indexed()

    assert ["queue-operation"] == [part.link.type for part in kept(backend)]
    assert ({"prompt": 1}, 2) == (backend.catalog.counts().parts, backend.catalog.counts().repeats)


def test_same_words_in_another_session_are_no_repeat(home: Home, indexed: Index) -> None:
    """Repeats are a matter of one session."""
    home.session(SESSION).prompt("fix it")
    home.session(OTHER).line({**QUEUE, "sessionId": OTHER, "content": "fix it"})

    assert 2 == indexed().catalog.counts().parts["prompt"]


TITLES: list[tuple[list[Record], str]] = [
    ([{"type": "ai-title", "aiTitle": "by the model"}, {"type": "custom-title", "customTitle": "by hand"}], "by hand"),
    ([{"type": "custom-title", "customTitle": "by hand"}, {"type": "ai-title", "aiTitle": "by the model"}], "by hand"),
    ([{"type": "custom-title", "customTitle": "old"}, {"type": "custom-title", "customTitle": "new"}], "new"),
    ([{"type": "ai-title", "aiTitle": "by the model"}], "by the model"),
    ([], "hello there"),
]


@pytest.mark.parametrize(("lines", "title"), TITLES, ids=["custom", "custom first", "last", "ai", "first prompt"])
def test_title_of_a_session(home: Home, indexed: Index, lines: list[Record], title: str) -> None:
    """The title is the one given by hand, else by the model, of several the last, else the first prompt."""
    transcript = home.session(SESSION)
    transcript.prompt("hello\n  there")
    for line in lines:
        transcript.line({**line, "sessionId": SESSION})

    assert title == session_of(indexed()).title


def test_summary_titles_the_session_of_the_record_it_names(home: Home, indexed: Index) -> None:
    """A summary is often written into another session's file; the leaf tells whose it is."""
    leaf = home.session(SESSION).prompt("fix the cart")
    home.session(OTHER).line({"type": "summary", "summary": "Cart repaired", "leafUuid": leaf["uuid"]})

    assert "Cart repaired" == session_of(indexed(), SESSION).title


def test_facts_of_a_session_are_gathered(home: Home) -> None:
    """Links, worktrees, forks and modes are known of the session although they are not all searched."""
    transcript = home.session(SESSION)
    transcript.prompt("go", slug="quiet-fox", forkedFrom={"sessionId": OTHER, "messageUuid": "x"})
    transcript.line({"type": "pr-link", "sessionId": SESSION, "prNumber": 7, "prUrl": "https://example.org/7"})
    transcript.line({"type": "worktree-state", "sessionId": SESSION, "worktreeSession": {"worktreePath": "/wt"}})
    transcript.line({"type": "permission-mode", "sessionId": SESSION, "permissionMode": "plan"})

    changes = read(home.root)

    names = ("slug", "forked-from", "pr-link", "worktree", "permission-mode")
    values = [[fact.value for fact in facts_in(changes, name)] for name in names]
    assert [["quiet-fox"], [OTHER], ["https://example.org/7"], ["/wt"], ["plan"]] == values


def test_session_shows_its_last_branch(home: Home, indexed: Index) -> None:
    """A session that changed branches is on the last one, and is found by any."""
    transcript = home.session(SESSION, branch="main")
    transcript.prompt("go")
    transcript.branch = "feature/cart"
    transcript.prompt("on")

    backend = indexed()

    assert "feature/cart" == session_of(backend).branch
    assert [SESSION] == sessions_with(backend, "branch", "main")


def test_branch_of_an_agent_is_not_the_sessions(home: Home, indexed: Index) -> None:
    """An agent that worked elsewhere, however long, does not move its session there."""
    home.session(SESSION, branch="main").prompt("go")
    agent = home.agent(SESSION, "a1", branch="worktree-a1", cwd="/wt/a1", below=str(home.project() / SESSION))
    for number in range(5):
        agent.prompt(f"step {number}")

    session = session_of(indexed())

    assert ("main", "/home/mira/src/shop") == (session.branch, session.project)
