"""Runs a command as a process of its own and tells how long it took and how much memory it had.

Whoever measures memory must be small: Linux counts the memory of the process that starts a
child as the child's own until the child's program begins.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from measure.environment import for_children

SAMPLE_SECONDS = 0.05
# Looking for new children costs more than reading the memory of known ones.
SAMPLES_BETWEEN_SEARCHES = 5
KILOBYTE = 1024


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a process did and what it cost; `peak_bytes` is that of all its processes together.

    `held_bytes` leaves out what is mapped from files, which the system takes back when it needs room.
    `busy_seconds` are what the processors worked for it and its children, which other load changes less.
    """

    seconds: float
    busy_seconds: float
    peak_bytes: int
    held_bytes: int
    output: str


def searchkit(*arguments: str | Path) -> list[str]:
    """Write the command line of searchkit."""
    return [sys.executable, "-P", "-m", "searchkit.__main__", *map(str, arguments)]


def run(command: Sequence[str], allowed: Sequence[int] = (0,)) -> Outcome:
    """Run a command to its end; any other exit status than those allowed is an error here too."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=for_children(), text=True)
    memory = _Memory(process.pid)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    unit = 1 if sys.platform == "darwin" else KILOBYTE
    memory.stop()
    return Outcome(
        seconds=seconds,
        busy_seconds=usage.ru_utime + usage.ru_stime,
        peak_bytes=max(memory.peak, usage.ru_maxrss * unit),
        held_bytes=memory.held,
        output=output,
    )


def run_json(command: Sequence[str], allowed: Sequence[int] = (0,)) -> dict[str, Any]:
    """Run a command that prints one JSON value, and return that."""
    value: dict[str, Any] = json.loads(run(command, allowed).output)
    return value


def size(directory: Path) -> int:
    """Add up the sizes of all files below a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


class _Memory:
    """Adds up, many times a second, what a process and its children hold, and keeps the largest sum."""

    def __init__(self, process: int) -> None:
        self._process = process
        self.peak = self.held = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        with contextlib.suppress(psutil.Error):
            parent = psutil.Process(self._process)
            family = [parent]
            count = 0
            while not self._done.wait(SAMPLE_SECONDS):
                if count % SAMPLES_BETWEEN_SEARCHES == 0:
                    family = [parent, *parent.children(recursive=True)]
                count += 1
                memory = [_memory(process) for process in family]
                self.peak = max(self.peak, sum(resident for resident, _ in memory))
                self.held = max(self.held, sum(resident - mapped for resident, mapped in memory))


def _memory(process: psutil.Process) -> tuple[int, int]:
    """Return what a process has in memory, and how much of that is mapped from files, where the system tells."""
    try:
        memory = process.memory_info()
    except psutil.Error:
        return 0, 0
    return int(memory.rss), int(getattr(memory, "shared", 0))
