"""Many clients at once: how long they wait, and whether all get the right answer while the process is killed."""

import argparse
import os
import random
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure import corpora
from measure.asking import Asked, ask, body, value
from measure.child import run, searchkit
from measure.environment import DATA
from measure.figures import Figure, say, table
from measure.questions import chosen
from searchkit import Engine
from searchkit.client import control
from searchkit.server.run_command import run as run_here

SEED = 1
# The goal of issue 6, show 4.
LATENCY_RATIO = 10.0
# Agents read what they were given, and think, before they ask on; people take longer.
PAUSE_SECONDS = 8.0
SINGLE_REQUESTS = 150
UNTIMED_REQUESTS = 30
PERCENTILE = 0.95
# Of what is listed, so many are shown.
SHOWN = 6

Pair = tuple[list[str], Any]


def main() -> int:
    """Measure, print the table, and say whether every answer was right."""
    arguments = _arguments()
    # Nothing that this user configured counts.
    for name in [name for name in os.environ if name.startswith(("SEARCHKIT_", "CLAUDE_"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="searchkit-load-") as scratch:
        os.environ[DATA] = str(Path(scratch) / "data")
        index = arguments.index.resolve() if arguments.index else _built(Path(scratch), arguments.mb)
        control.stop(index)
        try:
            figures, wrong = _measured(index, arguments)
        finally:
            control.stop(index)
    for line in (*table(figures), *(f"wrong: {one}" for one in wrong[:10])):
        print(line)
    return 1 if wrong else 0


def _measured(index: Path, arguments: argparse.Namespace) -> tuple[list[Figure], list[str]]:
    say("choosing questions, and answering them without the process")
    pairs = _pairs(index)
    control.start(index, ())
    rng = random.Random(SEED)
    say(f"one client, {len(pairs)} different requests")
    alone = Asked()
    _ask_all(index, rng.choices(pairs, k=UNTIMED_REQUESTS), Asked(), 0, rng.random())
    _ask_all(index, rng.choices(pairs, k=SINGLE_REQUESTS), alone, 0, rng.random())
    say(f"{arguments.clients} clients, each pausing {arguments.pause:g} s between two requests")
    many = _crowd(index, pairs, rng, arguments, 0)
    say(f"the same, while the process is killed {arguments.kills} times")
    mourning = _crowd(index, pairs, rng, arguments, arguments.kills)
    wrong = [line for one in (alone, many, mourning) for line in one.wrong]
    single, slow = statistics.median(alone.seconds), _percentile(many.seconds)
    note = f"{slow * 1000:.0f} ms to {single * 1000:.0f} ms; p50 {statistics.median(many.seconds) * 1000:.0f} ms"
    return [
        Figure(name="one client, p50", value=single * 1000, unit="ms"),
        Figure(name="many clients, p95 to that", value=slow / single, goal=LATENCY_RATIO, note=note),
        Figure(name="  answers", value=len(many.seconds), note=f"asked again {many.repeated} times"),
        Figure(
            name="  answers while it was killed",
            value=len(mourning.seconds),
            note=f"asked again {mourning.repeated} times, the longest {max(mourning.seconds):.1f} s",
        ),
        Figure(name="wrong or missing answers", value=len(wrong), goal=0),
    ], wrong


def _crowd(index: Path, pairs: Sequence[Pair], rng: random.Random, arguments: argparse.Namespace, kills: int) -> Asked:
    """Let all clients ask, kill the process so many times meanwhile, and put together what they saw."""
    each = arguments.requests // arguments.clients
    told = [Asked() for _ in range(arguments.clients)]
    threads = [
        threading.Thread(target=_ask_all, args=(index, rng.choices(pairs, k=each), one, arguments.pause, rng.random()))
        for one in told
    ]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(max(1.0, each * arguments.pause / (kills + 1)))
        _kill(index)
    for thread in threads:
        thread.join()
    whole = Asked()
    for one in told:
        whole.seconds += one.seconds
        whole.wrong += one.wrong
        whole.repeated += one.repeated
    return whole


def _kill(index: Path) -> None:
    """Kill the process as soon as there is one."""
    while (running := control.health(index)) is None:
        time.sleep(0.1)
    os.kill(running["pid"], signal.SIGKILL)


def _ask_all(index: Path, pairs: Sequence[Pair], told: Asked, pause: float, phase: float) -> None:
    """Be a client: ask one thing after the other, and compare what comes with what is right."""
    rng = random.Random(phase)
    time.sleep(pause * phase)
    for command, right in pairs:
        count = len(told.wrong)
        found = ask(index, command, told)
        if found != right and len(told.wrong) == count:
            told.wrong.append(f"{' '.join(command)}: another answer than without the process")
        time.sleep(pause * rng.uniform(0.5, 1.5))


def _pairs(index: Path) -> list[Pair]:
    """Choose commands of every kind, and pair each with what it prints when it runs by itself."""
    with Engine(index) as engine:
        questions = chosen(engine)
        sessions = [session.id for session in engine.sessions(limit=SHOWN)]
        hits = [result.best.stored.part.uuid for result in engine.search(questions[0].words, SHOWN).results]
        commands = [
            *(["search", one.words, *(part for name, value in one.filters for part in (f"--{name}", value))]
              for one in questions),
            *(["search", one.words, "--mode", "keyword", "--facets", "kind,project"] for one in questions[::3]),
            *(["show", session] for session in sessions),
            *(["show", uuid] for uuid in hits),
            *(["sessions", f"project:{project}"] for project in engine.values("project")[:SHOWN]),
            *(["context", one.words, "--max-tokens", "1500"] for one in questions[::6]),
            ["stats", "--by", "tool"],
        ]  # fmt: skip
        return [(command, value(run_here(engine, body(index, command)))) for command in commands]


def _percentile(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(PERCENTILE * (len(seconds) - 1))]


def _built(scratch: Path, mb: float) -> Path:
    say(f"making a corpus of {mb:g} MB and its index with vectors")
    root = corpora.make(scratch / "root", mb, SEED)
    run(searchkit("index", "--json", "--root", root, "--index", scratch / "index"))
    return scratch / "index"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="load-test", description=__doc__)
    parser.add_argument("--clients", type=int, default=50, help="how many ask at once (default 50)")
    parser.add_argument("--requests", type=int, default=2000, help="of all of them together (default 2000)")
    parser.add_argument("--kills", type=int, default=20, help="how often the process is killed (default 20)")
    parser.add_argument("--pause", type=float, default=PAUSE_SECONDS, help="seconds between two requests of a client")
    parser.add_argument("--mb", type=float, default=20, help="megabytes of made-up transcripts (default 20)")
    parser.add_argument("--index", type=Path, metavar="DIR", help="ask this index instead")
    return parser.parse_args()
