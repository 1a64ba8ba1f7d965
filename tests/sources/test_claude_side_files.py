"""The files beside the transcripts: what of them is searched, and what happens when they change."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from searchkit.backends.base import Backend
from searchkit.types import Kind
from tests.support.answers import (
    OTHER,
    SESSION,
    complaints,
    facts_of,
    found,
    problems_of,
    read,
    said,
    session_of,
    spoken,
    texts,
)
from tests.support.transcript import Home, Transcript, tool_id

Index = Callable[[], Backend]


def hits(backend: Backend, word: str) -> list[tuple[Kind, str]]:
    """Return kind and text of what a word finds."""
    return [(hit.part.kind, hit.part.text) for hit in found(backend, word)]


def test_history_is_read_line_by_line(home: Home, indexed: Index) -> None:
    """A line of the history is what was typed, counted like a line of a transcript; an append is read on."""
    home.session(SESSION).prompt("hello")
    home.history("where is the wombat?", SESSION)
    home.history("an old line without a session")
    indexed()
    home.history("and the numbat?", SESSION)

    backend = indexed()

    assert [("prompt", "hello"), ("history", "where is the wombat?"), ("history", "and the numbat?")] == in_time(
        backend
    )
    assert (4, 3) == (backend.catalog.counts().lines, backend.catalog.counts().parts["history"])
    assert [(Kind.HISTORY, "an old line without a session")] == hits(backend, "old")


def in_time(backend: Backend) -> list[tuple[str, str]]:
    """Return what a session says, transcript before side files."""
    return sorted(said(backend), key=lambda part: part[0] == "history")


def test_history_holds_what_was_pasted(home: Home) -> None:
    """Pasted text is shown in the history as a mark; the text itself follows it."""
    line = {"display": "see [Pasted text #1]", "pastedContents": {"1": {"id": 1, "content": "a stack trace"}}}
    home.write(home.root / "history.jsonl", orjson.dumps({**line, "timestamp": 1_772_359_200_000}) + b"\n")

    assert [("history", "user", "see [Pasted text #1]\na stack trace")] == spoken(read(home.root))


def test_torn_line_of_the_history_is_counted(home: Home, indexed: Index) -> None:
    """Damage in the history is reported like damage in a transcript, and costs one line."""
    home.history("one", SESSION)
    with (home.root / "history.jsonl").open("ab") as file:
        file.write(b'y":"torn"}\n\n')
    home.history("two", SESSION)

    backend = indexed()

    assert (3, 1, 2) == (
        backend.catalog.counts().lines,
        backend.catalog.counts().torn,
        backend.catalog.counts().records,
    )
    assert [("history.jsonl", 2)] == problems_of(backend, "torn line")


def test_session_known_only_from_side_files_is_counted_apart(home: Home, indexed: Index) -> None:
    """A session whose transcript is gone is still named by history and todos, and counted as such."""
    home.session(SESSION).prompt("hello")
    home.history("from a lost session", OTHER)

    backend = indexed()

    assert (1, 1) == (backend.catalog.counts().sessions, backend.catalog.counts().sessions_without_transcript)
    assert "/home/mira/src/shop" == session_of(backend, OTHER).project


def test_todo_list_is_one_part(home: Home, indexed: Index) -> None:
    """A list with items is one part of its session with a line per item; an empty list is none."""
    home.session(SESSION).prompt("hello")
    items = [{"content": "feed the wombat", "status": "completed"}, {"content": "rest", "status": "pending"}]
    home.todos(SESSION, items)
    home.todos(OTHER, [])

    backend = indexed()

    assert [("prompt", "hello"), ("todo", "[completed] feed the wombat\n[pending] rest")] == said(backend)
    assert {"prompt": 1, "todo": 1} == backend.catalog.counts().parts


def test_todo_list_of_an_agent_is_the_agents(home: Home, indexed: Index) -> None:
    """The name of a todo file tells the agent too."""
    home.todos(SESSION, [{"content": "explore", "status": "pending"}], agent=OTHER)

    assert ["[pending] explore"] == texts(indexed(), SESSION, OTHER)


def test_todo_list_that_changes_replaces_its_part(home: Home, indexed: Index) -> None:
    """Of a todo list only the newest state is found, and of an emptied one nothing."""
    home.todos(SESSION, [{"content": "feed the wombat", "status": "pending"}])
    indexed()
    home.todos(SESSION, [{"content": "feed the numbat", "status": "in_progress"}])

    backend = indexed()

    assert ["[in_progress] feed the numbat"] == texts(backend)
    assert [] == found(backend, "wombat")
    home.todos(SESSION, [])
    assert {} == indexed().catalog.counts().parts


def test_task_is_one_part(home: Home, indexed: Index) -> None:
    """Each task file is a part: its status, its subject and what it describes."""
    home.task(SESSION, 1, "Feed the wombat", description="Twice a day", status="in_progress")
    home.task(SESSION, 2, "Rest")

    assert ["[in_progress] Feed the wombat: Twice a day", "[pending] Rest"] == texts(indexed())


def test_plan_and_memory_are_found(home: Home, indexed: Index) -> None:
    """Plans and memory files are parts of no session, found by their words."""
    home.plan("quiet-fox", "# Plan\nBuild a burrow\n")
    home.memory("MEMORY", "The wombat likes carrots\n")

    backend = indexed()

    assert [(Kind.PLAN, "# Plan\nBuild a burrow\n")] == hits(backend, "burrow")
    assert [(Kind.MEMORY, "The wombat likes carrots\n")] == hits(backend, "carrots")
    assert 0 == backend.catalog.counts().sessions


def test_plan_that_changes_replaces_its_part(home: Home, indexed: Index) -> None:
    """Only the newest version of a plan is kept."""
    home.plan("quiet-fox", "Build a burrow")
    indexed()
    home.plan("quiet-fox", "Build a larger nest")

    backend = indexed()

    assert {"plan": 1} == backend.catalog.counts().parts
    assert [] == hits(backend, "burrow")


def test_deleted_side_file_stays(home: Home, indexed: Index) -> None:
    """A plan that was deleted is still found, like a deleted transcript."""
    path = home.plan("quiet-fox", "Build a burrow")
    indexed()
    path.unlink()

    assert [(Kind.PLAN, "Build a burrow")] == hits(indexed(), "burrow")


def test_meta_links_an_agent_to_the_call_that_started_it(home: Home, indexed: Index) -> None:
    """The meta file gives an agent its title, its type and the call it ran for."""
    transcript = home.session(SESSION)
    call = transcript.call("Agent", {"prompt": "explore"})
    home.agent(SESSION, "a1").prompt("explore")
    home.meta(SESSION, "a1", agentType="Explore", description="Look for wombats", toolUseId=tool_id(call))

    backend = indexed()

    assert [("title", "Look for wombats")] == [part for part in said(backend, SESSION, "a1") if part[0] == "title"]
    assert [("a1", tool_id(call))] == facts_of(backend, "call")
    assert [("a1", "Explore")] == facts_of(backend, "agent-type")


def test_empty_meta_is_no_damage(home: Home) -> None:
    """A meta file of no bytes, as a crash leaves it, says nothing and is no problem."""
    home.meta(SESSION, "a1")

    changes = read(home.root)

    assert ([], []) == (spoken(changes), complaints(changes))


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[[[[", b"{]"])
def test_side_file_that_is_no_json_is_reported(home: Home, content: bytes) -> None:
    """A broken side file is named, and harms no other."""
    home.write(home.root / "todos" / f"{SESSION}-agent-{SESSION}.json", content)
    home.plan("quiet-fox", "Build a burrow")

    changes = read(home.root)

    assert [("not JSON", f"{SESSION}-agent-{SESSION}.json", 0)] == complaints(changes)
    assert [("plan", "assistant", "Build a burrow")] == spoken(changes)


def test_side_file_with_half_a_character_is_read(home: Home) -> None:
    """A lone surrogate is replaced in side files as in transcripts."""
    name = f"{SESSION}-agent-{SESSION}.json"
    home.write(home.root / "todos" / name, rb'[{"content":"smile \ud83d","status":"pending"}]')

    changes = read(home.root)

    assert ([("todo", "assistant", "[pending] smile \ufffd")], []) == (spoken(changes), complaints(changes))


@pytest.mark.parametrize("content", [b"17", b'"text"', b"null", b'[1,"a",null,{}]', b'{"subject":5}', b'{"entries":7}'])
def test_side_file_of_another_shape_says_nothing(home: Home, content: bytes) -> None:
    """JSON that is no todo list, no meta file and no index is read as empty."""
    home.write(home.root / "todos" / f"{SESSION}-agent-{SESSION}.json", content)
    home.write(home.project() / "sessions-index.json", content)
    home.write(home.project() / SESSION / "subagents" / "agent-a1.meta.json", content)

    changes = read(home.root)

    assert ([], []) == (spoken(changes), complaints(changes))


def test_sessions_index_gives_titles(home: Home, indexed: Index) -> None:
    """The index titles sessions that have no title of their own, by hand before by the model."""
    home.session(SESSION).prompt("hello")
    home.session(OTHER).prompt("hello too")
    home.index(
        [
            {"sessionId": SESSION, "summary": "Wombats counted", "firstPrompt": "hello"},
            {"sessionId": OTHER, "summary": "Numbats counted", "customTitle": "Numbats"},
        ]
    )

    backend = indexed()

    assert ["Wombats counted", "Numbats"] == [session_of(backend, session).title for session in (SESSION, OTHER)]
    assert 1 == backend.catalog.counts().repeats


def test_sessions_index_holds_the_first_prompt_of_a_lost_session(home: Home, indexed: Index) -> None:
    """What only the index knows of a session is found as history."""
    home.index([{"sessionId": OTHER, "firstPrompt": "where is the wombat?", "projectPath": "/lost"}])

    assert [("history", "where is the wombat?")] == said(indexed(), OTHER)


def persisted(name: str, session: str = SESSION) -> str:
    """Write a result whose text went into a file, with another machine's path."""
    path = f"C:\\Users\\else\\.claude\\projects\\p\\{session}\\tool-results\\{name}"
    return f"<persisted-output>\nOutput too large. Full output saved to: {path}\n\nPreview:\ntop"


LAYOUTS = ["{session}/subagents", "", "{session}/subagents/workflows/wf_1", "subagents/{session}/workflows/wf_1"]


@pytest.mark.parametrize("below", LAYOUTS)
def test_overflow_of_an_agent_is_found_in_every_layout(home: Home, indexed: Index, below: str) -> None:
    """Wherever an agent's transcript lies, its results are below its session."""
    agent = home.agent(SESSION, "a1", below=below)
    home.overflow(SESSION, "toolu_1.txt", "the whole wombat")
    agent.result(agent.call("Bash", {"command": "make"}), persisted("toolu_1.txt"))

    backend = indexed()

    assert ["command: make", "the whole wombat"] == texts(backend, SESSION, "a1")
    assert 1 == backend.catalog.counts().parts["tool_result"]


def test_overflow_of_a_backup_is_found(home: Home) -> None:
    """A backup names the same files as the transcript it was made of."""
    transcript = Transcript(home.project() / f"{SESSION}.jsonl.backup", SESSION)
    home.overflow(SESSION, "toolu_1.txt", "the whole wombat")
    transcript.result(transcript.call("Bash", {"command": "make"}), persisted("toolu_1.txt", "another-name"))

    assert ["command: make", "the whole wombat"] == [text for _, _, text in spoken(read(home.root))]


def test_overflow_of_a_fork_is_its_originals(home: Home, indexed: Index) -> None:
    """A fork copies the result but not the file; its text is the same, so it stays one part."""
    transcript = home.session(SESSION)
    home.overflow(SESSION, "toolu_1.txt", "the whole wombat")
    call = transcript.call("Bash", {"command": "make"})
    result = transcript.result(call, persisted("toolu_1.txt"))
    home.session(OTHER).line({**result, "sessionId": OTHER, "forkedFrom": {"sessionId": SESSION}})

    backend = indexed()

    assert 1 == backend.catalog.counts().parts["tool_result"]
    assert ["the whole wombat"] == texts(backend, OTHER)


@pytest.mark.parametrize("name", ["b1x2y3z.txt", "toolu_9.txt"])
def test_overflow_that_no_record_names_is_a_result_of_its_session(home: Home, indexed: Index, name: str) -> None:
    """A file whose result is nowhere is found by itself, until the result comes that names it."""
    home.overflow(SESSION, name, "the whole wombat")
    backend = indexed()
    assert [("tool_result", "the whole wombat")] == said(backend)
    transcript = home.session(SESSION)
    transcript.result(transcript.call("Bash", {"command": "make"}), persisted(name))

    backend = indexed()

    assert [("tool_call", "command: make"), ("tool_result", "the whole wombat")] == said(backend)
    assert 1 == len(found(backend, "wombat"))


def test_binary_overflow_is_no_text(home: Home) -> None:
    """A picture among the overflow files makes no part, and the result that names it keeps its preview."""
    path = home.overflow(SESSION, "webfetch-1.png", "")
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    transcript = home.session(SESSION)
    transcript.result(transcript.call("WebFetch", {"url": "x"}), persisted("webfetch-1.png"))

    results = [text for kind, _, text in spoken(read(home.root)) if kind == "tool_result"]

    assert [persisted("webfetch-1.png")] == results


@pytest.mark.parametrize("name", ["..", "", "../../../../../etc/passwd", "a\0b"])
def test_overflow_cannot_be_named_out_of_its_place(home: Home, tmp_path: Path, name: str) -> None:
    """Only the last piece of a recorded path is used, and a name that is none leads nowhere."""
    (home.project() / SESSION / "tool-results").mkdir(parents=True)
    transcript = home.session(SESSION)
    said_so = f"<persisted-output>\nsaved to: /x/tool-results/{name}\n"
    transcript.result(transcript.call("Bash", {"command": "make"}), said_so)

    assert said_so == spoken(read(home.root))[-1][2]


def test_document_with_the_inode_of_one_that_went_is_another(home: Home, indexed: Index) -> None:
    """A new plan that happens to get the inode of a deleted one does not take its text away."""
    old = home.plan("old", "the old plan")
    indexed()
    new = old.rename(old.with_name("new.md"))
    new.write_text("the new plan", encoding="utf-8")

    backend = indexed()

    assert {"the old plan", "the new plan"} == {hit.part.text for hit in found(backend, "plan")}
