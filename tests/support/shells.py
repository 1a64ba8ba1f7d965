"""Real shells before a real terminal: keys are pressed, and what a shell made of them is written down."""

import fcntl
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path

# Far more than anything takes, also on a busy machine.
SECONDS_FOR_ANYTHING = 60.0
# A shell that has said nothing for so long waits for keys.
QUIET_SECONDS = 0.1
PROMPT = "READY> "
SHELLS = ("bash", "zsh", "fish")
TAB, ENTER, INTERRUPT = "\t", "\r", "\x03"
# What ends an argument and a command in the file that programs are written down in.
_ARGUMENT, _RUN = "\0", "\x1e"


class Shell:
    """A shell in which `searchkit` completes, and writes down how it was run instead of running."""

    def __init__(self, name: str, directory: Path, environment: Mapping[str, str]) -> None:
        self._runs = directory / "runs"
        self._runs.touch()
        programs = directory / "programs"
        programs.mkdir()
        for program in ("searchkit", "claude"):
            _write_program(programs / program, program, self._runs)
        self._said = bytearray()
        self._screen, terminal = os.openpty()
        told = {
            **os.environ,
            **environment,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(directory),
            "ZDOTDIR": str(directory),
            "XDG_CONFIG_HOME": str(directory / "config"),
            "XDG_DATA_HOME": str(directory / "data"),
            "TERM": "xterm",
            "COLUMNS": "200",
        }
        self._process = subprocess.Popen(
            _command(name, directory),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=directory,
            env=told,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(terminal)
        self._wait(lambda: PROMPT.encode() in self._said)

    def press(self, keys: str, shows: str = "") -> list[str]:
        """Press keys, then Enter; return the program that was run with its arguments, and nothing where none was.

        Before Enter is pressed, the shell must show something.
        """
        before = len(self._written())
        os.write(self._screen, keys.encode())
        self._wait(lambda: shows in self.said)
        os.write(self._screen, ENTER.encode())
        if not self._wait(lambda: len(self._written()) > before, must_be=False):
            # A quotation that is still open, perhaps.
            os.write(self._screen, INTERRUPT.encode())
            self._wait(lambda: True)
            return []
        self._wait(lambda: True)
        return self._written()[-1]

    def close(self) -> None:
        """End the shell."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        os.close(self._screen)

    @property
    def said(self) -> str:
        """All that the shell showed."""
        return self._said.decode("utf-8", "replace")

    def _written(self) -> list[list[str]]:
        runs = self._runs.read_text().split(_RUN)[:-1]
        return [run.split(_ARGUMENT)[:-1] for run in runs]

    def _wait(self, condition: object, must_be: bool = True) -> bool:
        """Read what is shown until a condition holds and nothing more comes."""
        assert callable(condition)
        ends_at = time.monotonic() + (SECONDS_FOR_ANYTHING if must_be else SECONDS_FOR_ANYTHING / 6)
        while time.monotonic() < ends_at:
            readable, _, _ = select.select([self._screen], [], [], QUIET_SECONDS)
            if readable:
                self._said += os.read(self._screen, 65_536)
            elif condition():
                return True
        assert not must_be, self.said
        return False


def has(shell: str) -> bool:
    """Say whether there is such a shell here."""
    return shutil.which(shell) is not None


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _command(name: str, directory: Path) -> list[str]:
    """Write what the shell reads when it starts, as its documentation says, and return how it is started."""
    if name == "bash":
        (directory / "bashrc").write_text(f"PS1='{PROMPT}'\neval \"$(searchkit completion bash)\"\n")
        return ["bash", "--noprofile", "--rcfile", str(directory / "bashrc"), "-i"]
    if name == "zsh":
        lines = ["autoload -U compinit", "compinit -u -D", f"PS1='{PROMPT}'", 'eval "$(searchkit completion zsh)"']
        (directory / ".zshrc").write_text("\n".join(lines) + "\n")
        return ["zsh", "-i"]
    (directory / "config" / "fish").mkdir(parents=True)
    lines = [
        "set -g fish_greeting",
        f"function fish_prompt; echo -n '{PROMPT}'; end",
        "searchkit completion fish | source",
    ]
    (directory / "config" / "fish" / "config.fish").write_text("\n".join(lines) + "\n")
    return ["fish", "-i"]


def _write_program(path: Path, name: str, runs: Path) -> None:
    python = shlex.join([sys.executable, "-m", "searchkit.__main__"])
    lines = [
        "#!/bin/sh",
        f'if [ -n "$_SEARCHKIT_COMPLETE" ] || [ "$1" = completion ]; then exec {python} "$@"; fi',
        f"{{ printf '%s\\0' {name} \"$PWD\" \"$@\"; printf '\\036'; }} >> {shlex.quote(str(runs))}",
    ]
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o755)
