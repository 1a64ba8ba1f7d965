"""What Claude Code writes since 2.1.326: listings in every session, forks of agents, who wrote a prompt, titles."""

from collections.abc import Callable
from typing import Any

import pytest

from searchkit.backends.base import Backend
from searchkit.backends.local.catalog.sessions import title_from
from searchkit.types import Kind
from tests.support.answers import OTHER, SESSION, THIRD, facts_of, found, kept, said, session_of
from tests.support.transcript import Home, Transcript, tool_id

Index = Callable[[], Backend]


def state(transcript: Transcript, kind: str, **fields: Any) -> None:
    """Append a line that is no message and has no uuid of its own."""
    transcript.line({"type": kind, "sessionId": SESSION, **fields})


RULES = "<fork-boilerplate>\nYou are a fork. One directive, then stop.\n</fork-boilerplate>"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("skill_listing", {"content": "- giraffe: feeds it", "names": ["giraffe"]}),
        ("prompt_snapshot", {"systemPrompt": ["You feed a giraffe"]}),
        ("deferred_tools_record", {"entries": [{"name": "Feed", "description": "feeds a giraffe"}]}),
        ("agent_listing_delta", {"addedTypes": ["keeper"], "addedLines": ["- keeper: minds the giraffe"]}),
        ("instructions", {"files": [{"path": "/shop/CLAUDE.md", "content": "mind the giraffe"}]}),
    ],
)
def test_listing_is_one_part_of_all_its_sessions(home: Home, indexed: Index, kind: str, fields: dict[str, Any]) -> None:
    """A listing that three sessions hold, one of them twice, is found once, as an attachment of all three."""
    for session in (SESSION, OTHER, THIRD):
        transcript = home.session(session)
        transcript.attachment(kind, **fields)
        transcript.prompt(f"a question in {session}")
    transcript.attachment(kind, **fields)

    [part] = found(indexed(), "giraffe")

    assert ("attachment", "system") == (part.part.kind.value, part.part.role.value)
    assert {SESSION, OTHER, THIRD} == {place.session for place in part.link.places}


def test_attachment_of_a_conversation_stays_its_own(home: Home, indexed: Index) -> None:
    """A file that two sessions attached is a part of each."""
    for session in (SESSION, OTHER):
        home.session(session).attachment("file", filename="zoo.txt", content="a giraffe")

    assert [SESSION, OTHER] == sorted(part.link.places[0].session or "" for part in found(indexed(), "giraffe"))


def test_chain_runs_through_a_listing(home: Home, indexed: Index) -> None:
    """The record of a listing keeps its place in the conversation, though its text is kept elsewhere."""
    transcript = home.session(SESSION)
    before = transcript.prompt("first")
    listing = transcript.attachment("skill_listing", content="- giraffe: feeds it")
    after = transcript.prompt("second")

    links = indexed().catalog.links([listing["uuid"], after["uuid"]])

    assert (before["uuid"], listing["uuid"]) == (links[listing["uuid"]].parent, links[after["uuid"]].parent)


def test_fork_of_an_agent_repeats_its_parents_call(home: Home, indexed: Index) -> None:
    """A fork opens with a copy of the call that made it, then its directive, which is its prompt."""
    transcript = home.session(SESSION)
    transcript.prompt("look at both")
    call = transcript.call("Agent", {"prompt": "look at the giraffe", "subagent_type": "fork"})
    fork = home.agent(SESSION, "f1")
    state(fork, "fork-context-ref", agentId="f1", parentSessionId=SESSION, parentLastUuid=call["uuid"])
    copy = fork.call("Agent", {"prompt": "look at the giraffe", "subagent_type": "fork"})
    copy_result = {"type": "tool_result", "tool_use_id": tool_id(copy), "content": "Fork started"}
    told = {"type": "text", "text": f"{RULES}\n\nYour directive: feed the giraffe"}
    fork.prompt([copy_result, told])
    fork.text("The giraffe is fed.")

    backend = indexed()

    assert ("prompt", "feed the giraffe") in said(backend, SESSION, "f1")
    assert ("text", "The giraffe is fed.") in said(backend, SESSION, "f1")
    assert Kind.TOOL_CALL not in [part.part.kind for part in kept(backend, SESSION, "f1")]
    assert 1 == [part.part.kind for part in found(backend, "look at the giraffe", 20)].count(Kind.TOOL_CALL)


def asked_in_the_queue(own: str) -> dict[str, Any]:
    """What a fork that runs without a terminal writes before its copies; `own` is unused there."""
    return {"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-01T11:00:00.000Z"}


def asked_at_the_keyboard(own: str) -> dict[str, Any]:
    """What a fork in a terminal writes before its copies, last of the message with which it begins."""
    return {"type": "file-history-snapshot", "messageId": own, "snapshot": {"messageId": own}}


@pytest.mark.parametrize("opening", [asked_in_the_queue, asked_at_the_keyboard])
@pytest.mark.parametrize("original", [SESSION, THIRD])
def test_copies_of_a_fork_stay_with_their_original(
    home: Home, indexed: Index, original: str, opening: Callable[[str], dict[str, Any]]
) -> None:
    """`--fork-session` copies records under their uuids; they count where they were said (issue 16)."""
    own = "99999999-0000-4000-8000-000000000001"
    first = home.session(original)
    asked, answered = first.prompt("count the giraffes"), first.text("three giraffes")
    fork = home.session(OTHER)
    if opening is asked_at_the_keyboard:
        fork.line({**opening(asked["uuid"]), "sessionId": OTHER})
    fork.line({**opening(own), "sessionId": OTHER})
    for record in (asked, answered):
        fork.line({**record, "sessionId": OTHER})
    fork.prompt("and the okapis", uuid=own, parent=answered["uuid"], timestamp="2026-03-01T11:00:00.100Z")
    fork.text("two okapis", timestamp="2026-03-01T11:00:01.000Z")

    backend = indexed()

    assert (1, 1) == (session_of(backend, original).prompts, session_of(backend, OTHER).prompts)
    assert [(original, 2)] == [
        (part.link.places[0].session, len(part.link.places)) for part in found(backend, "three", kind="text")
    ]
    assert [OTHER] == [part.link.places[0].session for part in found(backend, "okapis", kind="text")]


def test_copy_that_another_session_asked_for_names_the_original(home: Home, indexed: Index) -> None:
    """A response that names another session than its own was copied from there."""
    fork = home.session(SESSION)
    fork.prompt("count the giraffes")
    fork.text("three giraffes", requestSessionId=THIRD)
    fork.text("two okapis", requestSessionId=SESSION)

    assert [(None, THIRD)] == facts_of(indexed(), "forked-from")


@pytest.mark.parametrize("is_named", [True, False])
def test_invented_type_is_kept_and_counted_and_never_a_prompt(home: Home, indexed: Index, is_named: bool) -> None:
    """A type that nobody knows, with a message of a user in it, is found, and reported, but is no prompt."""
    transcript = home.session(SESSION)
    transcript.prompt("a real prompt")
    line: dict[str, Any] = {"message": {"role": "user", "content": [{"type": "text", "text": "an okapi"}]}}
    state(transcript, "quartz", **line, **({"uuid": "99999999-0000-4000-8000-000000000000"} if is_named else {}))

    backend = indexed()

    assert ["system"] == [part.part.kind.value for part in found(backend, "okapi")]
    assert ("unknown type", "quartz") in [(finding.kind, finding.detail) for finding in backend.findings()]
    assert (1, "a real prompt") == (session_of(backend).prompts, session_of(backend).title)


def test_notice_of_an_agent_is_no_prompt(home: Home, indexed: Index) -> None:
    """2.1.197 gives the notice that an agent has ended the source of a prompt; its origin says better (issue 16)."""
    transcript = home.session(SESSION)
    transcript.prompt("count in the background", promptSource="sdk")
    notice = "<task-notification>\n<summary>three giraffes</summary>\n</task-notification>"
    transcript.prompt(notice, promptSource="sdk", origin={"kind": "task-notification"})

    backend = indexed()

    assert ["system"] == [part.part.kind.value for part in found(backend, "giraffes")]
    assert 1 == session_of(backend).prompts


def test_command_in_the_queue_is_no_prompt(home: Home, indexed: Index) -> None:
    """A slash command that waited in the queue is a command, a path at the beginning of a prompt is not."""
    transcript = home.session(SESSION)
    state(transcript, "queue-operation", operation="enqueue", content="/recall the price change")
    state(transcript, "queue-operation", operation="enqueue", content="/etc/hosts has no giraffe")

    backend = indexed()

    assert ["command"] == [part.part.kind.value for part in found(backend, "price")]
    assert ["prompt"] == [part.part.kind.value for part in found(backend, "giraffe")]


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        (["fix the cart"], "fix the cart"),
        (["c", "y", "fix the cart"], "fix the cart"),
        (["hi", "/clear", "fix the cart"], "fix the cart"),
        (["/clear"], None),
        (["/model opus", "c"], None),
        (["Warmup"], None),
        (["hi"], "hi"),
        (["ok", "修复购物车"], "修复购物车"),
        (["/deploy staging now"], "/deploy staging now"),
        (["  fix\n the\tcart "], "fix the cart"),
        (["x" * 300], "x" * 100),
        ([], None),
    ],
)
def test_title_is_what_a_person_recognises(typed: list[str], title: str | None) -> None:
    """The first text that tells something is the title; housekeeping and single letters never are."""
    assert title == title_from(typed)


def test_session_with_agents_alone_is_called_by_the_first_task(home: Home, indexed: Index) -> None:
    """Where no person typed anything, the task of the first agent is the title."""
    home.agent(SESSION, "a1").prompt("count the giraffes in the zoo")

    assert "count the giraffes in the zoo" == session_of(indexed()).title


def test_person_comes_before_agents_in_a_title(home: Home, indexed: Index) -> None:
    """An agent's task is no title where a person typed something, be it a command."""
    home.session(SESSION).prompt("<command-name>/deploy</command-name><command-args>staging</command-args>")
    home.agent(SESSION, "a1").prompt("count the giraffes in the zoo")

    assert "/deploy staging" == session_of(indexed()).title
