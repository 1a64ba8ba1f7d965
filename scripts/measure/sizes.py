"""How the cost of a search grows with what there is to search."""

import shutil
from pathlib import Path

from measure import corpora
from measure.child import run, searchkit
from measure.corpora import MEGABYTE
from measure.figures import Figure, say
from measure.subject import Subject
from measure.warm import figures

SEED = 1
# The goal of issue 3, show 3: the largest to the smallest, 1,600 MB to 50.
RARE_RATIO = 2.0
RARE = "rare word"


def sizes(subject: Subject) -> list[Figure]:
    """Make corpora of several sizes, one after another, and ask each the same kinds of questions."""
    found: list[Figure] = []
    rare: dict[int, float] = {}
    for wanted in subject.sizes:
        say(f"{wanted}: corpus, index, searches")
        place = subject.scratch / "sized"
        root = Path(wanted) if Path(wanted).is_dir() else corpora.make(place / "root", float(wanted), SEED)
        run(searchkit("index", "--no-vectors", "--json", "--root", root, "--index", place / "index"))
        size = round(corpora.transcript_bytes(root) / MEGABYTE)
        rows = figures(place / "index", f"{size} MB")
        shutil.rmtree(place)
        rare[size] = next(row.value for row in rows if row.name.strip().startswith(RARE))
        found += rows
    if len(rare) > 1:
        smallest, largest = min(rare), max(rare)
        note = f"{rare[largest]:.2f} ms at {largest} MB to {rare[smallest]:.2f} ms at {smallest} MB"
        found.append(Figure(name=f"{RARE}, ratio", value=rare[largest] / rare[smallest], goal=RARE_RATIO, note=note))
    return found
