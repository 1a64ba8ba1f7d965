"""Searches in a process that has searched before: the whole engine beside Tantivy alone.

As a program, python -m measure.warm INDEX, it times them and prints a row for each kind of question as JSON.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure.child import run_json
from measure.corpora import MEGABYTE
from measure.figures import Figure
from measure.subject import Subject

if TYPE_CHECKING:
    from measure.questions import Question
    from searchkit import Engine

# The goal of issue 3, show 3.
SEARCH_RATIO = 4.0
ROUNDS = 15
# Before that, so that all that is kept is kept, and the pages are in memory.
UNTIMED_ROUNDS = 2
TANTIVY_HITS = 10


def warm(subject: Subject) -> list[Figure]:
    """Search one index for everything."""
    return figures(rows_of(subject.built()), f"{subject.bytes / MEGABYTE:.0f} MB")


def figures(rows: list[dict[str, Any]], size: str) -> list[Figure]:
    """Compare the engine with Tantivy; the names of the figures say how large the corpus is."""
    whole, bare, naive = (sum(row[column] for row in rows) for column in ("whole", "bare", "naive"))
    # Other load holds up long work more often than short work, but adds to the time of neither.
    work = sum(row["whole work"] for row in rows) / sum(row["bare work"] for row in rows)
    note = f"{whole:.1f} ms to {bare:.1f} ms, processor time {work:.1f}; parsed by Tantivy itself {naive:.1f} ms"
    return [
        Figure(name=f"search at {size}, ratio", value=whole / bare, goal=SEARCH_RATIO, note=note),
        *(_row(row, size) for row in rows),
    ]


def rows_of(index: Path) -> list[dict[str, Any]]:
    """Time the searches in a process of their own; a row for each kind of question, in milliseconds."""
    rows: list[dict[str, Any]] = run_json([sys.executable, "-m", "measure.warm", str(index)])["rows"]
    return rows


def main() -> None:
    """Be the process that searches: everything in turn, since nobody asks the same thing again and again."""
    # Imported here, because whoever measures memory must stay small.
    from measure.questions import Question, chosen
    from searchkit import Engine

    with Engine(sys.argv[1]) as engine:
        asked = [(question, _actions(engine, question)) for question in chosen(engine)]
        taken: dict[Question, dict[str, list[float]]] = {}
        for turn in range(UNTIMED_ROUNDS + ROUNDS):
            for question, actions in asked:
                for name, action in actions.items():
                    began, began_work = time.perf_counter(), time.thread_time()
                    action()
                    work, took = time.thread_time() - began_work, time.perf_counter() - began
                    if turn >= UNTIMED_ROUNDS:
                        taken.setdefault(question, {}).setdefault(name, []).append(took * 1000)
                        taken[question].setdefault(f"{name} work", []).append(work * 1000)
        kinds: dict[str, list[dict[str, float]]] = {}
        for question, _ in asked:
            medians = {name: statistics.median(times) for name, times in taken[question].items()}
            medians["parts"] = engine.search(question.words, filters=question.filters).total
            kinds.setdefault(question.kind, []).append(medians)
    rows = [
        {"kind": kind, **{name: statistics.mean(each[name] for each in several) for name in several[0]}}
        for kind, several in kinds.items()
    ]
    print(json.dumps({"rows": rows}))


def _actions(engine: "Engine", question: "Question") -> dict[str, Callable[[], object]]:
    """Return what is timed: the engine, the query that it makes of the question, and what Tantivy makes of it."""
    from measure.questions import words_of
    from searchkit.backends.local.words import search as finding
    from searchkit.query.dates import LOCAL
    from searchkit.query.parse import understand

    words, filters = question.words, question.filters
    # No command needs the bare query, so it is had from where the engine has it.
    held = words_of(engine)
    search = held._search(understand(words, now=datetime.now(LOCAL), filters=filters))
    searcher, bare = search.searcher, finding.wanted(search)
    index = held._open_keyword()._index
    return {
        "whole": lambda: engine.search(words, filters=filters),
        "bare": lambda: searcher.search(bare, TANTIVY_HITS),
        "naive": lambda: searcher.search(index.parse_query_lenient(words, ["text"])[0], TANTIVY_HITS),
    }


def _row(row: dict[str, Any], size: str) -> Figure:
    note = f"Tantivy {row['bare']:.2f} ms, parsed by itself {row['naive']:.2f} ms; in {row['parts']:,.0f} parts"
    return Figure(name=f"  {row['kind']}, {size}", value=row["whole"], unit="ms", note=note)


if __name__ == "__main__":
    main()
