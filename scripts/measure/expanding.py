"""What it costs to show ten hits inside their turns, beside what it costs to find them.

As a program, python -m measure.expanding INDEX, it times both and prints the milliseconds as JSON.
"""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from measure.child import run, run_json, searchkit
from measure.corpora import MEGABYTE
from measure.figures import Figure
from measure.longest import RECORDS, write
from measure.subject import Subject

if TYPE_CHECKING:
    from searchkit import Engine

# The goal of issue 4, show 3.
EXPANDING_RATIO = 1.0
ROUNDS = 15
UNTIMED_ROUNDS = 2


def expanding(subject: Subject) -> list[Figure]:
    """Compare on the corpus, and on one session that is longer than any of it."""
    root, index = subject.scratch / "longest", subject.scratch / "longest-index"
    write(root)
    run(searchkit("index", "--no-vectors", "--json", "--root", root, "--index", index))
    return [
        *_figures(subject.built(), f"{subject.bytes / MEGABYTE:.0f} MB"),
        *_figures(index, f"a session of {RECORDS:,} records"),
    ]


def main() -> None:
    """Be the process that searches: every hit for itself, so that ten may lie in one session."""
    # Imported here, because whoever measures memory must stay small.
    from measure.questions import chosen
    from searchkit import Engine

    with Engine(sys.argv[1]) as engine:
        taken: dict[str, list[float]] = {"finding": [], "expanding": []}
        words = [question.words for question in chosen(engine) if not question.filters]
        for turn in range(UNTIMED_ROUNDS + ROUNDS):
            found, shown = (sum(_milliseconds(engine, one, turns) for one in words) for turns in (0, 1))
            if turn >= UNTIMED_ROUNDS:
                taken["finding"].append(found / len(words))
                taken["expanding"].append((shown - found) / len(words))
    print(json.dumps({name: statistics.median(times) for name, times in taken.items()}))


def _figures(index: Path, where: str) -> list[Figure]:
    took = run_json([sys.executable, "-m", "measure.expanding", str(index)])
    ratio = float(took["expanding"]) / float(took["finding"])
    note = f"{where}: {float(took['expanding']):.2f} ms more than the {float(took['finding']):.2f} ms of finding them"
    return [Figure(name="expanding 10 hits, ratio", value=ratio, goal=EXPANDING_RATIO, note=note)]


def _milliseconds(engine: "Engine", words: str, turns: int) -> float:
    began = time.perf_counter()
    engine.search(words, group="none", thread=turns)
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
