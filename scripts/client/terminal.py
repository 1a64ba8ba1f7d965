"""Runs the client in a pseudo-terminal and types into it; what happened is seen in the API and the transcripts."""

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Sequence

from client.home import Home

ROWS, COLUMNS = 50, 160
# A chunk that holds text and Enter is taken for a paste.
KEY_SECONDS = 0.4
START_SECONDS = 30.0
QUIET_SECONDS = 1.0
END_SECONDS = 10.0
ECHO_SECONDS = 2.0
MAX_TRIES = 3
MAX_SCREEN_BYTES = 400_000
ENTER, ESCAPE, UP, CLEAR_LINE = "\r", "\x1b", "\x1b[A", "\x15"
_ESCAPES = re.compile(r"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[PX^_].*?\x1b\\|[@-Z\\-_=>])", re.S)


class Terminal:
    """The client with a keyboard and a screen; use it as a context, so that the process always ends."""

    def __init__(self, home: Home, arguments: Sequence[str]) -> None:
        """Start the client in a process group of its own and wait until its screen is quiet."""
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            [str(home.binary), *arguments],
            cwd=home.project,
            env=home.environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._output = bytearray()
        self._heard_at = time.monotonic()
        self._is_closed = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.settle(START_SECONDS)

    def __enter__(self) -> "Terminal":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the client, by force if it must be."""
        self.close()

    @property
    def process(self) -> int:
        """The number of the client's process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the client has not ended."""
        return self._process.poll() is None

    def screen(self, since: int = 0) -> str:
        """Return what was printed since then, without colours and movements; not laid out as on a screen."""
        return _ESCAPES.sub(" ", bytes(self._output[since:]).decode(errors="replace"))

    def mark(self) -> int:
        """Return how much was printed until now."""
        return len(self._output)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            os.write(self._master, key.encode())
            time.sleep(KEY_SECONDS)

    def enter(self, words: str) -> None:
        """Type a line and press Enter; what the client did not take in, while it was busy, is typed again."""
        for _ in range(MAX_TRIES):
            before = self.mark()
            self.press(words)
            ends_at = time.monotonic() + ECHO_SECONDS
            while time.monotonic() < ends_at:
                if words.split()[0] in "".join(self.screen(before).split()):
                    self.press(ENTER)
                    return
                time.sleep(0.05)
            self.press(CLEAR_LINE)
        self.press(words, ENTER)

    def settle(self, seconds: float) -> None:
        """Wait until nothing was printed for a second, but no longer than that."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at and self.is_running:
            if self._output and time.monotonic() - self._heard_at > QUIET_SECONDS:
                return
            time.sleep(0.05)

    def close(self) -> None:
        """Ask the client to leave, and end it where it does not."""
        if self._is_closed:
            return
        self._is_closed = True
        for stop in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, stop)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
                break
        self._reader.join(END_SECONDS)
        os.close(self._master)

    def leave(self) -> None:
        """Leave by /exit, so that the client writes down what it writes at its end."""
        self.enter("/exit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        self.close()

    def _read(self) -> None:
        while True:
            try:
                ready = select.select([self._master], [], [], 0.2)[0]
                data = os.read(self._master, 65_536) if ready else None
            except OSError:
                return
            if data == b"":
                return
            if data:
                self._heard_at = time.monotonic()
                if len(self._output) < MAX_SCREEN_BYTES:
                    self._output += data
            elif self._process.poll() is not None:
                return
