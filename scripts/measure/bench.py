"""What indexing costs, as ratios to what must be done at least, all on one corpus in one run."""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from measure import corpora
from measure.child import Outcome, run, run_json, searchkit, size
from measure.corpora import MEGABYTE

SEED = 1
# The goals of issue 2, shows 5 and 6.
CATALOG_RATIO = 4.0
CATALOG_BYTES = 0.25
PEAK_MB = 400.0


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number; a goal is the most that it should be."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None
    note: str = ""


@dataclass
class Bench:
    """One corpus and what has been measured on it so far, which later measurements build upon."""

    root: Path
    scratch: Path
    runs: int
    bytes: int
    floors: list[float]
    index_seconds: float = 0.0

    @property
    def floor(self) -> float:
        """The mean of all floors measured so far."""
        return statistics.mean(self.floors)

    @property
    def index(self) -> Path:
        """Where the whole index is."""
        return self.scratch / "index"


def main() -> int:
    """Measure, print the table, and write it as JSON where that was asked for."""
    arguments = _arguments()
    load = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="searchkit-bench-") as scratch:
        _say("making the corpus")
        if arguments.corpus:
            root = corpora.copy(arguments.corpus, Path(scratch) / "root")
        else:
            root = corpora.make(Path(scratch) / "root", arguments.mb, SEED)
        bench = Bench(root, Path(scratch), arguments.runs, corpora.transcript_bytes(root), [])
        figures = [figure for measurement in MEASUREMENTS for figure in _measured(measurement, bench)]
    figures.sort(key=lambda figure: figure.name == "floor after")
    print(f"{bench.bytes / MEGABYTE:.1f} MB of transcripts; ratios are to the floor, {bench.floor:.2f} s")
    # What else ran here has slowed all of it down, two processes at once more than the one of the floor.
    print(f"{os.cpu_count()} processors; load before {load[0]:.1f}, after {os.getloadavg()[0]:.1f}")
    _print(figures)
    if arguments.json:
        rows = [asdict(figure) for figure in figures]
        arguments.json.write_text(json.dumps({"bytes": bench.bytes, "figures": rows}, indent=2) + "\n")
    return 0


def floor_before(bench: Bench) -> list[Figure]:
    """Read and parse everything: once to warm the disk cache, then to measure."""
    _work("floor", bench)
    bench.floors.append(_work("floor", bench))
    return [_seconds("floor before", bench.floors[-1], bench)]


def index(bench: Bench) -> list[Figure]:
    """Index end to end, as a user would."""
    outcomes: list[Outcome] = []
    for _ in range(bench.runs):
        shutil.rmtree(bench.index, ignore_errors=True)
        outcomes.append(run(searchkit("index", "--no-vectors", "--json", "--root", bench.root, "--index", bench.index)))
    bench.index_seconds = statistics.median(outcome.seconds for outcome in outcomes)
    peak = max(outcome.peak_bytes for outcome in outcomes) / MEGABYTE
    return [
        Figure(name="index, peak memory", value=peak, unit="MB", goal=PEAK_MB, note="all its processes"),
        Figure(name="index, bytes per byte", value=size(bench.index) / bench.bytes, note="catalog and words"),
    ]


def catalog(bench: Bench) -> list[Figure]:
    """Fill the catalog alone."""
    seconds = []
    directory = bench.scratch / "catalog"
    for _ in range(bench.runs):
        shutil.rmtree(directory, ignore_errors=True)
        seconds.append(_work("catalog", bench, directory))
    share = size(directory) / bench.bytes
    shutil.rmtree(directory)
    bench.floors.append(_work("floor", bench))
    took = statistics.median(seconds)
    return [
        _seconds("floor after", bench.floors[-1], bench),
        Figure(name="catalog, ratio", value=took / bench.floor, goal=CATALOG_RATIO, note=f"{took:.2f} s"),
        Figure(name="index, ratio", value=bench.index_seconds / bench.floor, note=f"{bench.index_seconds:.2f} s"),
        Figure(name="catalog, bytes per byte", value=share, goal=CATALOG_BYTES),
    ]


def second_index(bench: Bench) -> list[Figure]:
    """Index again when nothing has changed."""
    done = run(_index_command(bench))
    read = json.loads(done.output)["bytes"]
    return [
        Figure(name="second index", value=done.seconds, unit="s", note="the whole process"),
        Figure(name="second index, bytes read", value=read, goal=0),
    ]


def appended_line(bench: Bench) -> list[Figure]:
    """Index again when the largest transcript has one more line."""
    largest = max(corpora.transcripts(bench.root), key=lambda path: path.stat().st_size)
    record = {"type": "user", "sessionId": largest.stem, "uuid": "benchmark", "message": {"content": "one more line"}}
    line = json.dumps(record).encode() + b"\n"
    with largest.open("r+b") as file:
        file.seek(-1, 2)
        ends = file.read() == b"\n"
        file.write(line if ends else b"\n" + line)
    done = run(_index_command(bench))
    read = json.loads(done.output)["bytes"]
    note = f"to a file of {largest.stat().st_size / MEGABYTE:.1f} MB"
    return [
        Figure(name="one line more", value=done.seconds, unit="s", note=note),
        Figure(name="one line more, bytes read", value=read, goal=len(line) + (not ends)),
    ]


# Each takes what those before it have left behind; a new one is a function here.
MEASUREMENTS: tuple[Callable[[Bench], list[Figure]], ...] = (floor_before, index, catalog, second_index, appended_line)


def _measured(measurement: Callable[[Bench], list[Figure]], bench: Bench) -> list[Figure]:
    _say(measurement.__name__.replace("_", " "))
    return measurement(bench)


def _work(name: str, bench: Bench, index: Path | None = None) -> float:
    command = [sys.executable, "-m", "measure.work", name, str(bench.root), str(index or bench.index)]
    return float(run_json(command)["seconds"])


def _index_command(bench: Bench) -> list[str]:
    return searchkit("index", "--no-vectors", "--json", "--root", bench.root, "--index", bench.index)


def _seconds(name: str, value: float, bench: Bench) -> Figure:
    return Figure(name=name, value=value, unit="s", note=f"{bench.bytes / MEGABYTE / value:.0f} MB/s")


def _print(figures: list[Figure]) -> None:
    for figure in figures:
        goal = (
            "" if figure.goal is None else f"goal {figure.goal:g}: {'met' if figure.value <= figure.goal else 'MISSED'}"
        )
        shown = f"{figure.value:,.0f}" if figure.value >= 100 or figure.value == 0 else f"{figure.value:.2f}"
        print(f"{figure.name:28}{shown:>12} {figure.unit:3} {goal:20} {figure.note}".rstrip())


def _say(words: str) -> None:
    print(f"bench: {words}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--mb", type=float, default=400, help="megabytes of made-up transcripts (default 400)")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="measure a copy of this root instead")
    parser.add_argument("--runs", type=int, default=1, help="repeat what is timed and take the median (default 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser.parse_args()
