"""Whether an index that many processes use at once, some of them killed, is right at every moment and at the end."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from measure.environment import for_children
from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.open import open_to_write
from searchkit.indexing.ingest import ingest
from searchkit.sources.claude import ClaudeSource
from tests.reference.fingerprint import digest
from trials.checker import Checker, Findings

SESSIONS = 8
# Words that stand in every session from the beginning: a search that finds fewer sessions is wrong.
WORD = "lantern"
PAUSE_SECONDS = 0.2
COMMAND_SECONDS = 600
SECONDS_TO_END = 60
# Errors that a user may see are none of these: another process writes, and one did not want to wait.
EXPECTED = ("is being written by",)


class Life:
    """A root that grows, an index of it, and what was seen of both."""

    def __init__(self, place: Path, seed: int) -> None:
        """Write the first sessions."""
        self.root, self.index = place / "claude", place / "index"
        self.project = self.root / "projects" / "-shop"
        self.project.mkdir(parents=True)
        self.draws = random.Random(seed)
        self.environment = {**for_children(has_resident=True), "SEARCHKIT_NO_VECTORS": "1", "PYTHONFAULTHANDLER": "1"}
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.over = threading.Event()
        self._lines: Counter[int] = Counter()
        self._passing = 1000
        for session in range(SESSIONS):
            self.append(session, f"where is the {WORD}?")

    def append(self, session: int, text: str) -> None:
        """Append a line to a session."""
        number = self._lines[session] = self._lines[session] + 1
        message: dict[str, object] = {"role": "user", "content": text}
        if number % 2 == 0:
            message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        line = {
            "type": "user" if number % 2 else "assistant",
            "uuid": f"{session:08x}-0000-4000-8000-{number:012x}",
            "parentUuid": f"{session:08x}-0000-4000-8000-{number - 1:012x}" if number > 1 else None,
            "sessionId": f"{session:08x}-0000-4000-8000-000000000000",
            "timestamp": f"2026-03-{session % 28 + 1:02}T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "cwd": "/home/mira/src/shop",
            "version": "2.1.100",
            "message": message,
        }
        with (self.project / f"{session:08x}-0000-4000-8000-000000000000.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def run(self, *words: str, expect: tuple[int, ...] = (0,)) -> str:
        """Run a command as a user would, and note what he would see go wrong."""
        command = [sys.executable, "-P", "-m", "searchkit.__main__", *words, "--index", str(self.index)]
        if words[0] == "index":
            command += ["--root", str(self.root)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment
        )
        try:
            out, err = process.communicate(timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            self.wrong.append(f"{' '.join(words)} takes more than {COMMAND_SECONDS} s: {_stack(process)}")
            return ""
        self.seen[words[0] + (" --rebuild" if "--rebuild" in words else "")] += 1
        if process.returncode not in expect and not any(known in err for known in EXPECTED):
            self.wrong.append(f"{' '.join(words)}: status {process.returncode}: {err.strip()[-400:]}")
        return out

    def search(self) -> None:
        """Search once, and see whether all sessions that must be found are."""
        printed = self.run("search", WORD, "--json", "--limit", "50", "--mode", "keyword")
        if not printed:
            return
        found = {one["session"] for one in json.loads(printed)["results"]}
        needed = {f"{session:08x}-0000-4000-8000-000000000000" for session in range(SESSIONS)}
        if not needed <= found:
            self.wrong.append(f"a search found {len(found & needed)} of {SESSIONS} sessions")

    def grow(self) -> None:
        """Append some lines to some sessions."""
        for _ in range(self.draws.randrange(1, 20)):
            self.append(self.draws.randrange(SESSIONS), f"the kettle {_word(self.draws)} is on the shelf")
        self.seen["growth"] += 1

    def pass_by(self) -> None:
        """Let a session come, be indexed and go, and forget it."""
        self._passing += 1
        session = self._passing
        self.append(session, "a session that nobody needs")
        self.run("index", "--no-vectors")
        (self.project / f"{session:08x}-0000-4000-8000-000000000000.jsonl").unlink()
        self.run("index", "--no-vectors")
        self.run("prune", "--gone", "--yes", expect=(0, 1))

    def kill(self) -> None:
        """Start a writer and kill it at some moment."""
        options = self.draws.choice([["index"], ["index", "--rebuild"], ["index", "--watch"]])
        command = [sys.executable, "-P", "-m", "searchkit.__main__", *options, "--no-vectors", "--root", str(self.root)]
        process = subprocess.Popen(
            [*command, "--index", str(self.index)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=self.environment,
        )
        time.sleep(self.draws.uniform(0.1, 3))
        number = self.draws.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        os.killpg(process.pid, number)
        try:
            process.communicate(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.wrong.append(f"{' '.join(options)} does not end by {number.name}: {_stack(process)}")
        self.seen["kill"] += 1


def crowd(place: Path, minutes: float, chaos_minutes: float, seed: int) -> tuple[Counter[str], Findings]:
    """Let many processes use one index at once, then some of them be killed; compare with an index built in peace."""
    # A shell that starts this in the background lets it ignore interruptions, and whatever it starts, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    life = Life(place, seed)
    life.run("index", "--no-vectors")
    life.run("serve")
    _campaign(life, minutes, [life.search, life.search, life.grow, lambda: _index(life)])
    watching = _watch(life)
    chaos = [
        life.search,
        life.search,
        life.grow,
        lambda: _index(life),
        life.pass_by,
        lambda: _rebuild(life),
        life.kill,
        lambda: _serve(life),
    ]
    _campaign(life, chaos_minutes, chaos)
    watching.kill()
    watching.wait()
    life.run("serve", "--stop", expect=(0, 1))
    findings = _conclude(life)
    findings.silent += life.wrong
    return life.seen, findings


def _campaign(life: Life, minutes: float, acts: list[Callable[[], None]]) -> None:
    """Let each act repeat in a thread of its own until the time is over."""
    life.over.clear()

    def repeat(act: Callable[[], None]) -> None:
        while not life.over.is_set():
            try:
                act()
            except Exception as error:  # whatever it is, the campaign must show it
                life.wrong.append(f"{type(error).__name__}: {error}")
            time.sleep(PAUSE_SECONDS)

    threads = [threading.Thread(target=repeat, args=(act,)) for act in acts if minutes]
    for thread in threads:
        thread.start()
    life.over.wait(60 * minutes)
    life.over.set()
    for thread in threads:
        thread.join()


def _stack(process: "subprocess.Popen[str]") -> str:
    """End a process that does not end, and return what it was doing."""
    process.send_signal(signal.SIGABRT)
    _, err = process.communicate()
    return err.strip()[-3000:]


def _word(draws: random.Random) -> str:
    return "".join(draws.choice("bdfgklmnprtvz") + draws.choice("aiou") for _ in range(7)) + "x"


def _index(life: Life) -> None:
    life.run("index", "--no-vectors")


def _rebuild(life: Life) -> None:
    life.run("index", "--rebuild", "--no-vectors")
    time.sleep(5)


def _serve(life: Life) -> None:
    """End the resident process now and then; commands start another."""
    time.sleep(20)
    life.run("serve", "--stop", expect=(0, 1))


def _watch(life: Life) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-P", "-m", "searchkit.__main__", "index", "--watch", "--no-vectors"]
    return subprocess.Popen(
        [*command, "--root", str(life.root), "--index", str(life.index)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=life.environment,
    )


def _conclude(life: Life) -> Findings:
    """Hold what is there against the transcripts, SQLite, the doctor, and an index that was built in peace."""
    life.run("index", "--no-vectors")
    life.run("prune", "--gone", "--yes", expect=(0, 1))
    life.run("doctor", "--deep", "--full")
    with closing(sqlite3.connect(life.index / layout.CATALOG)) as connection:
        said = connection.execute("PRAGMA integrity_check").fetchone()[0]
    if said != "ok":
        life.wrong.append(f"integrity_check says {said}")
    peaceful = life.index.with_name("peaceful")
    with open_to_write(peaceful) as backend:
        ingest(ClaudeSource([life.root]), backend)
    with closing(LocalBackend(life.index)) as disturbed, closing(LocalBackend(peaceful)) as undisturbed:
        if digest(disturbed) != digest(undisturbed):
            life.wrong.append("the index differs from one that was built in peace")
        life.seen["parts"] = sum(disturbed.catalog.counts().parts.values())
    aside = list((life.index / layout.ASIDE).glob("*")) if (life.index / layout.ASIDE).exists() else []
    if aside:
        life.wrong.append(f"moved aside: {[path.name for path in aside]}")
    checker = Checker(life.root, life.index, life.environment)
    checker.quick()
    return checker.findings
