"""What the resident process prints for a command is what the command prints by itself."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from searchkit.client import connect
from tests.support.running import Answer
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
START_SECONDS = 60.0
SHORT_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"
SLOW = ("click", "msgspec", "orjson", "pathlib", "typing", "searchkit.engine", "searchkit.cli.main")
COMMANDS = (
    ["search", "zebra"],
    ["search", "zebra", "--explain", "--facets", "kind,project"],
    ["search", "absent"],
    ["search", "kind:poem"],
    ["search", "zebra", "--limit", "0"],
    ["search", "zebra", "--bogus"],
    ["sessions"],
    ["sessions", "--json"],
    ["show", SESSION],
    ["show", "1"],
    ["show", "nowhere"],
    ["tree", SESSION],
    ["tree", SESSION, "--ascii"],
    ["context", "zebra", "--max-tokens", "500"],
    ["context", "zebra", "--max-tokens", "500", "--exclude-current"],
    ["resume", SESSION],
    ["stats"],
    ["stats", "--json"],
)


class Shell:
    """A shell in which an index of one session is the user's own."""

    def __init__(self, directory: Path) -> None:
        """Make the index."""
        self.index = directory / "index"
        home = Home(directory / "claude")
        transcript = home.session(SESSION)
        transcript.prompt("why is the zebra slow\x1b[31m")
        transcript.text("The zebra is slow because of its stripes: ──")
        self.variables = {
            **{name: value for name, value in os.environ.items() if name != "SEARCHKIT_NO_RESIDENT"},
            "HOME": str(directory),
            "SEARCHKIT_INDEX": str(self.index),
            "SEARCHKIT_NO_VECTORS": "1",
            "SEARCHKIT_ROOTS": str(home.root),
        }
        self.type("index")
        self.type("search", "zebra", "--no-resident")

    def type(self, *arguments: str, **variables: str) -> Answer:
        """Run a command as it is typed, in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "searchkit.__main__", *arguments],
            capture_output=True,
            check=False,
            env={**self.variables, **variables},
            encoding="utf-8",
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def health(self) -> dict[str, int]:
        """Wait until the resident process answers, and return what it says of itself."""
        ends_at = time.monotonic() + START_SECONDS
        while True:
            try:
                _, body = connect.ask(str(self.index), "GET", "/v1/health")
                return dict(json.loads(body))
            except (connect.NobodyThere, connect.NoAnswer):
                assert time.monotonic() < ends_at
                time.sleep(0.05)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell without a resident process."""
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell with a resident process, which all of these tests ask."""
    shell = Shell(tmp_path_factory.mktemp("served"))
    shell.type("sessions")
    process = shell.health()["pid"]
    yield shell
    os.kill(process, 15)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_answer_is_the_same_with_and_without_the_process(served: Shell, command: list[str]) -> None:
    """Status, result and what is said beside it are equal to the letter."""
    before = served.health()["requests"]
    answered = served.type(*command)
    after = served.health()["requests"]

    assert served.type(*command, "--no-resident") == answered
    assert 2 == after - before


def test_colours_and_width_are_those_of_the_client(served: Shell) -> None:
    """The process asks nothing of its own terminal."""
    narrow = served.type("search", "zebra", COLUMNS="40")

    assert served.type("search", "zebra", "--no-resident", COLUMNS="40") == narrow
    assert served.type("search", "zebra", COLUMNS="120") != narrow
    assert "\x1b" not in narrow.out


@pytest.mark.parametrize(
    ("command", "variables"),
    [
        (["search", "zebra"], {"TZ": "Asia/Tokyo"}),
        (["search", "zebra"], {"SEARCHKIT_MODEL": "another"}),
        (["status"], {"SEARCHKIT_ROOTS": os.sep}),
        (["search", "--queries", "questions.jsonl"], {}),
        (["show", SESSION, "-o", "shown.txt"], {}),
    ],
    ids=str,
)
def test_what_the_process_cannot_do_is_done_without_it(
    served: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], variables: dict[str, str]
) -> None:
    """Another time zone, model or root, and files of the client's are for a process of his own."""
    monkeypatch.chdir(tmp_path)
    Path("questions.jsonl").write_text('{"id": 1, "query": "zebra"}\n')

    answered = served.type(*command, **variables)

    assert served.type(*command, "--no-resident", **variables) == answered
    assert 0 == answered.status


def test_index_may_be_named_from_where_one_is(served: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path means what it means to the client."""
    monkeypatch.chdir(served.index.parent)
    before = served.health()["requests"]

    answered = served.type("search", "zebra", "--index", served.index.name, SEARCHKIT_INDEX="")

    assert (0, 2) == (answered.status, served.health()["requests"] - before)


def test_first_command_starts_the_process(shell: Shell) -> None:
    """It is answered without it, and the next one by it."""
    first = shell.type("search", "zebra")
    process = shell.health()["pid"]
    second = shell.type("search", "zebra")

    try:
        assert first == second
        assert shell.health()["requests"] >= 3
    finally:
        os.kill(process, 15)


def test_no_process_is_started_without_an_index(shell: Shell, tmp_path: Path) -> None:
    """Where nothing is indexed, a command says so, and leaves nothing behind."""
    answer = shell.type("search", "zebra", "--index", str(tmp_path / "other"))

    assert (2, True) == (answer.status, "searchkit index" in answer.err)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n\r\n {", SHORT_ANSWER, None])
def test_process_that_does_not_answer_is_done_without(shell: Shell, answer: bytes | None) -> None:
    """One that dies, answers by halves or hangs is given up, which is told on stderr."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(connect.socket_path(str(shell.index)))
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                if answer is None:
                    # Until the client has given up.
                    connection.recv(1)
                else:
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()

        answered = shell.type("search", "zebra")

    alone = shell.type("search", "zebra", "--no-resident")
    assert (alone.status, alone.out) == (answered.status, answered.out)
    assert answered.err.startswith("note: the resident process gave no answer")


def test_socket_that_may_be_nobodys_is_done_without(shell: Shell, tmp_path: Path) -> None:
    """Where the directory for sockets is not the user's own, commands answer by themselves and say why."""
    long = tmp_path / ("deep" * 30)
    shell.index.rename(long)
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    (runtime / f"searchkit-{os.getuid()}").symlink_to(tmp_path)

    answered = shell.type("search", "zebra", SEARCHKIT_INDEX=str(long), XDG_RUNTIME_DIR=str(runtime))

    assert (0, True) == (answered.status, "is not a directory" in answered.err)


def test_client_imports_nothing_slow(served: Shell) -> None:
    """Whoever is answered by the process waits for no library, neither of ours nor of others."""
    program = (
        "import sys; sys.argv = ['searchkit', 'search', 'zebra']\n"
        "from searchkit import __main__ as start\n"
        "try: start.main()\n"
        f"finally: print([name for name in {SLOW} if name in sys.modules], file=sys.stderr)"
    )

    asked = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=served.variables
    )

    assert (0, "[]\n") == (asked.returncode, asked.stderr)
