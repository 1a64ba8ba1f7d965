"""What indexing and searching cost, as ratios to what must be done at least, all on one corpus in one run."""

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from measure import corpora, indexing
from measure.agents import agents
from measure.context import context
from measure.corpora import MEGABYTE
from measure.embedding import embedding
from measure.environment import DATA
from measure.expanding import expanding
from measure.figures import Figure, say, table
from measure.first import first
from measure.hybrid import hybrid
from measure.meaning import meaning
from measure.nearest import nearest
from measure.page import page
from measure.residing import residing
from measure.sizes import sizes
from measure.starting import process
from measure.subject import Subject
from measure.warm import warm

SEED = 1

# In this order: what appends to the corpus comes last. A new one is a function here.
MEASUREMENTS: dict[str, Callable[[Subject], list[Figure]]] = {
    "floor": indexing.floor,
    "index": indexing.index,
    "catalog": indexing.catalog,
    "ratios": indexing.ratios,
    "first": first,
    "warm": warm,
    "expanding": expanding,
    "process": process,
    "context": context,
    "mcp": agents,
    "page": page,
    "again": indexing.again,
    "line": indexing.line,
    "resident": residing,
    "sizes": sizes,
    "embedding": embedding,
    "nearest": nearest,
    "meaning": meaning,
    "hybrid": hybrid,
}
# What another one compares with.
NEEDED = {"index": ("floor", "ratios"), "catalog": ("floor", "ratios")}


def main() -> int:
    """Measure, print the table, and write it as JSON where that was asked for."""
    arguments = _arguments()
    load = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="searchkit-bench-") as scratch:
        os.environ[DATA] = str(Path(scratch) / "data")
        say("making the corpus")
        if arguments.corpus:
            root = corpora.copy(arguments.corpus, Path(scratch) / "root")
        else:
            root = corpora.make(Path(scratch) / "root", arguments.mb, SEED)
        subject = Subject(
            root, Path(scratch), arguments.runs, corpora.transcript_bytes(root), arguments.sizes, arguments.embedded
        )
        figures = [figure for name in _chosen(arguments.only) for figure in _measured(name, subject)]
    print(f"{subject.bytes / MEGABYTE:.1f} MB of transcripts")
    # What else ran here has slowed all of it down, two processes at once more than the one of the floor.
    print(f"{os.cpu_count()} processors; load before {load[0]:.1f}, after {os.getloadavg()[0]:.1f}")
    for line in table(figures):
        print(line)
    if arguments.json:
        rows = [asdict(figure) for figure in figures]
        arguments.json.write_text(json.dumps({"bytes": subject.bytes, "figures": rows}, indent=2) + "\n")
    return 0


def _chosen(only: list[str]) -> list[str]:
    """Return what to measure, with what that is compared with, in order."""
    wanted = {*only, *(other for name in only for other in NEEDED.get(name, ()))} if only else MEASUREMENTS.keys()
    return [name for name in MEASUREMENTS if name in wanted]


def _measured(name: str, subject: Subject) -> list[Figure]:
    load = os.getloadavg()[0]
    say(f"{name}, at load {load:.1f}")
    return MEASUREMENTS[name](subject)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--mb", type=float, default=400, help="megabytes of made-up transcripts (default 400)")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="measure a copy of this root instead")
    parser.add_argument("--runs", type=int, default=1, help="repeat what is timed and take the median (default 1)")
    parser.add_argument("--only", type=_names, default=[], metavar="NAMES", help=f"some of {', '.join(MEASUREMENTS)}")
    parser.add_argument(
        "--sizes",
        type=lambda text: text.split(","),
        default=[],
        metavar="MBS",
        help="search corpora of these sizes, or these roots, too: 50,400,1600",
    )
    parser.add_argument(
        "--embedded", type=Path, metavar="DIR", help="search this index with vectors instead of making one"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - MEASUREMENTS.keys():
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: use some of {', '.join(MEASUREMENTS)}")
    return names
