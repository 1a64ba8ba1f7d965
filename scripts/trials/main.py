"""The campaign: every trial in turn, bounded by counts and time, and a table of what was lost, doubled or silent."""

import argparse
import dataclasses
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from measure.environment import DATA, ROOT
from measure.figures import Figure, table
from trials.checker import Findings

MOST_SHOWN = 20
# What cannot be counted lasts so long, however late it is.
LEAST_SECONDS = 20.0


@dataclass
class Outcome:
    """What came of a trial."""

    name: str
    done: str
    seen: Mapping[str, int] = field(default_factory=Counter)
    findings: Findings = field(default_factory=Findings)
    # What else must hold, by its name.
    holds: Mapping[str, bool] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def wrong(self) -> list[str]:
        """What was not as it should be, in words."""
        return [*self.findings.wrong, *(name for name, is_so in self.holds.items() if not is_so)]


@dataclass
class Trial:
    """Where a trial takes place, how much of it is wanted, and when it ends at the latest."""

    place: Path
    chosen: argparse.Namespace
    ends_at: float

    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.ends_at

    @property
    def seconds_left(self) -> float:
        """How long there is still time."""
        return max(0.0, self.ends_at - time.monotonic())


def kills(trial: Trial) -> Outcome:
    """Kill indexing while everything happens to the transcripts."""
    from trials.kills import changing

    tally, findings = changing(trial.place, trial.chosen.kills, trial.chosen.seed, trial.is_over)
    findings.silent += tally.wrong
    done = f"{tally.kills} kills; {tally.finished} runs ended before theirs"
    return Outcome("kills", done, tally.ways + tally.phases, findings)


def growth(trial: Trial) -> Outcome:
    """Kill indexing while a corpus grows that has every kind of record, and compare with a build in peace."""
    from trials.kills import growing

    count = trial.chosen.growth_kills
    tally, holds = growing(trial.place, trial.chosen.mb, count, trial.chosen.seed, trial.is_over)
    done = f"{tally.kills} kills; {tally.finished} runs ended before theirs"
    return Outcome("growth", done, tally.ways + tally.phases, Findings(silent=tally.wrong), holds)


def vectors(trial: Trial) -> Outcome:
    """Kill indexing while it makes vectors of a corpus that grows."""
    from trials.kills import embedding

    count = trial.chosen.vector_kills
    tally, holds = embedding(trial.place, trial.chosen.vector_mb, count, trial.chosen.seed, trial.is_over)
    done = f"{tally.kills} kills while vectors are made; {tally.finished} runs ended before theirs"
    return Outcome("vectors", done, tally.ways + tally.phases, Findings(silent=tally.wrong), holds)


def disks(trial: Trial) -> Outcome:
    """Let the disk be full from a random write on."""
    from trials import disks

    if (library := disks.library(trial.place)) is None:
        return Outcome("disks", "LEFT OUT: there is no C compiler here")
    seen, findings = disks.full(trial.place, library, trial.chosen.disks, trial.chosen.seed, trial.is_over)
    return Outcome("disks", f"{seen['full']} full disks", seen, findings)


def faults(trial: Trial) -> Outcome:
    """Let the disk fail now and then, or be slow."""
    from trials import disks

    if (library := disks.library(trial.place)) is None:
        return Outcome("faults", "LEFT OUT: there is no C compiler here")
    seen, findings = disks.failing(trial.place, library, trial.chosen.faults, trial.chosen.seed, trial.is_over)
    return Outcome("faults", f"{sum(seen.values())} runs on failing and slow disks", seen, findings)


def flips(trial: Trial) -> Outcome:
    """Flip bits anywhere in an index."""
    from trials.flips import flip

    has_vectors = not trial.chosen.no_vectors
    seen, findings = flip(trial.place, trial.chosen.flips, trial.chosen.seed, has_vectors, trial.is_over)
    return Outcome("flips", f"{seen['flips']} flipped bits", seen, findings)


def lines(trial: Trial) -> Outcome:
    """Mutate lines of transcripts."""
    from trials.lines import mutate

    seen, findings = mutate(trial.place, trial.chosen.lines, trial.chosen.seed, trial.is_over)
    return Outcome("lines", f"{seen['mutated lines']} mutated lines", seen, findings)


def crowd(trial: Trial) -> Outcome:
    """Let many processes write, search, prune and rebuild at once."""
    from trials.crowd import crowd

    quiet, chaos = trial.chosen.crowd_minutes, trial.chosen.chaos_minutes
    scale = min(1.0, max(trial.seconds_left, LEAST_SECONDS) / 60 / max(quiet + chaos, 0.01))
    seen, findings = crowd(trial.place, quiet * scale, chaos * scale, trial.chosen.seed)
    return Outcome("crowd", f"{(quiet + chaos) * scale:.1f} minutes of processes beside each other", seen, findings)


def load(trial: Trial) -> Outcome:
    """Let many clients ask one process, and watch what it holds."""
    from trials.load import load

    chosen = trial.chosen
    seconds = max(LEAST_SECONDS, min(60 * chosen.load_minutes, trial.seconds_left))
    figures, wrong = load(
        trial.place, chosen.clients, seconds, chosen.pause, chosen.load_kills, chosen.load_mb, chosen.index
    )
    done = f"{chosen.clients} clients for {seconds / 60:.1f} minutes"
    return Outcome("load", done, figures=figures, findings=Findings(silent=wrong))


# Every trial, with its share of the time.
TRIALS: dict[str, tuple[Callable[[Trial], Outcome], float]] = {
    "kills": (kills, 0.24),
    "growth": (growth, 0.06),
    "vectors": (vectors, 0.06),
    "disks": (disks, 0.16),
    "faults": (faults, 0.06),
    "flips": (flips, 0.14),
    "lines": (lines, 0.10),
    "crowd": (crowd, 0.08),
    "load": (load, 0.10),
}


def main() -> int:
    """Run what was chosen; return 0 where nothing was lost, doubled or silent."""
    chosen = _parser().parse_args()
    for name in [name for name in os.environ if name.startswith(("SEARCHKIT_", "CLAUDE_"))]:
        # Nothing that this user configured counts.
        del os.environ[name]
    os.environ["SEARCHKIT_NO_RESIDENT"] = "1"
    # Processes that are started by processes are of this directory, too, whatever is installed.
    os.environ["PYTHONPATH"] = str(ROOT)
    names = chosen.trials or list(TRIALS)
    shares = sum(TRIALS[name][1] for name in names)
    ends_at = time.monotonic() + 60 * chosen.minutes
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        os.environ[DATA] = str(Path(scratch) / "data")
        for name in names:
            trial, share = TRIALS[name]
            # What a trial leaves of its time is for those after it.
            now = time.monotonic()
            place = Path(scratch) / name
            place.mkdir()
            outcome = trial(Trial(place, chosen, now + max(0.0, ends_at - now) * share / shares))
            shares -= share
            outcome.seconds, outcome.seen = time.monotonic() - now, dict(outcome.seen)
            outcomes.append(outcome)
            _print(outcome)
            shutil.rmtree(place, ignore_errors=True)
    failed = [outcome for outcome in outcomes if outcome.wrong]
    found = Findings()
    for outcome in outcomes:
        found.add(outcome.findings)
    sys.stdout.write(
        f"{found.checks} checks of {found.records} records: {len(found.lost)} lost, {len(found.doubled)} doubled, "
        f"{len(found.silent)} silent\n{len(outcomes) - len(failed)} passed, {len(failed)} failed\n"
    )
    if chosen.json is not None:
        chosen.json.write_text(json.dumps([dataclasses.asdict(outcome) for outcome in outcomes], indent=1))
    return 1 if failed else 0


def _print(outcome: Outcome) -> None:
    sys.stdout.write(f"{outcome.name}: {outcome.done} ({outcome.seconds:.0f} s)\n")
    found = outcome.findings
    if found.checks:
        sys.stdout.write(
            f"  {found.checks} checks of {found.records} records: {len(found.lost)} lost, "
            f"{len(found.doubled)} doubled, {len(found.silent)} silent\n"
        )
    for name, count in sorted(outcome.seen.items()):
        sys.stdout.write(f"  {count:>8} {name}\n")
    for name, is_so in outcome.holds.items():
        sys.stdout.write(f"  {'PASS' if is_so else 'FAIL'}: {name}\n")
    for line in table(outcome.figures):
        sys.stdout.write(f"  {line}\n")
    for wrong in outcome.wrong[:MOST_SHOWN]:
        sys.stdout.write(f"  WRONG {wrong}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__)
    parser.add_argument(
        "trials", nargs="*", choices=[*TRIALS, []], metavar="TRIAL", help=f"some of {', '.join(TRIALS)}"
    )
    parser.add_argument("--minutes", type=float, default=240, help="for all trials together (default 240)")
    parser.add_argument("--seed", type=int, default=1, help="decides everything but the exact moments (default 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there, too")
    parser.add_argument("--kills", type=int, default=1000, help="while everything happens to files (default 1000)")
    parser.add_argument("--growth-kills", type=int, default=200, help="while a corpus grows (default 200)")
    parser.add_argument("--mb", type=float, default=8, help="megabytes of that corpus (default 8)")
    parser.add_argument("--vector-kills", type=int, default=50, help="while vectors are made (default 50)")
    parser.add_argument("--vector-mb", type=float, default=1, help="megabytes of that corpus (default 1)")
    parser.add_argument("--disks", type=int, default=300, help="full disks (default 300)")
    parser.add_argument("--faults", type=int, default=100, help="runs on failing and slow disks (default 100)")
    parser.add_argument("--flips", type=int, default=1000, help="flipped bits (default 1000)")
    parser.add_argument("--no-vectors", action="store_true", help="flip bits of an index without vectors")
    parser.add_argument("--lines", type=int, default=1_000_000, help="mutated lines (default 1000000)")
    parser.add_argument("--crowd-minutes", type=float, default=2, help="serve, index and appended lines (default 2)")
    parser.add_argument("--chaos-minutes", type=float, default=10, help="also prune, rebuild and kills (default 10)")
    parser.add_argument("--clients", type=int, default=100, help="how many ask at once (default 100)")
    parser.add_argument("--pause", type=float, default=0, help="seconds between two requests of a client (default 0)")
    parser.add_argument("--load-minutes", type=float, default=10, help="how long they ask (default 10)")
    parser.add_argument("--load-kills", type=int, default=20, help="kills while they go on asking (default 20)")
    parser.add_argument("--load-mb", type=float, default=20, help="megabytes of what they ask for (default 20)")
    parser.add_argument("--index", type=Path, metavar="DIR", help="let them ask this index instead")
    return parser
