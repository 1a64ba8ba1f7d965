"""Runs of labelled questions, kept as ids and ranks, and compared question by question.

A run is the rank of the first right message and of the first right session for each question, or null where none is
among the first ten. Intervals are those of 95 %, by drawing questions with replacement.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import orjson

from measure.environment import ROOT
from measure.recorded import HASH_CHARACTERS, MEASURED

RUNS = ROOT / "benchmarks" / "runs"
DRAWS = 10_000
_SEED = 20_261_118
# Columns of a table: what a rank counts.
MEASURES: Mapping[str, Callable[[int | None], float]] = {
    "hit@1": lambda rank: 100.0 * (rank == 1),
    "hit@5": lambda rank: 100.0 * (rank is not None and rank <= 5),
    "hit@10": lambda rank: 100.0 * (rank is not None),
    "mrr": lambda rank: 100.0 / rank if rank else 0.0,
}


class Ranks(msgspec.Struct, frozen=True, kw_only=True):
    """Where the first right message and the first right session of a question came; None where they did not."""

    message: int | None
    session: int | None


Run = Mapping[str, Ranks]


def keep(name: str, run: Run) -> str:
    """Keep a run for the commit that it was measured on, and say where, or why not."""
    try:
        if _git("status", "--porcelain", "--", *MEASURED):
            return "not kept: there are changes that are in no commit"
        commit = _git("rev-parse", "HEAD")[:HASH_CHARACTERS]
    except (OSError, subprocess.CalledProcessError) as error:
        return f"not kept: {error}"
    RUNS.mkdir(parents=True, exist_ok=True)
    path = RUNS / f"{name}-{commit}.json"
    path.write_bytes(orjson.dumps(msgspec.to_builtins(run), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return f"kept in {path.relative_to(ROOT)}"


def load(path: Path) -> Run:
    """Read a run that was kept."""
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Ranks])


def earlier(name: str, commit: str = "") -> Path | None:
    """Return the run of a commit, or of the last commit before this one that has one."""
    if commit:
        return next(iter(sorted(RUNS.glob(f"{name}-{commit[:HASH_CHARACTERS]}*.json"))), None)
    for line in _git("log", "--format=%H", "HEAD~1").splitlines():
        path = RUNS / f"{name}-{line[:HASH_CHARACTERS]}.json"
        if path.exists():
            return path
    return None


def table(run: Run, groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Tell how well the questions of each group are answered, with intervals; a group is told by its questions."""
    heads = " ".join(f"{name:>17}" for name in (*MEASURES, "session hit@10"))
    yield f"{'':14} {'n':>4} {heads}"
    for name, ids in groups.items():
        cells = [_cell(_values(run, ids, measure)) for measure in MEASURES.values()]
        cells.append(_cell(_values(run, ids, MEASURES["hit@10"], is_session=True)))
        yield f"{name:14} {len(ids):4d} {' '.join(f'{cell:>17}' for cell in cells)}"


def differences(run: Run, other: Run, ids: Sequence[str]) -> Iterator[str]:
    """Tell by how much a run is better than another over the same questions, and which questions changed."""
    for name, measure in MEASURES.items():
        changes = _values(run, ids, measure) - _values(other, ids, measure)
        low, high = _interval(changes)
        said = "" if low <= 0 <= high else ", more than noise"
        yield f"{name:7} {changes.mean():+5.1f} ({low:+.1f} to {high:+.1f}){said}"
    changed = [
        f"{id}: {other[id].message or '-'} -> {run[id].message or '-'}"
        for id in ids
        if run[id].message != other[id].message
    ]
    yield f"first right message, {len(changed)} of {len(ids)} changed: {', '.join(changed) or 'none'}"


def mean(run: Run, ids: Sequence[str], measure: str) -> float:
    """Return one figure of a run."""
    return float(_values(run, ids, MEASURES[measure]).mean())


def change(run: Run, other: Run, ids: Sequence[str], measure: str) -> str:
    """Say by how much a figure of a run differs from that of another, with its interval."""
    changes = _values(run, ids, MEASURES[measure]) - _values(other, ids, MEASURES[measure])
    low, high = _interval(changes)
    return f"{changes.mean():+.1f} ({low:+.1f} to {high:+.1f})"


def _values(
    run: Run, ids: Sequence[str], measure: Callable[[int | None], float], is_session: bool = False
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array([measure(run[id].session if is_session else run[id].message) for id in ids], dtype=np.float64)


def _cell(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> str:
    low, high = _interval(values)
    return f"{values.mean():.1f} ({low:.0f} to {high:.0f})"


def _interval(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> tuple[float, float]:
    drawn = np.random.default_rng(_SEED).integers(0, len(values), (DRAWS, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()
