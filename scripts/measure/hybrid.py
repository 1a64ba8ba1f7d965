"""A warm search by words and meaning with ten hits in their turns, beside one by words and the embedding of a question.

As a program, python -m measure.hybrid INDEX, it times the three in turn and prints milliseconds as JSON.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from measure.child import run_json
from measure.figures import Figure
from measure.subject import Subject

if TYPE_CHECKING:
    from searchkit import Engine

# The goal of issue 5, show 3.
HYBRID_RATIO = 5.0
# Others ask for a phrase, a prefix or a pattern, which means words only, or for next to nothing.
KINDS = ("three words", "question", "common word")
ROUNDS = 15
UNTIMED_ROUNDS = 2


def hybrid(subject: Subject) -> list[Figure]:
    """Search an index that has all its vectors."""
    told = run_json([sys.executable, "-m", "measure.hybrid", str(subject.with_vectors())])
    took, words, question = (float(told[name]) for name in ("hybrid", "keyword", "question"))
    note = f"{took:.1f} ms to {words:.1f} ms of words and {question:.1f} ms for the question; {told['parts']:,} vectors"
    work_note = "of all threads, which Lance has several of; other load adds nothing to it"
    return [
        Figure(name="hybrid search, ratio", value=took / (words + question), goal=HYBRID_RATIO, note=note),
        Figure(name="hybrid search, processor time", value=float(told["work"]), unit="ms", note=work_note),
    ]


def main() -> None:
    """Be the process that searches: everything in turn, so that other load falls on all."""
    # Imported here, because whoever measures memory must stay small.
    from measure.questions import chosen
    from searchkit import Engine

    with Engine(sys.argv[1]) as engine:
        asked = [_actions(engine, question.words) for question in chosen(engine) if question.kind in KINDS]
        taken: dict[str, list[float]] = {}
        for turn in range(UNTIMED_ROUNDS + ROUNDS):
            for name in asked[0]:
                began, began_work = time.perf_counter(), time.process_time()
                for actions in asked:
                    actions[name]()
                work, seconds = time.process_time() - began_work, time.perf_counter() - began
                if turn >= UNTIMED_ROUNDS:
                    taken.setdefault(name, []).append(1000 * seconds / len(asked))
                    taken.setdefault(f"{name} work", []).append(1000 * work / len(asked))
        parts = engine.status().embedded
    medians = {name: statistics.median(times) for name, times in taken.items()}
    print(json.dumps({**medians, "work": medians["hybrid work"], "parts": parts}))


def _actions(engine: "Engine", words: str) -> dict[str, Callable[[], object]]:
    from searchkit.query.types import Mode

    return {
        "keyword": lambda: engine.search(words, mode=Mode.KEYWORD),
        "hybrid": lambda: engine.search(words, mode=Mode.HYBRID),
        "question": lambda: engine._models.embedder().embed_query(words),
    }


if __name__ == "__main__":
    main()
