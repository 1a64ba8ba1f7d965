"""A pager is for whoever sits before a terminal: tried on a real one."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
LINES, COLUMNS = 24, 80


@pytest.fixture
def indexed(home: Home, run: Run) -> str:
    """A message that is longer than a screen."""
    transcript = home.session(SESSION)
    said = transcript.prompt("\n".join(f"line {number}" for number in range(50)))
    transcript.text("```python\nreturn 1\n```")
    run("index")
    return str(said["uuid"])


def on_terminal(*arguments: str, **environment: str) -> str:
    """Run a command on a terminal of its own; return what is to be seen there."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    command = [sys.executable, "-m", "searchkit.cli.main", *arguments]
    process = subprocess.Popen(
        command,
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**variables, "TERM": "xterm", **environment},
        start_new_session=True,
    )
    os.close(inner)
    seen = b""
    while True:
        try:
            piece = os.read(outer, 65_536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(outer)
    assert 0 == process.wait()
    return seen.decode()


def test_long_result_is_paged(indexed: str) -> None:
    """What is longer than the screen goes through the pager of the user's choice, in colours."""
    seen = on_terminal("show", indexed, PAGER="sed 's/^/| /'")

    assert "|   line 0\r\n" in seen
    assert "\x1b[34mreturn\x1b[0m" in seen


def test_short_result_is_not_paged(indexed: str) -> None:
    """What fits on the screen is printed as it is."""
    assert "| " not in on_terminal("tree", SESSION, PAGER="sed 's/^/| /'")


@pytest.mark.parametrize("pager", ["", "no-such-pager-anywhere", "'unclosed"])
def test_pager_that_is_not_to_be_had(indexed: str, pager: str) -> None:
    """Without a pager all is printed."""
    assert "line 49" in on_terminal("show", indexed, PAGER=pager)


def test_no_pager_where_none_is_wanted(indexed: str) -> None:
    """An option says so for once, and forms for others are never paged."""
    pager = "sed 's/^/| /'"

    assert "| " not in on_terminal("show", indexed, "--no-pager", PAGER=pager)
    assert "| " not in on_terminal("show", indexed, "--html", PAGER=pager)


def test_no_colour_where_none_is_wanted(indexed: str) -> None:
    """NO_COLOR holds in the pager, too, and without it."""
    assert "\x1b" not in on_terminal("show", indexed, PAGER="cat", NO_COLOR="1")
    assert "\x1b" not in on_terminal("show", indexed, "--no-pager", NO_COLOR="1")


def test_pager_that_has_seen_enough(indexed: str) -> None:
    """Whoever leaves the pager early gets no complaint."""
    seen = on_terminal("show", indexed, PAGER="head -n 1")

    assert 1 == seen.count("\n")


def test_pipes_are_never_paged(indexed: str) -> None:
    """A program that reads the output gets it, without colours, and nothing is loaded for what it does not see."""
    program = (
        f"import sys; from searchkit.cli import main as cli; sys.argv = ['searchkit', 'show', '{indexed}']\n"
        "try: cli.main()\n"
        "finally: print([name for name in ('pygments', 'subprocess') if name in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program]

    piped = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PAGER": "false"})

    assert "[]\n" == piped.stderr
    assert "line 49" in piped.stdout
    assert "\x1b" not in piped.stdout


def test_search_fills_the_screen_and_no_more(home: Home, run: Run) -> None:
    """On a terminal as many results are shown as fit, each with its answer; -n shows so many, in a pager."""
    for number in range(9):
        transcript = home.session(f"{number}1111111-1111-4111-8111-111111111111")
        transcript.prompt(f"where does the giraffe number {number} live? " + "by the lake or in the hills " * 20)
        transcript.text(f"Giraffe {number} lives by the lake. " + "It was counted there. " * 20)
    run("index")

    screenful = on_terminal("search", "giraffe", "--no-resident").splitlines()
    whole = on_terminal("search", "giraffe", "-n", "9", "--no-resident", PAGER="sed s/^/paged:/").splitlines()
    few = on_terminal("search", "giraffe", "-n1", "--no-resident")

    shown = [line for line in screenful if "It was counted there" in line]
    assert len(screenful) < LINES
    assert 2 <= len(shown) < 9
    assert "of 9 sessions shown" in screenful[-1] + screenful[-2]
    assert 9 == sum(line.startswith("paged:") and "#0" in line for line in whole)
    assert "1 session shown" in few
