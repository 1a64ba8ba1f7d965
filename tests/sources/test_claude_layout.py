"""Which files below a root are read, as what, and what happens when they cannot be read or go away."""

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchkit.backends.base import Backend
from searchkit.errors import RootMissing, SourceError
from searchkit.sources.claude import ClaudeSource
from searchkit.sources.claude.layout import is_home_of
from tests.support.answers import OTHER, SESSION, facts_in, found, problems_of, read, session_of, spoken, texts
from tests.support.transcript import Home, Transcript

Index = Callable[[], Backend]
P = "projects/-home-mira-src-shop"

FILES: list[tuple[str, str, str | None, str | None, bool]] = [
    (f"{P}/{SESSION}.jsonl", "session", SESSION, None, False),
    (f"{P}/{SESSION}.jsonl.backup", "session", SESSION, None, True),
    (f"{P}/sessions/{SESSION}.jsonl", "session", SESSION, None, False),
    (f"{P}/chats/qwen-session-1.jsonl", "session", "qwen-session-1", None, False),
    (f"{P}/agent-a1.jsonl", "agent", None, "a1", False),
    (f"{P}/{SESSION}/agent-a1.jsonl", "agent", SESSION, "a1", False),
    (f"{P}/{SESSION}/subagents/agent-a1.jsonl", "agent", SESSION, "a1", False),
    (f"{P}/{SESSION}/subagents/agent-acompact-a1.jsonl", "agent", SESSION, "acompact-a1", True),
    (f"{P}/{SESSION}/subagents/agent-aside_question-a1.jsonl", "agent", SESSION, "aside_question-a1", True),
    (f"{P}/{SESSION}/subagents/agent-aprompt_suggestion-a1.jsonl", "agent", SESSION, "aprompt_suggestion-a1", False),
    (f"{P}/{SESSION}/subagents/workflows/wf_1/agent-a1.jsonl", "agent", SESSION, "a1", False),
    (f"{P}/{SESSION}/subagents/workflows/wf_1/journal.jsonl", "journal", SESSION, None, False),
    (f"{P}/subagents/{SESSION}/workflows/wf_1/journal.jsonl", "journal", SESSION, None, False),
    (f"{P}/journal.jsonl", "session", "journal", None, False),
    (f"{P}/{SESSION}/subagents/agent-a1.meta.json", "agent-meta", SESSION, "a1", False),
    (f"{P}/{SESSION}/tool-results/toolu_1.txt", "overflow", SESSION, None, False),
    (f"{P}/memory/MEMORY.md", "memory", None, None, False),
    (f"{P}/sessions-index.json", "sessions-index", None, None, False),
    ("history.jsonl", "history", None, None, False),
    (f"todos/{SESSION}-agent-{SESSION}.json", "todo", SESSION, None, False),
    (f"todos/{SESSION}-agent-{OTHER}.json", "todo", SESSION, OTHER, False),
    (f"tasks/{SESSION}/1.json", "todo", SESSION, None, False),
    ("plans/quiet-fox.md", "plan", None, None, False),
]


@pytest.mark.parametrize(("path", "kind", "session", "agent", "is_copy"), FILES, ids=[case[0][-40:] for case in FILES])
def test_file_is_known_by_its_place(
    home: Home, path: str, kind: str, session: str | None, agent: str | None, is_copy: bool
) -> None:
    """A file's path says what it is, of which session and agent, and whether it yields to any other."""
    home.write(home.root / path, b"")

    (change,) = read(home.root)

    origin = change.origin
    assert (kind, session, agent, is_copy) == (origin.kind, origin.session, origin.agent, origin.is_copy)


STRANGERS = [
    "settings.json",
    "notes.jsonl",
    "todos/readme.txt",
    "todos/deep/x.json",
    "tasks/loose.txt",
    "tasks/s/.lock.json",
    "plans/plan.txt",
    f"{P}/notes.md",
    f"{P}/data.json",
    f"{P}/{SESSION}/image.png",
    "shell-snapshots/x.jsonl",
    "statsig/x.json",
]


@pytest.mark.parametrize("path", STRANGERS)
def test_other_files_are_left_alone(home: Home, path: str) -> None:
    """What is no transcript and no known side file is not read."""
    home.write(home.root / path, b"{}")

    assert [] == read(home.root)


HOMES = [
    ("-home-mira-src-shop", "/home/mira/src/shop", True),
    ("-home-mira-my-shop-v2-0", "/home/mira/my_shop-v2.0", True),
    ("c--Users-mira-shop", "C:\\Users\\mira\\shop", True),
    ("-home-mira-src-shop", "/home/mira/src/shop/cart", False),
    ("-" + "a" * 199 + "-9x8y7z", "/" + "a" * 300, True),
    ("-" + "a" * 199 + "-9x8y7z", "/" + "a" * 198, False),
]


@pytest.mark.parametrize(("directory", "cwd", "is_home"), HOMES)
def test_project_directory_is_compared_with_a_path(directory: str, cwd: str, is_home: bool) -> None:
    """A directory's name cannot be turned back, but a path can be turned into it; long ones end in a hash."""
    assert is_home == is_home_of(directory, cwd)


def test_missing_root_is_an_error(tmp_path: Path) -> None:
    """A root that is not there, or holds no projects, is an error before anything is read."""
    (tmp_path / "empty").mkdir()

    for root in (tmp_path / "nowhere", tmp_path / "empty"):
        with pytest.raises(RootMissing):
            ClaudeSource([root])


def test_projects_that_lead_out_of_the_root_are_an_error(tmp_path: Path) -> None:
    """`projects` as a link to elsewhere is refused, and the message names the root to give instead."""
    Home(tmp_path / "real")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "projects").symlink_to(tmp_path / "real" / "projects")

    with pytest.raises(SourceError, match="symbolic link"):
        ClaudeSource([tmp_path / "root"])


def test_root_may_itself_be_a_link(home: Home, tmp_path: Path) -> None:
    """A root given by way of a link is the root it leads to."""
    home.session(SESSION).prompt("hello")
    (tmp_path / "link").symlink_to(home.root)

    assert [("prompt", "user", "hello")] == spoken(read(tmp_path / "link"))


@pytest.mark.parametrize("is_directory", [False, True], ids=["file", "directory"])
def test_link_out_of_the_root_is_not_followed(home: Home, tmp_path: Path, is_directory: bool) -> None:
    """Neither a file nor a directory outside of the root is read through a link, and that is told."""
    outside = Transcript(tmp_path / "outside" / "secret.jsonl", OTHER)
    outside.prompt("secret")
    target = outside.path.parent if is_directory else outside.path
    (home.project() / ("link" if is_directory else "link.jsonl")).symlink_to(target)
    home.session(SESSION).prompt("hello")

    changes = read(home.root)

    assert [("prompt", "user", "hello")] == spoken(changes)
    assert ["link out of the root"] == [problem.kind for change in changes for problem in change.problems]


def test_overflow_is_not_read_through_a_link(home: Home, tmp_path: Path) -> None:
    """A result cannot name its way out of the root by a linked tool-results directory."""
    home.write(tmp_path / "outside" / "toolu_1.txt", "secret")
    (home.project() / SESSION).mkdir()
    (home.project() / SESSION / "tool-results").symlink_to(tmp_path / "outside")
    transcript = home.session(SESSION)
    said = "<persisted-output>\nsaved to: /x/tool-results/toolu_1.txt\n"
    transcript.result(transcript.call("Bash", {"command": "make"}), said)

    assert said == spoken(read(home.root))[-1][2]


def test_link_inside_the_root_is_one_more_place(home: Home, indexed: Index) -> None:
    """A file reached by a second path within the root holds the same records once more, found once."""
    transcript = home.session(SESSION)
    transcript.prompt("hello wombat")
    (home.project() / f"{OTHER}.jsonl").symlink_to(transcript.path)

    backend = indexed()

    assert ["hello wombat"] == texts(backend, SESSION)
    assert 1 == len(found(backend, "wombat"))
    assert (2, 1) == (backend.catalog.counts().files, backend.catalog.counts().links)


def test_link_to_a_directory_inside_the_root_is_no_circle(home: Home) -> None:
    """A directory that links to itself is not walked for ever; its files are read at their own place."""
    home.session(SESSION).prompt("hello")
    (home.project() / "again").symlink_to(home.project())

    assert [("prompt", "user", "hello")] == spoken(read(home.root))


def test_pipe_is_not_opened(home: Home) -> None:
    """Something that only looks like a transcript by name does not make reading hang."""
    os.mkfifo(home.project() / "pipe.jsonl")

    assert [] == read(home.root)


def test_name_that_is_no_text_costs_only_its_file(home: Home, indexed: Index) -> None:
    """A file whose name is not UTF-8 stops nothing."""
    odd = home.project() / os.fsdecode(b"\xff\xfe.jsonl")
    odd.write_bytes(b'{"type":"user","uuid":"u1","message":{"content":"odd"}}\n')
    home.session(SESSION).prompt("hello")

    assert ["hello"] == texts(indexed())


def locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let opening one file fail as it does for want of permission, which root would not notice."""
    really_open = builtins.open

    def open_others(file: Any, *rest: Any, **named: Any) -> Any:
        if str(file) == str(path):
            raise PermissionError(13, "Permission denied")
        return really_open(file, *rest, **named)

    monkeypatch.setattr(builtins, "open", open_others)


def test_unreadable_file_is_reported_and_read_once_it_can_be(
    home: Home, indexed: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file without permission stops nothing, is named among the findings, and is not forgotten."""
    locked_one, other = home.session(SESSION), home.session(OTHER)
    locked_one.prompt("behind the lock")
    other.prompt("in the open")
    with monkeypatch.context() as patch:
        locked(locked_one.path, patch)
        backend = indexed()
        assert [(f"{SESSION}.jsonl", 0)] == problems_of(backend, "unreadable")
        assert ["in the open"] == texts(backend, OTHER)

    backend = indexed()

    assert ["behind the lock"] == texts(backend, SESSION)
    assert [] == problems_of(backend, "unreadable")


def test_known_file_that_becomes_unreadable_keeps_what_was_read(
    home: Home, indexed: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losing permission loses no part, and reading goes on where it stopped."""
    transcript = home.session(SESSION)
    transcript.prompt("one")
    indexed()
    transcript.prompt("two")
    with monkeypatch.context() as patch:
        locked(transcript.path, patch)
        backend = indexed()
        assert ["one"] == texts(backend)

    backend = indexed()

    assert ["one", "two"] == texts(backend)
    assert 2 == backend.catalog.counts().lines


def test_unreadable_overflow_costs_only_itself(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result whose file cannot be opened keeps its preview, and its transcript is read to the end."""
    path = home.overflow(SESSION, "toolu_1.txt", "whole")
    transcript = home.session(SESSION)
    said = "<persisted-output>\nsaved to: /x/tool-results/toolu_1.txt\nPreview"
    transcript.result(transcript.call("Bash", {"command": "make"}), said)
    transcript.prompt("after")
    locked(path, monkeypatch)

    changes = read(home.root)

    assert ["command: make", said, "after"] == [text for _, _, text in spoken(changes)]
    assert ["unreadable"] == [problem.kind for change in changes for problem in change.problems]


def test_deleted_transcript_stays_and_is_marked_gone(home: Home, indexed: Index) -> None:
    """What a deleted transcript held is still found; the session says that its file is gone."""
    transcript = home.session(SESSION)
    transcript.prompt("remember the wombat")
    home.session(OTHER).prompt("still here")
    assert not session_of(indexed()).is_gone
    content = transcript.path.read_bytes()
    transcript.path.unlink()

    backend = indexed()

    assert [True, False] == [session_of(backend, session).is_gone for session in (SESSION, OTHER)]
    assert 1 == len(found(backend, "wombat"))
    transcript.path.write_bytes(content)
    backend = indexed()
    assert not session_of(backend).is_gone
    assert ["remember the wombat"] == texts(backend)


def test_file_of_another_root_is_not_gone(home: Home, tmp_path: Path) -> None:
    """Reading one root says nothing about files that were read below another."""
    other = Home(tmp_path / "other")
    transcript = other.session(OTHER)
    transcript.prompt("elsewhere")
    seen: dict[str, bytes] = {}
    read(other.root, seen)
    transcript.path.unlink()
    home.session(SESSION).prompt("here")

    assert [False] == [change.is_gone for change in read(home.root, seen)]


def test_renamed_session_is_known_by_its_new_name(home: Home, indexed: Index) -> None:
    """A renamed transcript leaves no ghost of the old file, and nothing twice."""
    transcript = home.session(SESSION)
    record = transcript.prompt("hello wombat")
    indexed()
    transcript.path.rename(transcript.path.with_name("saved.jsonl"))

    backend = indexed()

    (hit,) = found(backend, "wombat")
    assert ["saved.jsonl"] == [Path(place.file).name for place in hit.link.places]
    assert record["uuid"] == hit.part.uuid
    assert 1 == backend.catalog.counts().files


def test_agents_nest(home: Home, indexed: Index) -> None:
    """An agent that starts an agent: each keeps its own parts, and the call names the inner one."""
    outer = home.agent(SESSION, "a1")
    call = outer.call("Task", {"prompt": "look deeper"})
    outer.result(call, "agentId: b2 (for resuming)\nfound")
    home.agent(SESSION, "b2").prompt("look deeper")

    backend = indexed()

    assert (1, 2) == (backend.catalog.counts().sessions, backend.catalog.counts().agents)
    assert ["look deeper"] == texts(backend, SESSION, "b2")
    calls = [(fact.agent, fact.value) for fact in backend.catalog.facts(SESSION) if fact.name == "call"]
    assert [("b2", call["message"]["content"][0]["id"])] == calls


def test_forked_agent_names_what_it_goes_on_from(home: Home) -> None:
    """The first line of a forked agent tells the session and the record that its context ends with."""
    agent = home.agent(SESSION, "a1")
    reference = {"type": "fork-context-ref", "agentId": "a1", "parentSessionId": OTHER, "parentLastUuid": "u9"}
    agent.line(reference)

    (fact,) = facts_in(read(home.root), "forked-from")

    assert (SESSION, "a1", OTHER, "u9") == (fact.session, fact.agent, fact.value, fact.leaf)


def test_workflow_journal_holds_results(home: Home, indexed: Index) -> None:
    """The result lines of a workflow's journal are results of its session; that an agent started is not."""
    path = home.project() / SESSION / "subagents" / "workflows" / "wf_1" / "journal.jsonl"
    journal = Transcript(path, SESSION)
    journal.line({"type": "started", "key": "k1", "agentId": "a1"})
    journal.line({"type": "result", "key": "k1", "agentId": "a1", "result": {"verdict": "fine", "score": 3}})

    backend = indexed()

    assert {"tool_result": 1} == backend.catalog.counts().parts
    assert ["fine"] == [hit.part.text for hit in found(backend, "fine")]
    assert (1, 2, 0) == (
        backend.catalog.counts().sessions,
        backend.catalog.counts().lines,
        backend.catalog.counts().torn,
    )


def test_empty_transcript_is_a_session(home: Home, indexed: Index) -> None:
    """A file of no bytes is a session with nothing in it, and no damage."""
    home.session(SESSION)

    backend = indexed()

    assert (1, 1, 0) == (
        backend.catalog.counts().files,
        backend.catalog.counts().sessions,
        backend.catalog.counts().lines,
    )
    assert [] == [finding for finding in backend.findings() if not finding.kind.startswith("index")]


@pytest.mark.parametrize("name", ["plans", "todos", "tasks"])
def test_side_directory_that_is_a_link_out_of_the_root_is_not_followed(home: Home, tmp_path: Path, name: str) -> None:
    """Not only entries but the directories of side files themselves stay inside the root."""
    home.write(tmp_path / "outside" / "x.md", "secret")
    home.write(tmp_path / "outside" / "x.json", '[{"content": "secret", "status": "pending"}]')
    (home.root / name).symlink_to(tmp_path / "outside")
    home.session(SESSION).prompt("hello")

    assert [("prompt", "user", "hello")] == spoken(read(home.root))


def test_link_to_nothing_is_no_failure(home: Home) -> None:
    """An editor's lock, which is a link to nothing, is passed over without a word."""
    home.session(SESSION).prompt("hello")
    (home.project() / ".#notes").symlink_to("mira@host.1")

    assert [] == [problem for change in read(home.root) for problem in change.problems]
