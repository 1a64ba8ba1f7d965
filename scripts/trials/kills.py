"""Kill indexing at random moments and in chosen phases, while files grow, are cut, rewritten, renamed and deleted."""

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import psutil
import tantivy

from measure import corpora
from measure.child import run, run_json, searchkit
from measure.environment import for_children
from searchkit.backends.base import Backend
from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.words.index import NUMBERS, TEXT, values
from searchkit.query.types import Condition
from tests.reference.contents import everything
from tests.reference.fingerprint import digest
from trials.checker import FAULTS, Checker, Findings
from trials.roots import FIRST_SHARE, ChangingRoot, GrowingRoot
from trials.traced import REPORTS

# Of the runs that are aimed at a phase, what they are aimed at; later phases are rarer in the others.
AIMS = ("start", "checkpoints", "write", "write", "keep_up", "keep_up", "settle", "settle", "follow", "follow", "close")
SMALL_LIMITS = ("BATCH_BYTES=300000", "BATCH_CHANGES=20", "PIECE_BYTES=100000", "COMMIT_PARTS=200")
OTHER_PROCESS = "ELSEWHERE_BYTES=0"
# Vectors: the stand-in for tests embeds, since what is tried is the keeping of vectors and not their making, and small
# limits let a little corpus go through all that a large one does: many batches, joins, and indexes that are outgrown.
# The stand-in for the default model, and the real second one, which has vectors for less.
VECTORS = ("--model", "fake", "--multilingual")
VECTOR_LIMITS = ("BATCH_PARTS=7", "APART=3", "FLAT_ROWS=300", "SEGMENTS=3", "COMMIT_PARTS=200")
# Only a kill in one of these counts there. Half of the kills are aimed at one, as it begins.
VECTOR_PHASES = ("pending", "twins", "keep", "tidy")
VECTOR_AIMS = ("twins", "keep", "keep", "keep", "tidy")
# The store of vectors alone takes seconds to import.
START_SECONDS = 60.0
# Two vectors of one text, of which one may have been rounded.
NEAR = 0.999
# What a kill is, with how often: of the process, of all its processes, of one that it started.
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TARGETS = ("process", "process", "group", "child")
# A first guess, corrected by what is seen, so that about one run in six ends before its kill.
FIRST_GUESS_SECONDS = 0.6
PHASE_SECONDS = 0.05
SHORTER, LONGER = 0.9, 1.02
SURVIVORS_SECONDS = 5.0
# Whoever is asked to end does so within this.
SECONDS_TO_END = 60.0
KILLS_A_ROUND = 20
SAMPLED_WORDS = 1_000
MOST_SHOWN = 8
SEED = 1
# A process whose child was killed says so and leaves with this.
WENT_WRONG = 2
ENDINGS = {
    0,
    *(-number for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)),
    *(128 + number for number in (signal.SIGTERM, signal.SIGINT)),
}

IsOver = Callable[[], bool]


@dataclass
class Tally:
    """What has happened so far."""

    kills: int = 0
    finished: int = 0
    left_behind: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)

    @property
    def wrong(self) -> list[str]:
        """What no kill excuses."""
        outlived = [f"{self.left_behind} processes outlived the one that was killed"] if self.left_behind else []
        return [*outlived, *(f"failed by itself {count} times: {one}" for one, count in self.failed.items())]


class Victim:
    """A running `searchkit index`, plain or telling its phases."""

    def __init__(
        self, root: Path, index: Path, limits: tuple[str, ...] | None, options: Sequence[str] = ("--no-vectors",)
    ) -> None:
        """Start it in a process group of its own, so that whatever outlives it can be seen."""
        arguments = ["index", *options, "--json", "--root", str(root), "--index", str(index)]
        command = searchkit(*arguments)
        if limits is not None:
            command = [sys.executable, "-m", "trials.traced", *limits, "--", *arguments]
        self._is_traced = limits is not None
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
        self.phase = "start" if self._is_traced else "anywhere"

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

    def kill(self, number: signal.Signals, target: str) -> str:
        """Send a signal to the process, to its group or to one of its children; return what was done."""
        if target == "child":
            children = psutil.Process(self._process.pid).children(recursive=True)
            if children:
                children[0].send_signal(number)
                return f"{number.name} to a child"
        if target == "group":
            os.killpg(self._process.pid, number)
            return f"{number.name} to the group"
        self._process.send_signal(number)
        return f"{number.name} to the process"

    def end(self) -> str:
        """Wait until it has ended; return what it complained of beyond having been ended."""
        try:
            _, said = self._process.communicate(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            os.close(self.reports)
            return "it does not end when it is told to"
        os.close(self.reports)
        words = said.decode(errors="replace").strip()
        is_excused = self._process.returncode in ENDINGS or (self._process.returncode == WENT_WRONG and words)
        # What tells phases imports everything first, and is interrupted as Python programs are.
        is_traced = self._is_traced and self.phase == "start" and words.endswith("KeyboardInterrupt")
        if is_traced or (is_excused and not any(fault in words for fault in FAULTS)):
            return ""
        return words[-500:] or f"status {self._process.returncode}"

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


def changing(place: Path, kills: int, seed: int, is_over: IsOver) -> tuple[Tally, Findings]:
    """Kill while everything happens to the transcripts; after each round, compare them with the index."""
    root, tally, rng = ChangingRoot(place / "root", seed), Tally(), random.Random(seed)
    index = place / "index"
    checker = Checker(root.root, index, for_children())
    expected = FIRST_GUESS_SECONDS
    while tally.kills < kills and not is_over():
        before = tally.kills
        while tally.kills - before < min(KILLS_A_ROUND, kills - before) and not is_over():
            with root.changing():
                expected = _kill_once(root.root, index, rng, tally, expected, lambda: root.change(5))
        checker.index("--no-vectors")
        checker.quick()
        tally.phases.update({f"files: {name}": count for name, count in root.seen.items()})
        root.seen.clear()
    checker.full(root.written)
    checker.well()
    return tally, checker.findings


def growing(place: Path, mb: float, kills: int, seed: int, is_over: IsOver) -> tuple[Tally, dict[str, bool]]:
    """Kill while a corpus grows to its end, then compare with an index that was built in peace."""
    finished = corpora.make(place / "finished", mb, seed)
    root, index, peaceful = (place / name for name in ("root", "index", "peaceful"))
    rng = random.Random(seed)
    corpus = GrowingRoot(finished, root, rng)
    tally = Tally()
    expected = FIRST_GUESS_SECONDS
    share = (1 - FIRST_SHARE) / max(kills, 1) / 3
    while tally.kills < kills and sum(tally.failed.values()) <= kills and not is_over():
        for _ in range(rng.randint(0, 3)):
            corpus.grow(share)
        expected = _kill_once(root, index, rng, tally, expected, lambda: corpus.grow(share))
    corpus.finish()
    for directory in (index, peaceful):
        run(searchkit("index", "--no-vectors", "--json", "--root", root, "--index", directory))
    return tally, {**_compared(root, index, peaceful), **_found_as_rebuilt(root, index, place)}


def embedding(place: Path, mb: float, kills: int, seed: int, is_over: IsOver) -> tuple[Tally, dict[str, bool]]:
    """Kill while vectors are made of a corpus that grows, then compare with an index that was built in peace."""
    finished = corpora.make(place / "finished", mb, seed)
    root, index, peaceful = (place / name for name in ("root", "index", "peaceful"))
    rng = random.Random(seed)
    corpus = GrowingRoot(finished, root, rng)
    tally = Tally()
    expected = FIRST_GUESS_SECONDS
    share = (1 - FIRST_SHARE) / max(kills, 1)
    while tally.kills < kills and sum(tally.failed.values()) <= kills and not is_over():
        aim = rng.choice(VECTOR_AIMS) if rng.random() < 0.5 else None
        moment, later = rng.random(), rng.random()
        corpus.grow(share)
        victim = Victim(root, index, VECTOR_LIMITS, VECTORS)
        is_alive = victim.follow(START_SECONDS, until="pending") and victim.follow(moment * expected)
        if aim is not None:
            is_alive = is_alive and victim.follow(START_SECONDS, until=aim)
            is_alive = is_alive and victim.follow(later**3 * 2 * PHASE_SECONDS)
        is_aimed = is_alive and victim.phase in VECTOR_PHASES
        _conclude(victim, rng, tally, is_alive, is_counted=is_aimed)
        if not is_aimed:
            # Nothing is left to embed, unless more is said.
            corpus.grow(share)
        expected *= LONGER if is_aimed else SHORTER
    corpus.finish()
    for directory in (index, peaceful):
        run(searchkit("index", *VECTORS, "--json", "--root", root, "--index", directory))
    return tally, {**_vectors(index, peaceful), **_compared(root, index, peaceful)}


def _kill_once(
    root: Path, index: Path, rng: random.Random, tally: Tally, expected: float, change: Callable[[], None]
) -> float:
    """Start and kill, half of the time in a phase; return how long a run is expected to take now."""
    aim = rng.choice(AIMS) if rng.random() < 0.5 else None
    limits = (*SMALL_LIMITS, *(OTHER_PROCESS,) * (rng.random() < 0.5)) if aim else None
    moment, later = rng.random(), rng.random()
    victim = Victim(root, index, limits)
    is_alive = victim.follow(moment * later * expected)
    change()
    if aim is None:
        is_alive = is_alive and victim.follow(moment * (1 - later) * expected)
    elif aim != "start":
        is_alive = is_alive and victim.follow(10 * expected, until=aim) and victim.follow(moment**3 * PHASE_SECONDS)
    _conclude(victim, rng, tally, is_alive, is_counted=is_alive)
    if aim is None:
        expected *= LONGER if is_alive else SHORTER
    return expected


def _conclude(victim: Victim, rng: random.Random, tally: Tally, is_alive: bool, is_counted: bool) -> None:
    if is_alive:
        try:
            way = victim.kill(rng.choice(SIGNALS), rng.choice(TARGETS))
        except (ProcessLookupError, psutil.NoSuchProcess):
            is_counted = False
    complaint = victim.end()
    tally.left_behind += victim.left_behind()
    if complaint:
        tally.failed[complaint] += 1
    elif is_counted:
        tally.kills += 1
        tally.ways[way] += 1
        tally.phases[victim.phase] += 1
    else:
        tally.finished += 1


def _compared(root: Path, index: Path, peaceful: Path) -> dict[str, bool]:
    """Compare what two indexes hold and answer."""
    with closing(LocalBackend(index)) as one, closing(LocalBackend(peaceful)) as other:
        digests = [digest(one), digest(other)]
        if digests[0] != digests[1]:
            for line in _differences(one, other):
                print(f"  {line}")
    counts = [
        run_json(searchkit("status", "--json", "--root", root, "--index", at))["counts"] for at in (index, peaceful)
    ]
    findings = run_json(searchkit("doctor", "--json", "--index", index), allowed=(0, 2))["findings"]
    sick = [finding for finding in findings if finding["kind"].startswith("index:")]
    for finding in sick:
        print(f"  {finding}")
    planted = json.loads((root / "manifest.json").read_bytes())["planted"]
    checker = Checker(root, index, for_children())
    checker.find({one["uuid"]: one["word"] for one in planted})
    for wrong in checker.findings.lost[:MOST_SHOWN]:
        print(f"  {wrong}")
    return {
        "the digests are equal": digests[0] == digests[1],
        "the counts are equal": counts[0] == counts[1],
        "doctor finds nothing wrong with the index": not sick,
        f"{len(planted)} planted words are found": bool(planted) and not checker.findings.lost,
    }


def _differences(one: Backend, other: Backend) -> Iterator[str]:
    """Yield in what two backends differ, without the texts: the first few, then how many there are."""
    mine, theirs = _fields(one), _fields(other)
    differing = sorted(key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key))
    for key in differing[:MOST_SHOWN]:
        yield f"{key}: killed {mine.get(key)}, peaceful {theirs.get(key)}"
    yield f"{len(differing)} of {len(theirs)} fields differ"


def _fields(backend: Backend) -> dict[str, str]:
    fields = {}
    for holding in everything(backend):
        link = holding.link
        fields[f"{link.uuid} link"] = str(msgspec.structs.replace(link, places=tuple(sorted(link.places, key=str))))
        for stored in holding.parts:
            part = stored.part
            shown = f"{part.kind} {part.role} {part.tool} {part.call} {part.digest} repeats {stored.repeats}"
            fields[f"{link.uuid} part {stored.id}"] = shown
    for session in backend.catalog.sessions(Condition()):
        fields[f"session {session.id}"] = f"{session} {sorted(map(str, backend.catalog.facts(session.id)))}"
    return fields


def _found_as_rebuilt(root: Path, index: Path, scratch: Path) -> dict[str, bool]:
    """Rebuild the keyword index of a copy, and compare which parts both hold, as what, and by which words."""
    rebuilt = scratch / "rebuilt"
    shutil.copytree(index, rebuilt)
    shutil.rmtree(rebuilt / layout.KEYWORD)
    run(searchkit("index", "--no-vectors", "--json", "--root", root, "--index", rebuilt))
    with closing(LocalBackend(index)) as one, closing(LocalBackend(rebuilt)) as other:
        searchers = [backend.words._open_keyword().searcher for backend in (one, other)]
        held = [_held(searcher) for searcher in searchers]
        words = [word for word, _ in searchers[1].terms_with_prefix(TEXT, "", None)]
        sample = random.Random(SEED).sample(sorted(words), min(SAMPLED_WORDS, len(words)))
        schema = one.words._open_keyword().schema
        differing = [word for word in sample if len({_parts(each, schema, word) for each in searchers}) > 1]
        expected = sum(stored.repeats is None for holding in everything(one) for stored in holding.parts)
        pending, searchable = one.words.reach().pending, one.words.reach().searchable
    for word in differing[:5]:
        print(f"  other parts are found by {word!r} than in a rebuilt index")
    return {
        "no part is pending": not pending,
        "every part that repeats no other is searchable, once": searchable == expected == len(held[0]),
        "the keyword index holds what a rebuilt one holds": held[0] == held[1],
        f"{len(sample) - len(differing)} of {len(sample)} words find what they find in a rebuilt one": not differing,
    }


def _held(searcher: tantivy.Searcher) -> dict[int, tuple[int, ...]]:
    """Return what each part is filtered by, by its number."""
    found = searcher.search(tantivy.Query.all_query(), limit=max(1, searcher.num_docs), count=False).hits
    addresses = [address for _, address in found]
    columns = [values(searcher, name, addresses) for name in NUMBERS]
    return {row[0]: row for row in zip(*columns, strict=True)}


def _parts(searcher: tantivy.Searcher, schema: tantivy.Schema, word: str) -> tuple[int, ...]:
    query = tantivy.Query.term_query(schema, TEXT, word)
    found = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    return tuple(sorted(values(searcher, "part", [address for _, address in found])))


def _vectors(index: Path, peaceful: Path) -> dict[str, bool]:
    """Compare which parts have vectors in two indexes, and which."""
    # Imported here, because until now only the processes that were killed needed them.
    import numpy as np

    from searchkit.backends.duplicates import Space
    from searchkit.backends.local.vectors.rows import DESCRIBED, descriptions, digests, kept
    from searchkit.backends.local.vectors.table import NUMBERS, Vectors, tables

    found: dict[Path, dict[tuple[str, str], list[Any]]] = {index: {}, peaceful: {}}
    held: dict[str, bool] = {}
    for directory, space in product((index, peaceful), Space):
        with closing(LocalBackend(directory)) as backend:
            is_second = space is Space.MULTILINGUAL
            all_names = tables(directory / layout.VECTORS)
            names = [name for name in all_names if name.startswith(Space.MULTILINGUAL) == is_second]
            wanted = digests(backend.catalog.connection, space)
            if is_second and not wanted and not names:
                continue
            rows = Vectors(directory / layout.VECTORS, names[0])._select(None, [*NUMBERS, "feature", "vector"])
            counted = Counter(zip(rows["part"].to_pylist(), rows["piece"].to_pylist(), strict=True))
            said = set(zip(*(rows[name].to_pylist() for name in DESCRIBED), strict=True))
            if directory == index:
                held |= {
                    f"{space}: every part that should have a vector has one": set(wanted)
                    <= {part for part, _ in counted},
                    f"{space}: none has two": set(counted.values()) <= {1},
                    f"{space}: none is left over": {part for part, _ in counted} <= set(wanted) and len(names) == 1,
                    f"{space}: each row says of its part what the catalog says": said
                    == set(map(tuple, descriptions(backend.catalog.connection, wanted).values())),
                }
            keys = sorted(wanted)
            ids = {key: stored.id for key, stored in zip(keys, backend.catalog.stored(keys), strict=True) if stored}
            found[directory] |= {(space, ids[key]): pieces for key, pieces in kept(rows).items() if key in ids}
    one, other = found.values()
    cosines = [float(np.dot(one[id][0].values, other[id][0].values)) for id in one.keys() & other.keys()]
    held["they are those of the peaceful index"] = one.keys() == other.keys() and all(
        cosine > NEAR or not one[id][0].values.any()
        for id, cosine in zip(one.keys() & other.keys(), cosines, strict=True)
    )
    return held
