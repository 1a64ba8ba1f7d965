"""The server of an agent and the process behind it: started, asked again when it dies, done without if it hangs."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from searchkit import Engine
from searchkit.client import connect
from tests.mcp.history import FIXED
from tests.support.transcript import Home

# More than anything here takes, also where other work slows it down.
PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.05

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("searchkit.server.__main__") is None, reason="there is no resident process yet"
)


class Agent:
    """An agent's end of a server."""

    def __init__(self, index: Path, complaints: Path) -> None:
        """Start the server, whose process leaves soon after the test."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "SEARCHKIT"))}
        self._complaints = complaints
        self._number = 0
        with complaints.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "searchkit.__main__", "mcp", "--index", str(index)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**kept, "SEARCHKIT_IDLE_SECONDS": "20", "SEARCHKIT_NO_VECTORS": "1"},
                cwd=complaints.parent,
            )

    def send(self, words: str) -> None:
        """Ask for something, and do not wait."""
        self._number += 1
        call = {"name": "search", "arguments": {"query": words, "mode": "keyword"}}
        message = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": call}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> list[str]:
        """Wait for an answer and return the sessions in it."""
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert not answer["result"]["isError"], answer
        return [one["session"] for one in answer["result"]["structuredContent"].get("results", [])]

    def search(self, words: str) -> list[str]:
        """Ask and wait."""
        self.send(words)
        return self.receive()

    @property
    def complaints(self) -> str:
        """What the server said on stderr."""
        return self._complaints.read_text()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A root with one session, which tests may add to."""
    home = Home(tmp_path_factory.mktemp("root") / "claude")
    home.session(FIXED).prompt("the ledger is slow")
    return home


@pytest.fixture(scope="module")
def index(root: Home) -> Iterator[Path]:
    """An index of it; the process that serves it is gone at the end."""
    place = root.root.parent / "index"
    with Engine(place, [root.root]) as engine:
        engine.index()
    yield place
    if found := health(place):
        os.kill(found["pid"], signal.SIGKILL)


@pytest.fixture
def agent(index: Path, tmp_path: Path) -> Iterator[Agent]:
    """An agent that has asked once, so that there is a process."""
    found = Agent(index, tmp_path / "complaints")
    assert [FIXED] == found.search("slow")
    yield found
    found.process.kill()
    found.process.communicate()


def health(index: Path) -> Any:
    """Return what the process says of itself, or None where there is none."""
    try:
        status, body = connect.ask(str(index), "GET", "/v1/health")
    except (connect.NobodyThere, connect.NoAnswer):
        return None
    return json.loads(body) if status == 200 else None


def pid(index: Path) -> int:
    """Return the number of the process, which may be too busy to say it at once."""
    ends_at = time.monotonic() + PATIENCE_SECONDS / 4
    while (found := health(index)) is None and time.monotonic() < ends_at:
        time.sleep(PAUSE_SECONDS)
    assert found is not None, "there is no process"
    return int(found["pid"])


def test_agents_share_a_process(agent: Agent, index: Path, tmp_path: Path) -> None:
    """Whoever comes next asks the process that is there, and nobody complains."""
    before = health(index)["pid"]
    other = Agent(index, tmp_path / "others")

    found = other.search("slow")
    other.process.kill()
    other.process.communicate()

    assert ([FIXED], before) == (found, health(index)["pid"])
    assert ("", "") == (agent.complaints, other.complaints)


@pytest.mark.slow
def test_killed_process_is_started_anew(agent: Agent, index: Path) -> None:
    """Whether it dies between questions or while it answers, every question is answered, and rightly."""
    answers = []
    for _ in range(2):
        agent.send("slow")
        os.kill(pid(index), signal.SIGKILL)
        answers.append(agent.receive())

    assert [[FIXED]] * 2 == answers
    assert "" == agent.complaints


def test_process_that_hangs_is_done_without(agent: Agent, index: Path) -> None:
    """Silence is not waited out: the server answers by itself, and says so once."""
    held = health(index)["pid"]
    os.kill(held, signal.SIGSTOP)
    try:
        found = [agent.search("slow") for _ in range(3)]
    finally:
        os.kill(held, signal.SIGCONT)

    assert [[FIXED]] * 3 == found
    assert 1 == agent.complaints.count("gives no answer")


def test_appended_line_is_found(agent: Agent, root: Home) -> None:
    """What is written to a transcript is found soon after, without any command."""
    root.session("22222222-2222-4222-8222-222222222222").prompt("a heron stood in the ledger")
    ends_at = time.monotonic() + PATIENCE_SECONDS

    found: list[str] = []
    while not found and time.monotonic() < ends_at:
        time.sleep(PAUSE_SECONDS)
        found = agent.search("heron")

    assert ["22222222-2222-4222-8222-222222222222"] == found


def test_bridge_of_another_version_is_refused(agent: Agent, index: Path) -> None:
    """What belongs to another version is answered by its own code."""
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json", "X-Searchkit-Version": "0.0.0"}

    status, _ = connect.ask(str(index), "POST", "/mcp", asked, headers)

    assert 409 == status


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_only_posting_is_served(agent: Agent, index: Path, method: str) -> None:
    """Whoever wants a stream of the server's own messages is refused: it would never end."""
    status, _ = connect.ask(str(index), method, "/mcp", b"", {"Accept": "text/event-stream"})

    assert 405 == status


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "WNOHANG"), reason="nothing is left of a process here")
def test_killed_process_leaves_nothing(agent: Agent, index: Path) -> None:
    """Of the processes that an agent's server started, only the one that serves is left once another was started."""
    for _ in range(2):
        os.kill(pid(index), signal.SIGKILL)
        agent.search("slow")

    states = subprocess.run(
        ["ps", "-A", "-o", "ppid=,stat="], capture_output=True, check=True, text=True
    ).stdout.splitlines()
    children = [state for parent, state in map(str.split, states) if parent == str(agent.process.pid)]

    assert [] == [state for state in children if state.startswith("Z")]
