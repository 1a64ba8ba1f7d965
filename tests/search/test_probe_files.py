"""Every layout and every side file is found by a word that only it holds, with the session and agent it belongs to."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import orjson
import pytest

from searchkit import Engine
from searchkit.types import Kind
from tests.support.answers import OTHER, SESSION, THIRD
from tests.support.probe import every, marker, only, searched
from tests.support.transcript import Home, Record, Transcript

FORK = "44444444-4444-4444-8444-444444444444"
GONE = "55555555-5555-4555-8555-555555555555"
COPIED = "99999999-9999-4999-8999-999999999999"
INLINE = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
WORKFLOW = "{session}/subagents/workflows/wf_1"


class File(NamedTuple):
    """What writes a file around a word, and what is to be found; the record's uuid where it has one."""

    kind: Kind
    write: Callable[[Home, str], Any]
    session: str | None = SESSION
    agent: str | None = None
    also_in: tuple[str, ...] = ()


def agent(identifier: str, below: str = "{session}/subagents", session: str = SESSION) -> File:
    """Write the transcript of an agent."""

    def write(home: Home, word: str) -> Record:
        return home.agent(session, identifier, below=below).text(f"the agent found {word}")

    return File(Kind.TEXT, write, session, identifier)


def somewhere(path: str, session: str) -> File:
    """Write the transcript of a session at an unusual place."""

    def write(home: Home, word: str) -> Record:
        return Transcript(home.project() / path.format(session=session), session).text(f"elsewhere {word}")

    return File(Kind.TEXT, write, session)


def journal(below: str) -> File:
    """Write the journal of a workflow."""

    def write(home: Home, word: str) -> None:
        lines = [
            {"type": "started", "key": "k", "agentId": "w1"},
            {"type": "result", "key": "k", "agentId": "w1", "result": {"said": [f"it ended with {word}"]}},
        ]
        path = home.project() / below.format(session=SESSION) / "journal.jsonl"
        home.write(path, b"".join(orjson.dumps(line) + b"\n" for line in lines))

    return File(Kind.TOOL_RESULT, write, agent="w1")


def overflowed(home: Home, word: str) -> Record:
    """Write a result that is too long for the transcript, with its file."""
    transcript = Transcript(home.project() / f"{THIRD}.jsonl", THIRD)
    call = transcript.call("Bash", {"command": "make"})
    home.overflow(THIRD, "toolu_long.txt", "line\n" * 50 + f"at last {word}\n")
    path = f"C:\\Users\\mira\\.claude\\projects\\x\\{THIRD}\\tool-results\\toolu_long.txt"
    preview = "Preview (first 2KB):\nline\n</persisted-output>"
    return transcript.result(call, f"<persisted-output>\nOutput too large. Full output saved to: {path}\n\n{preview}")


def forked(home: Home, word: str) -> Record:
    """Write a session and its fork, which copies the record."""
    original = home.session(OTHER)
    record = original.text(f"before the fork {word}")
    copy = {**record, "sessionId": FORK, "forkedFrom": {"sessionId": OTHER, "messageUuid": record["uuid"]}}
    Transcript(home.project() / f"{FORK}.jsonl", FORK).line(copy)
    return record


def copied(home: Home, word: str) -> Record:
    """Write a session, a backup of it, and the copy that compacting it made."""
    record = home.session(COPIED).text(f"said once {word}")
    home.write(home.project() / f"{COPIED}.jsonl.backup", orjson.dumps(record) + b"\n")
    home.agent(COPIED, "acompact-9").line({**record, "isSidechain": True, "agentId": "acompact-9"})
    return record


def sidechain(home: Home, word: str) -> Record:
    """Write what an agent said into the transcript of its session, as old versions did."""
    return home.session(INLINE).text(f"inline {word}", isSidechain=True, agentId="old7")


def indexed_as(field: str) -> Callable[[Home, str], Any]:
    """Add an entry to the sessions' index, of a session whose transcript is gone."""

    def write(home: Home, word: str) -> None:
        path = home.project() / "sessions-index.json"
        known = orjson.loads(path.read_bytes())["entries"] if path.exists() else []
        home.index([*known, {"sessionId": GONE, field: f"about {word}", "projectPath": home.cwd}])

    return write


FILES = {
    # Transcripts wherever they lie.
    "session": File(Kind.PROMPT, lambda home, word: home.session(SESSION).prompt(f"begin with {word}")),
    "session of a backup tool": somewhere("sessions/{session}.jsonl", "66666666-6666-4666-8666-666666666666"),
    "session that is only a backup": somewhere("{session}.jsonl.backup", "77777777-7777-4777-8777-777777777777"),
    "agent below its session": agent("a1b2c3d"),
    "agent beside its session": agent("b1b2c3d", below=""),
    "agent right below its session": agent("c1b2c3d", below="{session}"),
    "agent of a workflow": agent("w1", below=WORKFLOW),
    "agent of a workflow that was moved": agent("w2", below="subagents/{session}/workflows/wf_2"),
    "agent of an agent": agent("d1b2c3d", below="{session}/subagents/agent-a1b2c3d/subagents"),
    "agent of a session that is gone": agent("e1b2c3d", session="88888888-8888-4888-8888-888888888888"),
    "compaction whose session is gone": agent("acompact-1", session="88888888-8888-4888-8888-888888888888"),
    "side question": agent("aside_question-1"),
    "agent inside the session": File(Kind.TEXT, sidechain, INLINE, "old7"),
    "journal of a workflow": journal(WORKFLOW),
    "fork": File(Kind.TEXT, forked, session=OTHER, also_in=(FORK,)),
    "copies of a record": File(Kind.TEXT, copied, COPIED),
    "result in a file of its own": File(Kind.TOOL_RESULT, overflowed, session=THIRD),
    "file of a result that nothing names": File(
        Kind.TOOL_RESULT, lambda home, word: home.overflow(SESSION, "toolu_x.txt", f"unnamed {word}")
    ),
    # What lies beside the transcripts.
    "description of an agent": File(
        Kind.TITLE,
        lambda home, word: home.meta(SESSION, "a1b2c3d", agentType="Explore", description=f"look for {word}"),
        agent="a1b2c3d",
    ),
    "history": File(Kind.HISTORY, lambda home, word: home.history(f"typed {word}", SESSION)),
    "history without a session": File(Kind.HISTORY, lambda home, word: home.history(f"typed {word}"), None),
    "todo": File(Kind.TODO, lambda home, word: home.todos(SESSION, [{"content": f"mend {word}", "status": "pending"}])),
    "todo of an agent": File(
        Kind.TODO,
        lambda home, word: home.todos(SESSION, [{"content": f"mend {word}", "status": "done"}], "a1b2c3d"),
        agent="a1b2c3d",
    ),
    "subject of a task": File(Kind.TODO, lambda home, word: home.task(SESSION, 1, f"ship {word}")),
    "description of a task": File(Kind.TODO, lambda home, word: home.task(SESSION, 2, "x", description=f"by {word}")),
    "plan": File(Kind.PLAN, lambda home, word: home.plan("brave-fox", f"# Plan\n\n1. {word}"), None),
    "memory": File(Kind.MEMORY, lambda home, word: home.memory("MEMORY", f"- mind {word}"), None),
    "summary in the sessions' index": File(Kind.TITLE, indexed_as("summary"), GONE),
    "title in the sessions' index": File(Kind.TITLE, indexed_as("customTitle"), GONE),
    "first prompt in the sessions' index": File(Kind.HISTORY, indexed_as("firstPrompt"), GONE),
}

LEFT_OUT: dict[str, Callable[[Home, str], Any]] = {
    "suggested prompt": lambda home, word: home.agent(SESSION, "aprompt_suggestion-1").text(f"try {word}"),
    "answer to a warm-up": lambda home, word: [
        (agent := home.agent(SESSION, "f1b2c3d")).prompt("Warmup"),
        agent.text(f"ready {word}"),
    ],
    "binary result": lambda home, word: home.write(
        home.project() / SESSION / "tool-results" / "webfetch-1.pdf", f"%PDF\0{word}"
    ),
    "file that is no transcript": lambda home, word: home.write(home.project() / "notes.txt", word),
}


class Probed:
    """What was written, and what searches it."""

    def __init__(self, engine: Engine, written: dict[str, Any]) -> None:
        """Keep both."""
        self.engine, self.written = engine, written


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probed]:
    """A home with a word in each of its files."""
    written: dict[str, Any] = {}

    def write(home: Home) -> None:
        for name, file in FILES.items():
            written[name] = file.write(home, marker(name))
        for name, write_one in LEFT_OUT.items():
            write_one(home, marker(name))

    with searched(tmp_path_factory.mktemp("files"), write) as engine:
        yield Probed(engine, written)


@pytest.mark.parametrize("name", FILES)
def test_file_is_found_by_its_word(probed: Probed, name: str) -> None:
    """The only result is that part: its record, kind, session and agent, and the other sessions that hold it."""
    expected = FILES[name]

    found = only(probed.engine, marker(name)).best.stored

    home, *others = found.link.places
    uuid = probed.written[name]["uuid"] if isinstance(probed.written[name], dict) else found.part.uuid
    assert (uuid, expected.kind) == (found.part.uuid, found.part.kind)
    assert (expected.session, expected.agent) == (home.session, home.agent)
    assert expected.also_in == tuple({place.session for place in others} - {home.session})


@pytest.mark.parametrize("name", LEFT_OUT)
def test_noise_is_left_out(probed: Probed, name: str) -> None:
    """Suggested prompts, warm-ups and what is no text are not found."""
    assert [] == every(probed.engine, marker(name))


@pytest.mark.parametrize("name", FILES)
def test_agent_is_a_filter(probed: Probed, name: str) -> None:
    """The filter of an agent finds its parts, whatever the layout, and excluding it does not."""
    expected = FILES[name]
    asked = f"agent:{expected.agent or 'a1b2c3d'}"

    found = [len(every(probed.engine, f"{marker(name)} {sign}{asked}")) for sign in ("", "-")]

    assert ([1, 0] if expected.agent else [0, 1]) == found
