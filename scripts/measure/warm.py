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
from typing import Any

from measure.child import run_json
from measure.corpora import MEGABYTE
from measure.figures import Figure
from measure.subject import Subject

# The goal of issue 3, show 3.
SEARCH_RATIO = 4.0
ROUNDS = 15
# Before that, so that all that is kept is kept, and the pages are in memory.
UNTIMED_ROUNDS = 2
TANTIVY_HITS = 10


def warm(subject: Subject) -> list[Figure]:
    """Search one index for everything."""
    return figures(subject.built(), f"{subject.bytes / MEGABYTE:.0f} MB")


def figures(index: Path, size: str) -> list[Figure]:
    """Search an index for everything; the names of the figures say how large its corpus is."""
    rows = rows_of(index)
    whole, bare, naive = (sum(row[column] for row in rows) for column in ("whole", "bare", "naive"))
    note = f"{whole:.1f} ms to {bare:.1f} ms, {len(rows)} kinds; parsed by Tantivy itself {naive:.1f} ms"
    return [
        Figure(name=f"search at {size}, ratio", value=whole / bare, goal=SEARCH_RATIO, note=note),
        *(_row(row, size) for row in rows),
    ]


def rows_of(index: Path) -> list[dict[str, Any]]:
    """Time the searches in a process of their own; a row for each kind of question, in milliseconds."""
    rows: list[dict[str, Any]] = run_json([sys.executable, "-m", "measure.warm", str(index)])["rows"]
    return rows


def main() -> None:
    """Be the process that searches."""
    # Imported here, because whoever measures memory must stay small.
    from measure.questions import chosen
    from searchkit import Engine

    with Engine(sys.argv[1]) as engine:
        kinds: dict[str, list[dict[str, float]]] = {}
        for question in chosen(engine):
            kinds.setdefault(question.kind, []).append(_timed(engine, question.words, question.filters))
    rows = [
        {"kind": kind, **{name: statistics.mean(each[name] for each in several) for name in several[0]}}
        for kind, several in kinds.items()
    ]
    print(json.dumps({"rows": rows}))


def _timed(engine: Any, words: str, filters: tuple[tuple[str, str], ...]) -> dict[str, float]:
    """Return the medians, in milliseconds, of what is timed in turn; and how much there was to find."""
    from searchkit.backends.embedded import finding
    from searchkit.dates import LOCAL
    from searchkit.query import understand

    backend = engine._open()
    query = understand(words, now=datetime.now(LOCAL), filters=filters)
    search = backend._search(query)
    bare = finding.wanted(search)
    index = backend._open_keyword()._index
    timed: dict[str, Callable[[], object]] = {
        "whole": lambda: engine.search(words, filters=filters),
        "bare": lambda: search.searcher.search(bare, TANTIVY_HITS),
        "naive": lambda: search.searcher.search(index.parse_query_lenient(words, ["text"])[0], TANTIVY_HITS),
    }
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for turn in range(UNTIMED_ROUNDS + ROUNDS):
        for name, action in timed.items():
            began = time.perf_counter()
            action()
            if turn >= UNTIMED_ROUNDS:
                taken[name].append((time.perf_counter() - began) * 1000)
    found = search.searcher.search(bare, 1)
    return {**{name: statistics.median(times) for name, times in taken.items()}, "parts": found.count}


def _row(row: dict[str, Any], size: str) -> Figure:
    note = f"Tantivy {row['bare']:.2f} ms, parsed by itself {row['naive']:.2f} ms; in {row['parts']:,.0f} parts"
    return Figure(name=f"  {row['kind']}, {size}", value=row["whole"], unit="ms", note=note)


if __name__ == "__main__":
    main()
