"""What one search costs as a whole process, beside one that only imports what it cannot do without."""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from measure.child import run_json, searchkit
from measure.environment import for_children
from measure.figures import Figure
from measure.subject import Subject

# The goal of issue 3, show 3.
PROCESS_RATIO = 3.0
ROUNDS = 21
UNTIMED_ROUNDS = 2
BARE = [sys.executable, "-c", "import click, tantivy"]


def process(subject: Subject) -> list[Figure]:
    """Start both in turn."""
    index = subject.built()
    word = str(run_json([sys.executable, "-m", "measure.starting", str(index)])["word"])
    command = [*_command(), "search", word, "--index", str(index)]
    whole, least = in_turn(command, BARE, for_children())
    note = f"{whole * 1000:.0f} ms to {least * 1000:.0f} ms of importing click and tantivy"
    return [Figure(name="search, whole process, ratio", value=whole / least, goal=PROCESS_RATIO, note=note)]


def in_turn(command: list[str], bare: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Start two commands in turn, as a user's shell would, and return the median seconds of each."""
    rounds = [(_seconds(command, environment), _seconds(bare, environment)) for _ in range(UNTIMED_ROUNDS + ROUNDS)]
    timed = rounds[UNTIMED_ROUNDS:]
    return statistics.median(one for one, _ in timed), statistics.median(one for _, one in timed)


def main() -> None:
    """Print a word to search for, as JSON."""
    # Imported here, because whoever measures memory must stay small.
    import json

    from measure.questions import chosen
    from searchkit import Engine

    with Engine(sys.argv[1]) as engine:
        print(json.dumps({"word": next(one.words for one in chosen(engine) if one.kind == "middling word")}))


def _command() -> list[str]:
    """Return what a user starts: the script that an installation makes, or the module."""
    script = Path(sys.executable).with_name("searchkit")
    return [str(script)] if os.access(script, os.X_OK) else searchkit()


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
