"""Many clients of one resident process: how long they wait, what it holds meanwhile, and whether all answers are right.

The clients ask without pauses unless one is given. What they are answered is compared with what the same commands
print without the process.
"""

import json
import os
import random
import signal
import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from measure import corpora
from measure.child import run, searchkit
from measure.figures import Figure, say
from measure.questions import chosen
from searchkit import Engine, __version__
from searchkit.__main__ import VARIABLES
from searchkit.client import connect, control
from searchkit.server.run_command import run as run_here

SEED = 1
# What 100 clients waited at most (the 95th percentile), to what one waits, before identical requests were joined: a
# third of it is the goal.
LATENCY_RATIO = 23.6 / 3
SINGLE_REQUESTS = 150
UNTIMED_REQUESTS = 30
PERCENTILE = 0.95
# Of what is listed, so many are shown.
SHOWN = 6
# What the process holds is compared with what it held after so long, once every cache is full.
SETTLED_SECONDS = 60.0
IDLE_SECONDS = 10.0
# Memory that is given back late, and a descriptor of whoever looks.
MEMORY_GROWTH, DESCRIPTOR_GROWTH = 1.15, 4
# Whoever gets no answer in this time has got none.
PATIENCE_SECONDS = 120.0
# Between two attempts, and between two starts of the process.
RETRY_SECONDS = 0.1
START_SECONDS = 1.0

Pair = tuple[list[str], Any]


@dataclass
class Asked:
    """What one client saw: how long each answer took, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    repeated: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Held:
    """What the process held at a moment."""

    megabytes: float
    descriptors: int
    threads: int


def load(
    place: Path, clients: int, seconds: float, pause: float, kills: int, mb: float, index: Path | None = None
) -> tuple[list[Figure], list[str]]:
    """Ask alone, then with all clients for so long; return the figures, and what was wrong."""
    if index is None:
        say(f"making a corpus of {mb:g} MB and its index with vectors")
        root, index = corpora.make(place / "root", mb, SEED), place / "index"
        run(searchkit("index", "--json", "--root", root, "--index", index))
    control.stop(index)
    try:
        return _measured(index, clients, seconds, pause, kills)
    finally:
        control.stop(index)


def _measured(index: Path, clients: int, seconds: float, pause: float, kills: int) -> tuple[list[Figure], list[str]]:
    say("choosing questions, and answering them without the process")
    pairs = _pairs(index)
    control.start(index, ())
    rng = random.Random(SEED)
    say(f"one client, {len(pairs)} different requests")
    alone = Asked()
    for pair in rng.choices(pairs, k=UNTIMED_REQUESTS):
        _ask_one(index, pair, Asked())
    for pair in rng.choices(pairs, k=SINGLE_REQUESTS):
        _ask_one(index, pair, alone)
    say(f"{clients} clients for {seconds:.0f} s, each pausing {pause:g} s between two requests")
    many, held = _crowd(index, pairs, clients, seconds, pause, 0)
    busy = _idle_share(index)
    wrong = [*alone.wrong, *many.wrong]
    single, slow = statistics.median(alone.seconds), _percentile(many.seconds)
    late_single = _percentile(alone.seconds)
    note = f"{slow * 1000:.0f} ms to {single * 1000:.0f} ms; p50 {statistics.median(many.seconds) * 1000:.0f} ms"
    figures = [
        Figure(name="one client, p50", value=single * 1000, unit="ms", note=f"p95 {late_single * 1000:.0f} ms"),
        Figure(name="many clients, p95 to that", value=slow / single, goal=LATENCY_RATIO, note=note),
        Figure(name="  answers a second", value=len(many.seconds) / seconds),
        Figure(name="  answers", value=len(many.seconds), note=f"asked again {many.repeated} times"),
        Figure(name="processor share when nobody asks", value=100 * busy, unit="%", goal=2.0),
    ]
    if len(held) > 1:
        first, last = held[0], held[-1]
        note = f"{last.megabytes:.0f} MB to {first.megabytes:.0f} MB; {last.threads} threads to {first.threads}"
        grown, more = last.megabytes / first.megabytes, last.descriptors - first.descriptors
        figures += [
            Figure(name="memory, end to beginning", value=grown, goal=MEMORY_GROWTH, note=note),
            Figure(name="descriptors more at the end", value=more, goal=DESCRIPTOR_GROWTH, note=str(last.descriptors)),
        ]
        if grown > MEMORY_GROWTH or more > DESCRIPTOR_GROWTH:
            wrong.append(f"the process grows: {first} became {last}")
    if kills:
        say(f"the same for a while, and the process is killed {kills} times")
        mourning, _ = _crowd(index, pairs, clients, max(seconds / 10, 3.0 * kills), pause, kills)
        wrong += mourning.wrong
        note = f"asked again {mourning.repeated} times, the longest {max(mourning.seconds):.1f} s"
        figures.append(Figure(name="answers while it was killed", value=len(mourning.seconds), note=note))
    figures.append(Figure(name="wrong or missing answers", value=len(wrong), goal=0))
    return figures, wrong


def _crowd(
    index: Path, pairs: Sequence[Pair], clients: int, seconds: float, pause: float, kills: int
) -> tuple[Asked, list[Held]]:
    """Let all clients ask, kill the process so many times meanwhile, and put together what they saw."""
    told = [Asked() for _ in range(clients)]
    ends_at = time.monotonic() + seconds
    threads = [
        threading.Thread(target=_ask_on, args=(index, pairs, one, pause, ends_at, SEED + number))
        for number, one in enumerate(told)
    ]
    for thread in threads:
        thread.start()
    held = []
    for _ in range(kills):
        time.sleep(seconds / (kills + 1))
        _kill(index)
    if not kills:
        time.sleep(min(SETTLED_SECONDS, seconds / 3))
        while (now := time.monotonic()) < ends_at:
            held.append(_held(index))
            time.sleep(min(10.0, max(0.0, ends_at - now)))
        held.append(_held(index))
    for thread in threads:
        thread.join()
    whole = Asked()
    for one in told:
        whole.seconds += one.seconds
        whole.wrong += one.wrong
        whole.repeated += one.repeated
    return whole, held


def _held(index: Path) -> Held:
    running = control.health(index)
    assert running is not None, "the process is gone"
    process = psutil.Process(running["pid"])
    return Held(process.memory_info().rss / 1e6, process.num_fds(), process.num_threads())


def _idle_share(index: Path) -> float:
    """Return how much of one processor the process takes when nobody asks, once it has settled."""
    running = control.health(index)
    assert running is not None, "the process is gone"
    process = psutil.Process(running["pid"])
    time.sleep(2)
    before = sum(process.cpu_times()[:2])
    time.sleep(IDLE_SECONDS)
    return float((sum(process.cpu_times()[:2]) - before) / IDLE_SECONDS)


def _kill(index: Path) -> None:
    """Kill the process as soon as there is one."""
    while (running := control.health(index)) is None:
        time.sleep(0.1)
    os.kill(running["pid"], signal.SIGKILL)


def _ask_on(index: Path, pairs: Sequence[Pair], told: Asked, pause: float, ends_at: float, seed: int) -> None:
    """Be a client: ask one thing after the other until the time is over."""
    rng = random.Random(seed)
    time.sleep(pause * rng.random())
    while time.monotonic() < ends_at:
        _ask_one(index, rng.choice(pairs), told)
        time.sleep(pause * rng.uniform(0.5, 1.5))


def _ask_one(index: Path, pair: Pair, told: Asked) -> None:
    """Ask, and compare what comes with what is right."""
    command, right = pair
    count = len(told.wrong)
    found = _ask(index, command, told)
    if found != right and len(told.wrong) == count:
        told.wrong.append(f"{' '.join(command)}: another answer than without the process")


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
        return [(command, _value(run_here(engine, _body(index, command)))) for command in commands]


def _percentile(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(PERCENTILE * (len(seconds) - 1))]


def _body(index: Path, command: list[str]) -> bytes:
    """Write the request that `searchkit` would send for a command."""
    asked = {
        "version": __version__,
        "index": str(index),
        "arguments": [*command, "--json", "--index", str(index)],
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "columns": None,
        "is_watching": False,
        "is_told": False,
        "is_ascii": False,
    }
    return json.dumps(asked).encode()


def _ask(index: Path, command: list[str], told: Asked) -> Any:
    """Return what a command prints; None where no answer came at all."""
    request = _body(index, command)
    began = time.perf_counter()
    started = 0.0
    while time.perf_counter() - began < PATIENCE_SECONDS:
        try:
            status, answer = connect.ask(str(index), "POST", "/v1/run", request)
            if status == 200 and "printed" in json.loads(answer):
                told.seconds.append(time.perf_counter() - began)
                return _value(answer)
            if status != 503:
                told.wrong.append(f"{status} {answer[:200]!r}")
                return None
        except connect.NobodyThere:
            if time.perf_counter() - started > START_SECONDS:
                started = time.perf_counter()
                connect.start(str(index))
        except (connect.NoAnswer, ValueError):
            # It was killed while it answered.
            pass
        told.repeated += 1
        time.sleep(RETRY_SECONDS)
    told.wrong.append("no answer")
    return None


def _value(answer: bytes) -> Any:
    """Return what a command printed as JSON, without how long it took."""
    reply = json.loads(answer)
    printed = json.loads("".join(text for channel, text in reply["printed"] if channel != "err"))
    printed.pop("took_ms", None)
    return printed
