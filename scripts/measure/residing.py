"""What the resident process costs and saves: a whole command through it, its idleness, and how soon it knows a line."""

import os
import statistics
import sys
import time
from pathlib import Path

import psutil

from measure.child import run_json
from measure.corpora import transcripts
from measure.environment import DATA, for_children
from measure.figures import Figure, say
from measure.starting import in_turn
from measure.subject import Subject
from searchkit.client import connect, control

# The goals of issue 6, shows 1 and 3.
PROCESS_RATIO = 2.0
IDLE_CPU_SECONDS = 0.1
FOUND_SECONDS = 3.0
IDLE_SECONDS = 60.0
# After it has loaded everything, so that nothing is left to do.
SETTLING_SECONDS = 10.0
LINES = 5
BARE = [sys.executable, "-c", "import click"]
LINE = (
    '{{"parentUuid":null,"sessionId":"{session}","type":"user","uuid":"00000000-0000-4000-8000-{number:012}",'
    '"timestamp":"2026-03-01T10:00:00.000Z","cwd":"/home/mira","message":{{"role":"user","content":"{word}"}}}}\n'
)


def residing(subject: Subject) -> list[Figure]:
    """Measure over an index of words, to which lines are appended, and over one with vectors."""
    index = subject.built()
    with _Served(index):
        found = [_found_after(index, subject.root, number) for number in range(LINES)]
    meaning = subject.with_vectors()
    with _Served(meaning) as process:
        ratio = _whole(meaning)
        say(f"the process is left alone for {IDLE_SECONDS:.0f} s")
        time.sleep(SETTLING_SECONDS)
        before = sum(process.cpu_times()[:2])
        time.sleep(IDLE_SECONDS)
        idle = sum(process.cpu_times()[:2]) - before
        held = process.memory_info().rss / 1e6
    return [
        ratio,
        Figure(name="idle for a minute, processor time", value=idle, unit="s", goal=IDLE_CPU_SECONDS),
        Figure(name="memory of the process", value=held, unit="MB"),
        Figure(
            name="appended line found after, worst",
            value=max(found),
            unit="s",
            goal=FOUND_SECONDS,
            note=f"of {LINES}, median {statistics.median(found):.2f} s",
        ),
    ]


class _Served:
    """Serves an index for as long as the block runs."""

    def __init__(self, index: Path) -> None:
        self._index = index

    def __enter__(self) -> psutil.Process:
        # Only a client with the same model, and so with the same place for models, is answered.
        os.environ.update({"SEARCHKIT_IDLE_SECONDS": "3600", "XDG_DATA_HOME": os.environ[DATA]})
        # One that another measurement started has another environment.
        control.stop(self._index)
        running = control.start(self._index, ())
        while running["state"] != "ready":
            time.sleep(0.1)
            running = control.health(self._index) or running
        return psutil.Process(running["pid"])

    def __exit__(self, *error: object) -> None:
        control.stop(self._index)


def _whole(index: Path) -> Figure:
    """Start both in turn, as a user's shell would."""
    word = str(run_json([sys.executable, "-m", "measure.starting", str(index)])["word"])
    script = Path(sys.executable).with_name("searchkit")
    command = [str(script), "search", word, "--mode", "hybrid", "--index", str(index)]
    # HOME decides where models are kept: the process must be asked as it was started.
    environment = {**for_children(has_resident=True), "HOME": os.environ["HOME"]}
    whole, least = in_turn(command, BARE, environment)
    note = f"{whole * 1000:.0f} ms to {least * 1000:.0f} ms of importing click"
    return Figure(name="search through the process, ratio", value=whole / least, goal=PROCESS_RATIO, note=note)


def _found_after(index: Path, root: Path, number: int) -> float:
    """Append a line with a word of its own, and return the seconds until it is found."""
    word = f"lantern{time.time_ns()}"
    path = transcripts(root)[number]
    with path.open("a") as file:
        file.write(LINE.format(session=path.stem, number=number, word=word))
    began = time.perf_counter()
    while b'"total":1,' not in connect.ask(str(index), "GET", f"/v1/search?q={word}&mode=keyword")[1]:
        time.sleep(0.02)
    return time.perf_counter() - began
