"""Where the interface is opened, and where it is not."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.conftest import served  # noqa: F401
from tests.server.residence import Residence
from tests.support.running import Run
from tests.tui.screen import Screen, drive


def test_without_a_terminal_it_prints_help(run: Run) -> None:
    """A program that runs searchkit alone gets the help, and status 0."""
    answer = run()

    assert (0, True, True) == (answer.status, "Usage: searchkit" in answer.out, "full-screen" in answer.out)


@pytest.mark.parametrize(
    ("environment", "said"),
    [({"TERM": "dumb"}, "TERM=dumb"), ({"TERM": "xterm", "PYTHONIOENCODING": "latin-1"}, "needs UTF-8")],
)
def test_terminal_that_cannot_show_it_gets_help(tmp_path: Path, environment: dict[str, str], said: str) -> None:
    """The help is printed, and why the interface is not shown."""
    printed = _on_terminal(tmp_path, environment)

    assert "Usage: searchkit" in printed
    assert said in printed


def _on_terminal(home: Path, environment: dict[str, str]) -> str:
    """Run searchkit alone before a terminal of its own, and return what it prints there."""
    ours, theirs = pty.openpty()
    told = {**os.environ, "HOME": str(home), **environment}
    with subprocess.Popen([sys.executable, "-m", "searchkit"], stdin=theirs, stdout=theirs, stderr=theirs, env=told):
        os.close(theirs)
        printed = bytearray()
        try:
            while piece := os.read(ours, 65_536):
                printed += piece
        except OSError:
            # Linux says so where the other side of a terminal is closed.
            pass
    os.close(ours)
    return printed.decode("utf-8", "replace")


def test_no_command_waits_for_textual() -> None:
    """Neither a command nor the resident process imports Textual."""
    program = (
        "import sys, searchkit.cli.main as m, searchkit.server.app\n"
        "[m.cli.get_command(None, name) for name in m.COMMANDS]\n"
        "import searchkit.tui.start; print('textual' in sys.modules, 'rich' in sys.modules)"
    )

    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "False False\n" == asked.stdout


def test_resident_process_is_asked(served: Residence, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """With the resident process, the interface finds, shows and counts what it does without, and opens no index."""

    async def script(screen: Screen) -> None:
        await screen.ask("certificate check kind:prompt")
        found.append(screen.rows[2:-1])
        await screen.ask("certificate check proj")
        await screen.press("tab", "tab")
        await screen.press("escape", "f")
        found.append(screen.rows[2:-1])

    monkeypatch.setenv("SEARCHKIT_MODEL", "fake")
    found: list[list[str]] = []
    drive(served.index, script, is_resident_wanted=True)
    drive(served.index, script)

    assert found[:2] == found[2:]
    assert any("turn off the certificate" in row for row in found[0])
