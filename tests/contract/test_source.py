"""What every source promises: to tell what is new, once, however it is read."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchkit.backends.base import Backend
from searchkit.sources import jsonl
from searchkit.sources.apps import APPS
from searchkit.sources.base import Source
from searchkit.sources.registry import open_source
from searchkit.types import Behind
from tests.contract.small import batch, contents
from tests.reference import ReferenceBackend
from tests.reference.fingerprint import digest
from tests.support.rollout import CodexHome
from tests.support.transcript import Home, tool_id

SESSION = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"


class Furnished(NamedTuple):
    """A root of a program with files of every kind: a session, a fork, and where a file may be moved to."""

    app: str
    root: Path
    session: Path
    fork: Path
    moved: Path

    @property
    def source(self) -> Source:
        """Open it."""
        return open_source(self.app, [self.root])


@pytest.fixture(params=["claude", "codex"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Furnished:
    """A root with a session, its agents, a fork, and files of every kind beside them."""
    return FURNISHED[request.param](tmp_path / "root")


def of_claude(root: Path) -> Furnished:
    """Write a root of Claude Code."""
    home = Home(root)
    _session(home)
    _agents(home)
    fork = home.session(FORK)
    first = fork.prompt("find the slow query", forkedFrom={"sessionId": SESSION, "messageUuid": "x"})
    fork.text("it is the join", parent=first["uuid"])
    home.history("find the slow query", SESSION)
    home.history("typed long ago")
    home.todos(SESSION, [{"content": "measure", "status": "pending"}])
    home.plan("faster", "# Make it faster")
    home.memory("queries", "joins are slow here")
    home.index([{"sessionId": SESSION, "summary": "Slow queries", "firstPrompt": "find the slow query"}])
    moved = home.project("/home/mira/src/other") / f"{FORK}.jsonl"
    return Furnished("claude", root, home.project() / f"{SESSION}.jsonl", home.project() / f"{FORK}.jsonl", moved)


def of_codex(root: Path) -> Furnished:
    """Write a root of Codex."""
    home = CodexHome(root)
    session = home.rollout(SESSION)
    session.wrapped("<environment_context>\n<cwd>/src</cwd>\n</environment_context>")
    session.turn("t1")
    session.prompt("find the slow query")
    session.thinking("")
    session.thinking("it may be the join")
    for line in _calls():
        call = session.call("shell", {"command": ["bash", "-lc", line]})
        if line != "sleep":
            session.result(call, f"Exit code: 0\nWall time: 1 seconds\nOutput:\n{line}: done")
        session.usage(len(line) * 100, 50, 10, 40)
    session.raw(b'{"type": "response_item", "torn\n\n')
    for _ in range(3):
        session.text("still looking")
    session.line("compacted", {"message": "What happened so far: joins.", "replacement_history": []})
    session.turn("t2", model="gpt-5.1-codex")
    session.prompt("and the index?")
    spawned = session.call("spawn_agent", {"message": "look for joins"})
    session.result(spawned, '{"agent_id": "33333333-3333-4333-8333-333333333333"}')
    session.text("the join needs an index: ä€😀")
    agent = home.rollout("33333333-3333-4333-8333-333333333333", day=2, parent_thread_id=SESSION)
    agent.turn("t3")
    agent.prompt("look for joins")
    agent.text("found three")
    fork = home.rollout(FORK, day=3, forked_from_id=SESSION)
    fork.raw(b"".join(session.path.read_bytes().splitlines(keepends=True)[:9]))
    fork.turn("t4")
    fork.prompt("try it without the join")
    home.history(SESSION, "find the slow query")
    home.history("44444444-4444-4444-8444-444444444444", "typed long ago")
    return Furnished("codex", root, session.path, fork.path, root / "archived_sessions" / fork.path.name)


FURNISHED = {"claude": of_claude, "codex": of_codex}


def test_every_source_is_tried() -> None:
    """No program is left out above."""
    assert set(APPS) == set(FURNISHED)


def test_what_was_read_is_not_new(home: Furnished) -> None:
    """Given the checkpoints of everything, a source has nothing to tell."""
    source = home.source
    backend = read(source, ReferenceBackend())

    assert [] == list(source.changes(backend.catalog.checkpoints()))
    assert Behind(files=0, bytes=0) == source.behind(backend.catalog.checkpoints())


def test_behind_is_what_there_is_to_read(home: Furnished) -> None:
    """A source says beforehand how many files have something new, and how much."""
    source = home.source

    behind = source.behind({})

    files = [path for path in home.root.rglob("*") if path.is_file()]
    assert Behind(files=len(files), bytes=sum(path.stat().st_size for path in files)) == behind


@pytest.mark.parametrize("piece_bytes", [1, 700, 5_000])
def test_pieces_add_up(home: Furnished, monkeypatch: pytest.MonkeyPatch, piece_bytes: int) -> None:
    """However large the pieces are in which files are read, the same is told."""
    source = home.source
    whole = read(source, ReferenceBackend())

    monkeypatch.setattr(jsonl, "PIECE_BYTES", piece_bytes)
    pieces = read(source, ReferenceBackend())

    assert contents(whole) == contents(pieces)
    assert digest(whole) == digest(pieces)


def test_reading_goes_on_after_any_change(home: Furnished, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after any change, reading goes on from there and ends the same."""
    monkeypatch.setattr(jsonl, "PIECE_BYTES", 1_500 if home.app == "claude" else 600)
    source = home.source
    whole = read(source, ReferenceBackend())
    total = len(list(source.changes({})))

    ends = {digest(read(source, read(source, ReferenceBackend(), number))) for number in range(total)}

    assert total > 15
    assert {digest(whole)} == ends


def test_two_changes_at_a_time_end_the_same(home: Furnished, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted again and again, reading still comes to its end."""
    monkeypatch.setattr(jsonl, "PIECE_BYTES", 1_500)
    source = home.source
    whole = read(source, ReferenceBackend())

    backend: Backend = ReferenceBackend()
    for _ in range(len(list(source.changes({})))):
        # Two, because a result kept in a file of its own is told of before the transcript that names it.
        read(source, backend, 2)

    assert [] == list(source.changes(backend.catalog.checkpoints()))
    assert contents(whole) == contents(backend)


@settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.parametrize("app", FURNISHED)
@given(cuts=st.lists(st.floats(0, 1), max_size=6))
def test_reading_while_it_is_written_ends_the_same(app: str, cuts: list[float]) -> None:
    """A transcript that is read whenever some bytes of it have come, half a line or many, tells the same."""
    with TemporaryDirectory() as directory:
        home = FURNISHED[app](Path(directory) / "root")
        path = home.session
        content = path.read_bytes()
        source = home.source
        whole = read(source, ReferenceBackend())

        backend: Backend = ReferenceBackend()
        path.write_bytes(b"")
        done = 0
        for end in [*sorted(int(cut * len(content)) for cut in cuts), len(content)]:
            with path.open("ab") as file:
                file.write(content[done:end])
            done = end
            read(source, backend)

        assert contents(whole) == contents(backend)


def test_file_that_went_is_told_of(home: Furnished) -> None:
    """A file that is no longer there is told of as gone."""
    source = home.source
    backend = read(source, ReferenceBackend())
    path = home.fork

    path.unlink()

    assert [(str(path), True)] == [
        (change.file, change.is_gone) for change in source.changes(backend.catalog.checkpoints())
    ]


def test_file_that_moved_is_told_of(home: Furnished) -> None:
    """A file that was moved is told of as moved, and is not read again."""
    source = home.source
    backend = read(source, ReferenceBackend())
    path, moved = home.fork, home.moved
    moved.parent.mkdir()

    path.rename(moved)

    (change,) = source.changes(backend.catalog.checkpoints())
    assert (str(moved), str(path), False, 0) == (change.file, change.moved_from, change.is_restart, change.bytes_read)
    assert [] == list(source.changes(read(source, backend).catalog.checkpoints()))


def read(source: Source, backend: Backend, limit: int | None = None) -> Backend:
    """Bring a backend up to date, or write as many changes as the limit says."""
    for change in islice(source.changes(backend.catalog.checkpoints()), limit):
        backend.catalog.write(batch(change))
    backend.catalog.settle()
    return backend


def _session(home: Home) -> None:
    session = home.session(SESSION)
    session.line({"type": "summary", "summary": "About joins", "leafUuid": "nowhere"})
    session.line(_queued("find the slow query"))
    session.prompt("find the slow query")
    session.thinking("")
    session.thinking("it may be the join")
    for line in _calls():
        call = session.call("Bash", {"command": line})
        for percent in range(3):
            session.progress({"type": "bash_progress", "fullOutput": f"{line}: {percent} %"}, call)
        if line != "sleep":
            session.result(call, f"{line}: done")
    overflow = home.overflow(SESSION, "long.txt", "a very long result")
    call = session.call("Read", {"file_path": "/src/query.sql"})
    session.result(call, f"<persisted-output>\nOutput too large. Full output saved to: {overflow}\n</persisted-output>")
    home.overflow(SESSION, "orphan.txt", "a result that nobody names")
    session.raw(b'{"type": "user", "torn\n\n')
    session.prompt("<command-name>/model</command-name><command-args>opus</command-args>")
    session.prompt("Set the model", isMeta=True)
    session.attachment("queued_command", prompt="and the index?", commandMode="prompt")
    session.system("local_command", content="<local-command-stdout>ok</local-command-stdout>")
    session.compact("What happened so far: joins.")
    session.branch = "faster"
    session.text("the join needs an index: ä€😀")
    session.line({"type": "custom-title", "customTitle": "Slow joins", "sessionId": SESSION})
    session.raw(b'{"type": "last-prompt", "lastPrompt": "and the index?", "sessionId": "' + SESSION.encode() + b'"}')


def _agents(home: Home) -> None:
    agent = home.agent(SESSION, "a1b2c3")
    agent.prompt("Warmup")
    agent.text("ready")
    call = agent.call("Bash", {"command": "warm"})
    agent.progress({"type": "bash_progress", "fullOutput": "warm"}, call)
    agent.progress({"type": "hook_progress"}, call)
    agent.prompt("look for joins")
    agent.text("found three")
    home.meta(SESSION, "a1b2c3", agentType="Explore", description="Look for joins", toolUseId=tool_id(call))
    copy = home.agent(SESSION, "acompact-d4e5f6")
    copy.raw(b"".join((home.project() / f"{SESSION}.jsonl").read_bytes().splitlines(keepends=True)[2:6]))
    copy.text("<summary>joins</summary>")
    old = home.agent(SESSION, "0ld", below="")
    old.prompt("an agent of the old layout")
    home.agent(SESSION, "aprompt_suggestion-1").text("suggest an index")


def _calls() -> Iterator[str]:
    yield from ("ls", "sleep", "make")


def _queued(text: str) -> dict[str, str]:
    times = "2026-03-01T09:59:59.000Z"
    return {
        "type": "queue-operation",
        "operation": "enqueue",
        "content": text,
        "sessionId": SESSION,
        "timestamp": times,
    }
