"""How the cost of a search grows with what there is to search."""

import shutil
from pathlib import Path
from typing import Any

from measure import corpora
from measure.child import run, searchkit
from measure.corpora import MEGABYTE
from measure.figures import Figure, say
from measure.subject import Subject
from measure.warm import figures, rows_of

SEED = 1
# The goal of issue 3, show 3: the largest to the smallest, 1,600 MB to 50.
RARE_RATIO = 2.0
RARE = "rare word"


def sizes(subject: Subject) -> list[Figure]:
    """Make corpora of several sizes, one after another, and ask each the same kinds of questions."""
    found: list[Figure] = []
    rare: dict[int, dict[str, Any]] = {}
    for wanted in subject.sizes:
        say(f"{wanted}: corpus, index, searches")
        place = subject.scratch / "sized"
        root = Path(wanted) if Path(wanted).is_dir() else corpora.make(place / "root", float(wanted), SEED)
        run(searchkit("index", "--no-vectors", "--json", "--root", root, "--index", place / "index"))
        size = round(corpora.transcript_bytes(root) / MEGABYTE)
        rows = rows_of(place / "index")
        shutil.rmtree(place)
        rare[size] = next(row for row in rows if row["kind"] == RARE)
        found += figures(rows, f"{size} MB")
    if len(rare) > 1:
        smallest, largest = rare[min(rare)], rare[max(rare)]
        ratio, work = (largest[column] / smallest[column] for column in ("whole", "whole work"))
        note = f"{max(rare)} MB to {min(rare)} MB; processor time {work:.2f}"
        found.append(Figure(name=f"{RARE}, ratio", value=ratio, goal=RARE_RATIO, note=note))
    return found
