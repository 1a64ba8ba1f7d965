"""The small files of newer clients: titles, background jobs, pasted texts, workflows, agents that run elsewhere."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from searchkit.backends.base import Backend
from tests.reference.contents import session_parts
from tests.support.answers import OTHER, SESSION, complaints, facts_of, found, read, said, session_of
from tests.support.transcript import Home

Index = Callable[[], Backend]
JOB = "11111111"
JOB_FILES = ("state.json", "timeline.jsonl")
HASH = "0123456789abcdef"
RUN = "wf_95ebd6cd-ddd"
# Values of the wrong type for any field.
HOSTILE: list[object] = [None, True, 7, -1.5, 1 << 70, "", " ", "x" * 100_000, "\ud800", [], [[]], {}, {"a": [None]}]


def title(home: Home, words: object, modified: int = 1_772_359_200) -> Path:
    """Write the title that a person gave a session."""
    path = home.project() / SESSION / "custom-title.json"
    home.write(path, orjson.dumps({"customTitle": words}))
    os.utime(path, (modified, modified))
    return path


def job(home: Home, **fields: Any) -> Path:
    """Write the state of a background session."""
    state = {"state": "stopped", "sessionId": SESSION, "cwd": home.cwd, "createdAt": "2026-03-01T10:00:00.000Z"}
    return home.write(home.root / "jobs" / JOB / "state.json", orjson.dumps({**state, **fields}))


def paste(home: Home, text: str, name: str = HASH) -> Path:
    """Write a text that was pasted into a prompt."""
    return home.write(home.root / "paste-cache" / f"{name}.txt", text)


def history(home: Home, *pasted: object) -> None:
    """Append a prompt with pasted texts to the history."""
    contents = {str(number): item for number, item in enumerate(pasted, 1)}
    line = {"display": "see [Pasted text #1]", "pastedContents": contents, "timestamp": 1_772_359_200_000}
    with (home.root / "history.jsonl").open("ab") as file:
        file.write(orjson.dumps({**line, "sessionId": SESSION, "project": home.cwd}) + b"\n")


def test_title_in_a_file_is_the_title(home: Home, indexed: Index) -> None:
    """It counts like a custom-title record, is found, and comes before one that an earlier line holds."""
    transcript = home.session(SESSION)
    transcript.prompt("hello")
    transcript.line({"type": "custom-title", "customTitle": "an old name", "sessionId": SESSION})
    title(home, "the tapir refactoring")

    backend = indexed()

    assert "the tapir refactoring" == session_of(backend).title
    assert [("title", "the tapir refactoring")] == [
        (hit.part.kind.value, hit.part.text) for hit in found(backend, "tapir")
    ]


def test_title_in_a_file_changes_and_outlives_it(home: Home, indexed: Index) -> None:
    """The title that was written last holds, also when the file is gone."""
    home.session(SESSION).prompt("hello")
    title(home, "first name")
    indexed()
    path = title(home, "second name", 1_772_359_300)
    changed = session_of(indexed()).title
    path.unlink()

    backend = indexed()

    assert ("second name", "second name") == (changed, session_of(backend).title)


def test_title_elsewhere_is_none(home: Home) -> None:
    """Only in the directory of a session the file says something of it."""
    home.session(SESSION).prompt("hello")
    home.write(home.project() / "custom-title.json", b'{"customTitle": "stray"}')
    home.write(home.project() / SESSION / "deeper" / "custom-title.json", b'{"customTitle": "stray"}')

    changes = read(home.root)

    assert ["prompt"] == [block.kind for change in changes for one in change.records for block in one.blocks]


def test_job_tells_a_session_without_a_transcript(home: Home, indexed: Index) -> None:
    """What a background session was asked, its name, its project and its day are known from its state alone."""
    job(home, intent="count the wombats", name="wombat census")

    backend = indexed()

    session = session_of(backend)
    assert ("wombat census", home.cwd, True) == (session.title, session.project, session.is_gone)
    assert 1_772_359_200_000 == session.started
    assert [("history", "count the wombats"), ("title", "wombat census")] == said(backend)


def test_job_repeats_the_transcript(home: Home, indexed: Index) -> None:
    """What the transcript holds too is found once, there; so are the lines of the timeline."""
    transcript = home.session(SESSION)
    transcript.prompt("count the wombats")
    transcript.text("there are nine")
    state = job(home, intent="count the wombats", name="wombat census")
    line = {"at": "2026-03-01T10:00:05.000Z", "state": "working", "detail": "there are nine", "text": "there are nine"}
    other = {"at": "2026-03-01T10:00:09.000Z", "state": "working", "text": "a tenth came"}
    home.write(state.with_name("timeline.jsonl"), orjson.dumps(line) + b"\ntorn {\n" + orjson.dumps(other) + b"\n")
    home.write(home.root / "jobs" / "pins.json", b"[]")

    backend = indexed()

    assert {("prompt", "count the wombats"), ("text", "there are nine"), ("text", "a tenth came")} < set(said(backend))
    assert ["prompt"] == [hit.part.kind.value for hit in found(backend, "count")]
    assert (1, 0) == (session_of(backend).prompts, len(list(backend.findings())))


def test_job_is_read_again_when_it_changes(home: Home, indexed: Index) -> None:
    """A state that changed says what it says now, and what it said stays when it is gone."""
    home.session(SESSION).prompt("hello")
    path = job(home, intent="count the wombats")
    indexed()
    job(home, intent="count the numbats")
    backend = indexed()
    before = (len(found(backend, "wombats")), len(found(backend, "numbats")))
    path.unlink()

    backend = indexed()

    assert (0, 1) == before
    assert 1 == len(found(backend, "numbats"))


def test_timeline_without_its_state_has_no_session(home: Home, indexed: Index) -> None:
    """Nothing but the state says whose timeline it is, and a link in its place is not followed."""
    secret = home.write(home.root.parent / "elsewhere.json", orjson.dumps({"sessionId": OTHER}))
    path = home.write(home.root / "jobs" / JOB / "timeline.jsonl", b'{"text": "a lone quokka"}\n')
    path.with_name("state.json").symlink_to(secret)

    backend = indexed()

    assert [None] == [hit.link.places[0].session for hit in found(backend, "quokka")]


def test_pasted_text_is_found_by_its_hash(home: Home, indexed: Index) -> None:
    """A long text that the history only names lies in a file; it is part of the prompt, and stays when that is gone."""
    path = paste(home, "stack trace of the pangolin")
    history(home, {"id": 1, "type": "text", "contentHash": HASH})
    indexed()
    path.unlink()

    backend = indexed()

    hits = found(backend, "pangolin")
    assert [("history", SESSION)] == [(hit.part.kind.value, hit.link.places[0].session) for hit in hits]
    assert "see [Pasted text #1]\nstack trace of the pangolin" == hits[0].part.text


def test_pasted_text_that_nothing_names_is_found(home: Home, indexed: Index) -> None:
    """A text whose prompt is not known is found by itself; binary data is not."""
    paste(home, "a pangolin alone")
    paste(home, "a pangolin\0", "fedcba9876543210")

    assert [("history", "a pangolin alone")] == [
        (hit.part.kind.value, hit.part.text) for hit in found(indexed(), "pangolin")
    ]


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "", "0" * 300, HASH + "/", 7, None, {}])
def test_hash_that_is_none_names_no_file(home: Home, name: object) -> None:
    """A name that leads elsewhere is not followed, and neither is a link out of the root."""
    secret = home.write(home.root.parent / "secret.txt", "the secret")
    (home.root / "paste-cache").mkdir()
    (home.root / "paste-cache" / f"{HASH}.txt").symlink_to(secret)
    history(home, {"contentHash": name}, {"contentHash": HASH}, None, [], "text")

    changes = read(home.root)

    texts = [block.text for change in changes for one in change.records for block in one.blocks]
    assert ["see [Pasted text #1]"] == texts


def test_same_text_pasted_everywhere_is_bounded(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that every line names is taken in only so often, whatever the history says."""
    monkeypatch.setattr("searchkit.sources.claude.source.MOST_PASTED", 1000)
    paste(home, "p" * 400)
    for _ in range(5):
        history(home, {"contentHash": HASH})

    changes = read(home.root)

    texts = [block.text for change in changes for one in change.records for block in one.blocks]
    assert 2 == sum("ppp" in text for text in texts)


def test_workflow_is_found_by_its_script_and_outcome(home: Home, indexed: Index) -> None:
    """A run's log and result are a result of its session; its script is found once, though two files hold it."""
    home.session(SESSION).prompt("hello")
    script = "export const meta = {name: 'count'}\nlog('numbat')"
    run = {"runId": RUN, "script": script, "logs": ["a bilby passed"], "result": {"seen": "nine bilbies"}}
    home.write(home.project() / SESSION / "workflows" / f"{RUN}.json", orjson.dumps(run))
    home.write(home.project() / SESSION / "workflows" / "scripts" / f"count-{RUN}.js", script)

    backend = indexed()

    assert [("tool_result", "a bilby passed\nnine bilbies")] == [
        (hit.part.kind.value, hit.part.text) for hit in found(backend, "bilby")
    ]
    assert [("attachment", SESSION)] == [
        (hit.part.kind.value, hit.link.places[0].session) for hit in found(backend, "numbat")
    ]


def test_remote_agent_is_known_by_its_meta_file(home: Home, indexed: Index) -> None:
    """Of an agent that runs elsewhere, its title, its task and its call are known here."""
    transcript = home.session(SESSION)
    transcript.prompt("hello")
    transcript.call("Agent", {"prompt": "review it"})
    meta: dict[str, object] = {
        "taskId": "r1",
        "remoteTaskType": "ultrareview",
        "title": "review of numbats",
        "command": "look at all",
    }
    meta |= {"sessionId": "session_elsewhere", "toolUseId": "toolu_1", "spawnedAt": 1_772_359_200_000}
    home.write(home.project() / SESSION / "remote-agents" / "remote-agent-r1.meta.json", orjson.dumps(meta))

    backend = indexed()

    assert [("r1", "toolu_1")] == facts_of(backend, "call")
    assert [("r1", "session_elsewhere")] == facts_of(backend, "remote-session")
    assert ["title"] == [hit.part.kind.value for hit in found(backend, "numbats")]


def test_session_that_only_the_index_knows_keeps_date_and_project(home: Home, indexed: Index) -> None:
    """Of a transcript that was deleted before it was read, the index of sessions says where and when."""
    entry = {"sessionId": SESSION, "firstPrompt": "find the tapir", "summary": "Tapir hunt"}
    home.index([{**entry, "created": "2026-03-01T10:00:00.000Z", "projectPath": "/home/mira/src/zoo"}])

    session = session_of(indexed())

    assert ("Tapir hunt", "/home/mira/src/zoo", 1_772_359_200_000) == (session.title, session.project, session.started)


def test_transcript_knows_its_project_better_than_the_index(home: Home, indexed: Index) -> None:
    """What side files say of the project counts only where no transcript says it."""
    home.session(SESSION).prompt("hello")
    home.index([{"sessionId": SESSION, "firstPrompt": "hello", "projectPath": "/elsewhere"}])
    job(home, cwd="/elsewhere", intent="hello")

    assert home.cwd == session_of(indexed()).project


def test_project_is_taken_from_records_not_from_the_directory(home: Home, indexed: Index) -> None:
    """CLAUDE_CODE_PROJECT_DIR_NAME names the directory as it likes; the working directory is what records say."""
    transcript = home.session(SESSION)
    transcript.prompt("hello")
    home.project().rename(home.root / "projects" / "any name at all")

    assert home.cwd == session_of(indexed()).project


def test_overflow_named_after_its_task_is_read(home: Home, indexed: Index) -> None:
    """The whole of a long result is found by the name that the record gives, whatever that is called after."""
    path = home.overflow(SESSION, "bs80rtiag.txt", "line one\nthe aardvark at the end")
    transcript = home.session(SESSION)
    transcript.prompt("run it")
    call = transcript.call("Bash", {"command": "run"})
    shown = f"<persisted-output>\nOutput too large. Full output saved to: /elsewhere/{SESSION}/tool-results/{path.name}"
    transcript.result(call, shown + "\n\nPreview:\nline one\n</persisted-output>")

    hits = found(indexed(), "aardvark")

    assert [("tool_result", "Bash")] == [(hit.part.kind.value, hit.part.tool) for hit in hits]


def test_what_holds_nothing_to_search_is_passed_over_silently(home: Home) -> None:
    """Bookkeeping of the client is neither read nor reported."""
    home.session(SESSION).prompt("hello")
    for name in (
        "sessions/12.json",
        "session-env/a/b.sh",
        "daemon/x.json",
        "daemon.log",
        "backups/.claude.json.backup.1",
    ):
        home.write(home.root / name, b"{ not JSON")
    for name in (
        ".last-cleanup",
        "plugins/store/p/x.jsonl",
        "stats-cache.json",
        "jobs/pins.json",
        "jobs/a/b/state.json",
    ):
        home.write(home.root / name, b"{ not JSON")

    changes = read(home.root)

    assert ([f"{SESSION}.jsonl"], []) == ([Path(change.file).name for change in changes], complaints(changes))


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_hostile_values_raise_nothing(home: Home, indexed: Index, value: object) -> None:
    """A value of any type in place of any that is expected is as good as nothing."""
    keys = ["customTitle", "intent", "name", "sessionId", "resumeSessionId", "cwd", "createdAt", "text", "at", "detail"]
    keys += ["runId", "script", "logs", "result", "timestamp", "summary", "title", "command", "toolUseId", "spawnedAt"]
    keys += ["parentAgentId", "workflowPhase", "agentType", "description", "remoteTaskType"]
    home.session(SESSION).prompt("hello")
    own = home.project() / SESSION
    paths = [own / "custom-title.json", own / "workflows" / f"{RUN}.json", own / "remote-agents" / "x.meta.json"]
    paths += [own / "subagents" / "agent-a1.meta.json", *(home.root / "jobs" / JOB / name for name in JOB_FILES)]
    for path in paths:
        home.write(path, dumps(dict.fromkeys(keys, value)))
    for number, path in enumerate(paths[:-1]):
        home.write(path.with_name(f"wf_{number}{path.name}"), dumps(value))

    backend = indexed()

    assert "hello" in [part.part.text for part in session_parts(backend, SESSION)]
    assert session_of(backend).title


def dumps(value: object) -> bytes:
    """Write JSON as Python does, which lets through what orjson refuses."""
    return json.dumps(value).encode()
