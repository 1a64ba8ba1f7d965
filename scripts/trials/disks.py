"""Disks that are full from some write on, that fail now and then, and that are slow, below one directory of a process.

A library in C that the compiler of this machine makes, preloaded into searchkit, plays the disk.
"""

import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from measure.environment import for_children
from trials.checker import Checker, Findings, Said, is_named, run
from trials.roots import ChangingRoot

SOURCE = Path(__file__).with_name("faults.c")
# An index of this size is written in fewer operations than that; small numbers are more likely, as all begins there.
MOST_WRITES = 2_000
CHANGES_A_TIME = 8
CHECK_EVERY = 5
# One operation in so many fails.
FAILING = (20, 50, 100, 400)
SLOW_MICROSECONDS = 300
WORDS_ONLY = ("index", "--no-vectors")
WITH_VECTORS = ("index", "--model", "fake")
COMMANDS = (WORDS_ONLY, WORDS_ONLY, WORDS_ONLY, (*WORDS_ONLY, "--rebuild"), WITH_VECTORS)
IsOver = Callable[[], bool]


def library(place: Path) -> Path | None:
    """Compile what plays the disk; None where that cannot be done here."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    made = place / "faults.so"
    if compiler is None or os.name != "posix":
        return None
    done = subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(SOURCE), "-ldl"], check=False)
    return made if done.returncode == 0 else None


class Disk:
    """A root, an index of it, and a disk on which either lies."""

    def __init__(self, place: Path, faults: Path, seed: int) -> None:
        """Index some transcripts in peace."""
        self.root, self.index = ChangingRoot(place / "root", seed), place / "index"
        self.checker = Checker(self.root.root, self.index, for_children())
        self.seen: Counter[str] = Counter()
        self.draws = random.Random(seed)
        self._library = faults
        self.checker.index("--no-vectors")
        self.checker.quick()

    def run(self, kind: str, at: int, below: Path, *words: str) -> Said:
        """Run a command while the disk misbehaves below a directory."""
        place = ("--root", str(self.root.root), "--index", str(self.index))
        said = run(*words, *place, environment=self.faults(kind, at, below))
        if not is_named(said):
            self.checker.findings.silent.append(
                f"{kind} {at}, {' '.join(words)}: {said.status} {said.err.strip()[-700:]}"
            )
        return said

    def faults(self, kind: str, at: int, below: Path) -> dict[str, str]:
        """Return an environment in which the disk misbehaves below a directory."""
        return {
            **for_children(),
            "LD_PRELOAD": str(self._library),
            "FAULT_KIND": kind,
            "FAULT_AT": str(at),
            "FAULT_DIR": str(below),
            "FAULT_SEED": str(self.draws.getrandbits(31)),
        }

    def mend(self, is_checked: bool) -> None:
        """Index in peace, and compare."""
        self.checker.index("--no-vectors")
        if is_checked:
            self.checker.quick()

    def conclude(self) -> Findings:
        """Compare everything."""
        self.mend(is_checked=True)
        if self.seen[f"full: {' '.join(WITH_VECTORS)}"]:
            self.checker.index(*WITH_VECTORS[1:])
        self.checker.full(self.root.written)
        self.checker.well()
        return self.checker.findings


def full(place: Path, faults: Path, count: int, seed: int, is_over: IsOver) -> tuple[Counter[str], Findings]:
    """Let the disk be full from a random write of a run on, again and again."""
    disk = Disk(place, faults, seed)
    while disk.seen["full"] < count and not is_over():
        disk.root.change(CHANGES_A_TIME)
        words = disk.draws.choice(COMMANDS)
        kind = disk.draws.choice(("full", "full", "spent"))
        said = disk.run(kind, int(MOST_WRITES ** disk.draws.random()), disk.index, *words)
        disk.seen["full" if said.status else "enough room"] += 1
        if said.status:
            disk.seen["of them, no file could be made"] += kind == "spent"
            disk.seen[f"full: {' '.join(words)}"] += 1
            if not any(word in said.err.lower() for word in ("room", "space", "full")):
                disk.checker.findings.silent.append(f"a full disk is called {said.err.strip()[-300:]}")
        is_checked = disk.seen["full"] % CHECK_EVERY == 0
        if is_checked:
            # What was found before is found where nothing can be written.
            disk.checker.old(5, disk.faults("full", 1, disk.index))
        disk.mend(is_checked)
    return disk.seen, disk.conclude()


def failing(place: Path, faults: Path, count: int, seed: int, is_over: IsOver) -> tuple[Counter[str], Findings]:
    """Let operations on the transcripts or on the index fail at random, and all be slow."""
    disk = Disk(place, faults, seed)
    for number in range(count):
        if is_over():
            break
        disk.root.change(CHANGES_A_TIME)
        below = disk.draws.choice((disk.index, disk.root.root))
        name = "the index" if below == disk.index else "the transcripts"
        kind, at = disk.draws.choice((("slow", SLOW_MICROSECONDS), *(("broken", one) for one in FAILING)))
        said = disk.run(kind, at, below, *WORDS_ONLY)
        disk.seen[f"{kind} disk of {name}{', which was said' if said.status else ''}"] += 1
        if kind == "slow" and said.status:
            disk.checker.findings.silent.append(f"a slow disk is called {said.err.strip()[-300:]}")
        disk.mend(is_checked=number % CHECK_EVERY == 0)
    return disk.seen, disk.conclude()
