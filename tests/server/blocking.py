"""Files whose opening blocks, as on a dead network mount: an audit hook in the process waits before the system call."""

from pathlib import Path

PROGRAM = """
import os, sys, time

NAME, WHILE = os.environ["BLOCKED_NAME"], os.environ["BLOCKED_WHILE"]


def wait(event, arguments):
    if event in ("open", "os.scandir") and NAME in str(arguments[0]):
        while os.path.exists(WHILE):
            time.sleep(0.02)


sys.addaudithook(wait)
"""


class Blocking:
    """Blocks whoever opens or lists what has a name, in the processes that get its environment, until it is undone."""

    def __init__(self, directory: Path, name: str) -> None:
        """Block nothing yet."""
        directory.mkdir()
        (directory / "sitecustomize.py").write_text(PROGRAM)
        self._exists = directory / "blocked"
        self.environment = {"PYTHONPATH": str(directory), "BLOCKED_NAME": name, "BLOCKED_WHILE": str(self._exists)}

    def begin(self) -> None:
        """Block from now on."""
        self._exists.touch()

    def end(self) -> None:
        """Let everything through that waits."""
        self._exists.unlink()
