"""How well and how fast the nearest vectors are found among many, fresh and after many small appends.

As a program, python -m measure.nearest DIRECTORY, it makes both tables, searches them in turn, and prints JSON.
"""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from measure.child import run_json
from measure.figures import Figure
from measure.subject import Subject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from searchkit.backends.local.vectors.table import Vectors

# The goals of issue 5, show 3.
ROWS = 200_000
MOST_MISSED = 20.0
APPENDS = 500
APPENDED_RATIO = 1.5
# What a turn of a session brings.
APPENDED_ROWS = 20
# As many as a run embeds at once.
BATCH_ROWS = 512
DIMENSION = 384
# Texts are about something: of pairs of messages in real transcripts, the nearest have cosines of 0.5 to 0.9.
SUBJECTS = 2_000
SPREAD = 0.8
WANTED = 100
QUESTIONS = 100
ROUNDS = 3
SEED = 1


def nearest(subject: Subject) -> list[Figure]:
    """Compare what is found with what comparing all finds, and the two tables with each other."""
    told = run_json([sys.executable, "-m", "measure.nearest", str(subject.scratch / "nearest")])
    fresh, appended = float(told["fresh"]), float(told["appended"])
    note = f"{appended:.1f} ms to {fresh:.1f} ms; processor time {told['appended work'] / told['fresh work']:.2f}"
    recall_note = (
        f"recall {told['recall']:.4f} of the {WANTED} nearest among {ROWS:,}; after appends {told['later']:.4f}"
    )
    return [
        Figure(
            name="nearest, 1000 x (1 - recall)",
            value=1000 * (1 - float(told["recall"])),
            goal=MOST_MISSED,
            note=recall_note,
        ),
        Figure(name=f"after {APPENDS} appends, ratio", value=appended / fresh, goal=APPENDED_RATIO, note=note),
        Figure(
            name="an append, processor time",
            value=float(told["append"]),
            unit="ms",
            note="with all upkeep that they led to",
        ),
    ]


def main() -> None:
    """Be the process that holds both tables."""
    # Imported here, because whoever measures memory must stay small.
    import numpy as np

    from searchkit.backends.local.vectors.table import Vectors

    directory = Path(sys.argv[1])
    rng = np.random.default_rng(SEED)
    subjects = rng.standard_normal((SUBJECTS, DIMENSION), np.float32)
    rows = ROWS + APPENDS * APPENDED_ROWS
    matrix = _about(rng, subjects, rows)
    questions = _about(rng, subjects, QUESTIONS)
    first, appended, fresh = (Vectors(directory / name, "t") for name in ("first", "appended", "fresh"))
    recall = _recall(_filled(first, matrix[:ROWS]), matrix[:ROWS], questions)
    _filled(appended, matrix[:ROWS])
    began = time.process_time()
    for start in range(ROWS, rows, APPENDED_ROWS):
        _add(appended, matrix, start, start + APPENDED_ROWS)
        appended.tidy(is_end=True)
    append = (time.process_time() - began) / APPENDS * 1000
    later = _recall(appended, matrix, questions)
    _filled(fresh, matrix)
    taken: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for question in questions:
            for name, table in (("fresh", fresh), ("appended", appended)):
                began, began_wall = time.process_time(), time.perf_counter()
                table.nearest(question, None, WANTED)
                taken.setdefault(name, []).append(1000 * (time.perf_counter() - began_wall))
                taken.setdefault(f"{name} work", []).append(1000 * (time.process_time() - began))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    print(json.dumps({**medians, "recall": recall, "later": later, "append": append}))


def _about(rng: "np.random.Generator", subjects: "NDArray[np.float32]", count: int) -> "NDArray[np.float32]":
    """Make unit vectors that lie around subjects."""
    import numpy as np

    chosen = subjects[rng.integers(len(subjects), size=count)]
    made = chosen + SPREAD * rng.standard_normal(chosen.shape, np.float32)
    scaled: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return scaled


def _filled(table: "Vectors", matrix: "NDArray[np.float32]") -> "Vectors":
    """Add all rows as a first run does."""
    for start in range(0, len(matrix), BATCH_ROWS):
        _add(table, matrix, start, min(len(matrix), start + BATCH_ROWS))
        table.tidy()
    table.tidy(is_end=True)
    return table


def _add(table: "Vectors", matrix: "NDArray[np.float32]", start: int, end: int) -> None:
    from searchkit.backends.base import Vector
    from searchkit.backends.local.vectors.rows import Description, rows

    said = {
        part: Description(part, part % 5, 0, part // 100, 0, 1, 0, 0, 1, 1_000 * part, part)
        for part in range(start, end)
    }
    table.add(rows([Vector(key=part, values=matrix[part]) for part in said], said))


def _recall(table: "Vectors", matrix: "NDArray[np.float32]", questions: "NDArray[np.float32]") -> float:
    """Return the share of what comparing all finds that is found."""
    import numpy as np

    exact = [set(np.argpartition(-(matrix @ question), WANTED)[:WANTED].tolist()) for question in questions]
    found = [{row["part"] for row in table.nearest(question, None, WANTED)} for question in questions]
    shares = [len(one & other) / WANTED for one, other in zip(found, exact, strict=True)]
    return statistics.mean(shares)


if __name__ == "__main__":
    main()
