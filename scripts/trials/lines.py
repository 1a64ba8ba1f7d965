"""Mutated lines between sound ones: what parses is kept, and the lines around each are found with their text."""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from measure.environment import for_children
from tests.support.damage import lines, write_damaged
from trials.checker import Checker, Findings

# Each round has a root and an index of its own, so that disk and memory stay small.
LINES_A_ROUND = 10_000
# Of the mutated lines that still are records, so many are looked for in each round.
SAMPLED_RECORDS = 300
IsOver = Callable[[], bool]


def mutate(place: Path, count: int, seed: int, is_over: IsOver) -> tuple[Counter[str], Findings]:
    """Write so many mutated lines, index them, and compare the sound lines and what still parses with the index."""
    bases = lines(place / "bases")
    seen, findings = Counter[str](), Findings()
    rng = random.Random(seed)
    while seen["mutated lines"] < count and not is_over():
        size = min(LINES_A_ROUND, count - seen["mutated lines"])
        root, index = place / "root", place / "index"
        sound = write_damaged(root, bases, size, seed + seen["mutated lines"])
        checker = Checker(root, index, for_children())
        # Files beside the transcripts are damaged, too, and those that are no JSON any more are named.
        if checker.index("--no-vectors", allowed=(0, 2)):
            checker.texts("neighbour damaged line", sound)
            checker.sample(rng, SAMPLED_RECORDS)
            checker.well()
        seen["mutated lines"] += size
        seen["sound lines between them"] += sum(map(len, sound.values()))
        findings.add(checker.findings)
        shutil.rmtree(root)
        shutil.rmtree(index)
    return seen, findings
