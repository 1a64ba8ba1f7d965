"""The interface on a real terminal, driven by tmux: typing, moving, filtering, reopening, resizing, leaving."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tui.conftest import SLOW

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux; scripts/test-slow installs it"),
]
# Far more than anything takes, also on a busy machine.
SECONDS_FOR_ANYTHING = 60.0
PAUSE_SECONDS = 0.1


class Terminal:
    """A terminal of its own, in which the interface runs."""

    def __init__(self, index: Path, place: Path, columns: int, rows: int, **environment: str) -> None:
        self._socket = str(place / "tmux")
        # Stands for Claude Code: says how it was called, and where.
        program = place / "bin" / "claude"
        program.parent.mkdir()
        program.write_text('#!/bin/sh\necho "reopened $* in $PWD"\nsleep 60\n')
        program.chmod(0o755)
        variables = {
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "SEARCHKIT_INDEX": str(index),
            "HOME": str(place),
            "LANG": "C.UTF-8",
            **environment,
        }
        told = [f"{name}={value}" for name, value in variables.items()]
        # A size that a shell has exported would hold against that of the terminal.
        command = [
            "env",
            "-u",
            "COLUMNS",
            "-u",
            "LINES",
            *told,
            "sh",
            "-c",
            f"{sys.executable} -m searchkit; echo left with $?; sleep 60",
        ]
        self.tmux("-f", os.devnull, "new-session", "-d", "-x", str(columns), "-y", str(rows), *command)

    def tmux(self, *arguments: str) -> str:
        """Give tmux a command."""
        command = ["tmux", "-S", self._socket, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def press(self, *keys: str) -> None:
        """Press keys, by the names that tmux has for them."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self.tmux("send-keys", "-l", text)

    @property
    def screen(self) -> str:
        """What is to be seen."""
        return self.tmux("capture-pane", "-p")

    def wait(self, is_so: Callable[[str], bool]) -> str:
        """Wait until the screen shows something, and return it."""
        ends_at = time.monotonic() + SECONDS_FOR_ANYTHING
        while not is_so(shown := self.screen):
            assert time.monotonic() < ends_at, shown
            time.sleep(PAUSE_SECONDS)
        return shown

    def close(self) -> None:
        """End everything in it."""
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def start(history: Path, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Give a function that starts the interface on a terminal."""
    opened: list[Terminal] = []

    def run(columns: int = 100, rows: int = 30, **environment: str) -> Terminal:
        opened.append(Terminal(history, tmp_path, columns, rows, **environment))
        return opened[-1]

    yield run
    for terminal in opened:
        terminal.close()


def test_session_is_found_and_reopened(start: Callable[..., Terminal], history: Path) -> None:
    """Typed, moved, read, filtered, and reopened: the program that wrote the session takes the terminal over."""
    terminal = start()
    terminal.wait(lambda shown: "2 sessions, newest first" in shown)
    terminal.type("checkout OR memory")
    terminal.wait(lambda shown: "matches" in shown)
    terminal.press("Down")
    terminal.press("Escape")
    terminal.press("l")
    terminal.press("Escape")
    terminal.press("/")
    terminal.type(" proj")
    terminal.wait(lambda shown: "Tab: project:" in shown)
    terminal.press("Tab")
    terminal.type("sh")
    terminal.press("Tab")
    terminal.wait(lambda shown: "project:shop" in shown.splitlines()[0] and "unbounded" not in shown)
    terminal.wait(lambda shown: "scans all orders" in shown)

    terminal.press("Enter")

    shown = terminal.wait(lambda shown: "reopened" in shown)
    assert f"reopened --resume {SLOW} in {history.parent / 'shop'}" in shown.replace("\n", "")


def test_terminal_is_resized_and_left_as_it_was(start: Callable[..., Terminal]) -> None:
    """Narrow, wide and tiny, and when it is left the screen is the shell's again."""
    terminal = start()
    terminal.type("checkout")
    terminal.wait(lambda shown: "│" in shown and "> claude" in shown)
    terminal.tmux("resize-window", "-x", "60", "-y", "20")
    terminal.wait(lambda shown: "│" not in shown and "checkout query" in shown)
    terminal.tmux("resize-window", "-x", "20", "-y", "6")
    terminal.wait(lambda shown: all(len(row) <= 20 for row in shown.splitlines()))
    terminal.tmux("resize-window", "-x", "100", "-y", "30")
    terminal.wait(lambda shown: "│" in shown and "> claude" in shown)

    terminal.press("C-c")

    assert "left with 0" in terminal.wait(lambda shown: "left with" in shown)


def test_without_colours_everything_is_readable(start: Callable[..., Terminal]) -> None:
    """With NO_COLOR no colour is sent, and what is chosen still stands out."""
    terminal = start(NO_COLOR="1")
    terminal.type("checkout")
    terminal.wait(lambda shown: "│" in shown and "> claude" in shown)

    sent = terminal.tmux("capture-pane", "-p", "-e")

    assert "\x1b[7m" in sent
    assert not [code for code in ("\x1b[33m", "\x1b[36m", "\x1b[31m", "38;2;", "38;5;") if code in sent]
