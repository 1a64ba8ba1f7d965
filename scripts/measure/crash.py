"""Whether an index that was killed again and again while files grew equals one that was built in peace."""

import argparse
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from measure import corpora
from measure.child import run, run_json, searchkit
from measure.environment import for_children
from measure.growing import FIRST_SHARE, GrowingRoot
from measure.traced import REPORTS

# Of the runs that are aimed at a phase, what they are aimed at; later phases are rarer in the others.
AIMS = ("start", "checkpoints", "write", "write", "keep_up", "keep_up", "settle", "settle", "follow", "follow", "close")
SMALL_LIMITS = ("BATCH_BYTES=300000", "BATCH_CHANGES=20", "PIECE_BYTES=100000", "COMMIT_PARTS=200")
OTHER_PROCESS = "ELSEWHERE_BYTES=0"
# A first guess, corrected by what is seen, so that about one run in six ends before its kill.
FIRST_GUESS_SECONDS = 0.6
PHASE_SECONDS = 0.05
SHORTER, LONGER = 0.9, 1.02
BINS = 10
SURVIVORS_SECONDS = 5.0


@dataclass
class Tally:
    """What has happened so far."""

    kills: int = 0
    finished: int = 0
    left_behind: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    moments: Counter[int] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)


class Victim:
    """A running `searchkit index`, plain or telling its phases."""

    def __init__(
        self, root: Path, index: Path, limits: tuple[str, ...] | None, options: Sequence[str] = ("--no-vectors",)
    ) -> None:
        """Start it in a process group of its own, so that whatever outlives it can be seen."""
        arguments = ["index", *options, "--json", "--root", str(root), "--index", str(index)]
        command = searchkit(*arguments)
        if limits is not None:
            command = [sys.executable, "-m", "measure.traced", *limits, "--", *arguments]
        self.reports, writing = os.pipe()
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" {REPORTS}>&{writing}', "sh", *command],
            pass_fds=[writing],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=for_children(),
            start_new_session=True,
        )
        os.close(writing)
        self.phase = "start"

    def follow(self, seconds: float, until: str | None = None) -> bool:
        """Note its phases for that long, or until one begins; return whether it still runs."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if self._process.poll() is not None:
                return False
            if select.select([self.reports], [], [], min(left, 0.01))[0]:
                told = os.read(self.reports, 1 << 16).decode().split()
                self.phase = told[-1] if told else self.phase
                if until in told:
                    self.phase = str(until)
                    return True
                if not told:
                    time.sleep(min(left, 0.01))
        return self._process.poll() is None

    def end(self, kill: bool) -> str:
        """Kill it or let it end; return what it complained of where it failed by itself."""
        if kill:
            self._process.kill()
        assert self._process.stderr is not None
        _, said = self._process.communicate()
        os.close(self.reports)
        code = self._process.returncode
        return "" if code in (0, -signal.SIGKILL) else said.decode(errors="replace").strip()[-500:] or f"status {code}"

    def left_behind(self) -> bool:
        """Say whether other processes of it still run, well after it has died; end them."""
        ends = time.monotonic() + SURVIVORS_SECONDS
        while time.monotonic() < ends:
            try:
                os.killpg(self._process.pid, 0)
            except ProcessLookupError:
                return False
            time.sleep(0.02)
        os.killpg(self._process.pid, signal.SIGKILL)
        return True


def main() -> int:
    """Kill, finish, compare; print what was found and how many checks passed."""
    parser = argparse.ArgumentParser(prog="crash-test", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how often to kill (default 200)")
    parser.add_argument("--mb", type=float, default=8, help="megabytes of transcripts (default 8)")
    parser.add_argument("--seed", type=int, default=1, help="decides everything but the exact moments (default 1)")
    parser.add_argument("--vectors", action="store_true", help="kill while vectors are made, and compare these too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="searchkit-crash-") as scratch:
        finished = corpora.make(Path(scratch) / "finished", arguments.mb, arguments.seed)
        root, index, peaceful = (Path(scratch) / name for name in ("root", "index", "peaceful"))
        rng = random.Random(arguments.seed)
        growing = GrowingRoot(finished, root, rng)
        if arguments.vectors:
            # It builds upon this module.
            from measure import crash_vectors

            tally = crash_vectors.kill_often(growing, root, index, rng, arguments.kills)
            growing.finish()
            _print(tally)
            checks = crash_vectors.checks(root, index, peaceful)
        else:
            tally = kill_often(growing, root, index, rng, arguments.kills)
            growing.finish()
            for directory in (index, peaceful):
                run(searchkit("index", "--no-vectors", "--json", "--root", root, "--index", directory))
            _print(tally)
            checks = {**compared(root, index, peaceful), **_found(root, index, Path(scratch))}
        checks["no process failed by itself"] = not tally.failed
        checks["no process outlived the one that was killed"] = not tally.left_behind
    for check, holds in checks.items():
        print(f"{'PASS' if holds else 'FAIL'}: {check}")
    failed = list(checks.values()).count(False)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def kill_often(growing: GrowingRoot, root: Path, index: Path, rng: random.Random, kills: int) -> Tally:
    """Start and kill, while files grow before and during each run; half of the kills are aimed at a phase."""
    tally = Tally()
    expected = FIRST_GUESS_SECONDS
    share = (1 - FIRST_SHARE) / max(kills, 1) / 3
    while tally.kills < kills:
        aim = rng.choice(AIMS) if rng.random() < 0.5 else None
        limits = (*SMALL_LIMITS, *(OTHER_PROCESS,) * (rng.random() < 0.5)) if aim else None
        moment, later = rng.random(), rng.random()
        for _ in range(rng.randint(0, 3)):
            growing.grow(share)
        victim = Victim(root, index, limits)
        is_alive = victim.follow(moment * later * expected)
        growing.grow(share)
        if aim is None:
            is_alive = is_alive and victim.follow(moment * (1 - later) * expected)
        elif aim != "start":
            is_alive = is_alive and victim.follow(10 * expected, until=aim) and victim.follow(moment**3 * PHASE_SECONDS)
        complaint = victim.end(kill=is_alive)
        tally.left_behind += victim.left_behind()
        if complaint:
            tally.failed[complaint] += 1
        elif not is_alive:
            tally.finished += 1
        else:
            tally.kills += 1
            if aim is None:
                tally.moments[int(moment * BINS)] += 1
            else:
                tally.phases[victim.phase] += 1
        if aim is None:
            expected *= LONGER if is_alive else SHORTER
        if sum(tally.failed.values()) > kills:
            break
    return tally


def compared(root: Path, index: Path, peaceful: Path) -> dict[str, bool]:
    """Compare what two indexes hold and answer."""
    # Imported here, because until now only the processes that were killed needed them.
    from measure.differences import differences
    from searchkit.backends.local.backend import LocalBackend
    from tests.reference.fingerprint import digest

    with closing(LocalBackend(index)) as one, closing(LocalBackend(peaceful)) as other:
        digests = [digest(one), digest(other)]
        print(f"digest of the killed index {digests[0]}, of the peaceful one {digests[1]}")
        if digests[0] != digests[1]:
            for difference in differences(one, other):
                print(f"  {difference}")
    counts = [
        run_json(searchkit("status", "--json", "--root", root, "--index", at))["counts"] for at in (index, peaceful)
    ]
    for name in counts[0]:
        if counts[0][name] != counts[1][name]:
            print(f"  {name}: killed {counts[0][name]}, peaceful {counts[1][name]}")
    findings = json.loads(run(searchkit("doctor", "--json", "--index", index), allowed=(0, 2)).output)["findings"]
    sick = [finding for finding in findings if finding["kind"].startswith("index:")]
    for finding in sick:
        print(f"  {finding}")
    planted = json.loads((root / "manifest.json").read_bytes())["planted"]
    lost = [entry["word"] for entry in planted if not _is_found(entry, index)]
    return {
        "the digests are equal": digests[0] == digests[1],
        "the counts are equal": counts[0] == counts[1],
        "doctor finds nothing wrong with the index": not sick,
        f"{len(planted) - len(lost)} of {len(planted)} planted words are found": bool(planted) and not lost,
    }


def _found(root: Path, index: Path, scratch: Path) -> dict[str, bool]:
    # Imported here, because until now only the processes that were killed needed it.
    from measure.found import compared

    return compared(root, index, scratch)


def _is_found(entry: dict[str, str], index: Path) -> bool:
    asked = searchkit("search", entry["word"], "--mode", "keyword", "--json", "--limit", "3", "--index", index)
    found = run_json(asked, allowed=(0, 1))
    return entry["uuid"] in [result["uuid"] for result in found["results"]]


def _print(tally: Tally) -> None:
    print(f"{tally.kills} kills; {tally.finished} runs ended before their kill")
    print(f"at random moments: {sum(tally.moments.values())}, by share of the expected time")
    for number in range(BINS):
        print(f"  {100 * number // BINS:3d} % {'#' * tally.moments[number]}")
    print(f"aimed, by what the index was doing: {sum(tally.phases.values())}")
    for phase, count in tally.phases.most_common():
        print(f"  {phase:12}{'#' * count}")
    for complaint, count in tally.failed.most_common(5):
        print(f"failed by itself {count} times: {complaint}")
