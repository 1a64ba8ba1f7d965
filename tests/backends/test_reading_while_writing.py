"""Searching goes on while the index is written: no error, no wait, nothing older than the last commit."""

import multiprocessing
import os
import time
import traceback
from multiprocessing.queues import Queue
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

import pytest

from searchkit import Engine
from searchkit.backends.local.words import store
from searchkit.indexing import worker
from searchkit.indexing.ingest import Progress
from tests.corpus.build import build
from tests.support.answers import SESSION
from tests.support.transcript import Home

ADDED = 30
# Between two searches of a reader, so that eight of them leave the writer some of two cores.
PAUSE_SECONDS = 0.01
SECONDS_FOR_ANYTHING = 120


class Seen(NamedTuple):
    """What a reader saw: how many matches each search had, how often fewer than were committed, and what went wrong."""

    totals: list[int]
    older: int
    errors: list[str]


def read_on(index: Path, committed: "Synchronized[int]", ready: Event, done: Event, told: "Queue[Seen]") -> None:
    """Search again and again until told to stop, by turns with an engine kept open and with a new one."""
    totals: list[int] = []
    older, errors = 0, []
    with Engine(index) as kept:
        is_last = False
        while not is_last:
            is_last = done.is_set()
            least = committed.value
            try:
                if len(totals) % 3 == 2:
                    with Engine(index) as opened:
                        answer = opened.search("lantern", 5)
                else:
                    answer = kept.search("lantern", 5, facets=("kind",))
                assert all("lantern" in result.best.stored.part.text for result in answer.results)
                totals.append(answer.total)
                older += answer.total < least
            except Exception:  # whatever it is, the test must show it
                errors.append(traceback.format_exc())
            ready.set()
            time.sleep(PAUSE_SECONDS)
    told.put(Seen(totals, older, errors))


@pytest.mark.parametrize(("count", "rounds"), [(2, 4), pytest.param(8, 20, marks=pytest.mark.slow)])
def test_readers_beside_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, rounds: int) -> None:
    """While a corpus grows and is indexed, all readers get answers that never fall behind a commit."""
    monkeypatch.setattr(store, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(store, "COMMIT_SHARE", 0.0)
    build(tmp_path / "claude", 0.3, 1)
    home = Home(tmp_path / "claude")
    transcript = home.session(SESSION)
    transcript.prompt("a first lantern")
    engine = Engine(tmp_path / "index", [home.root])
    engine.index()
    spawning = multiprocessing.get_context("spawn")
    committed, done = spawning.Value("i", 1), spawning.Event()
    told: Queue[Seen] = spawning.Queue()
    ready = [spawning.Event() for _ in range(count)]
    readers = [
        spawning.Process(target=read_on, args=(tmp_path / "index", committed, event, done, told), daemon=True)
        for event in ready
    ]

    for process in readers:
        process.start()
    assert all(event.wait(SECONDS_FOR_ANYTHING) for event in ready)
    for _ in range(rounds):
        for number in range(ADDED):
            transcript.prompt(f"lantern {number} " + "filler " * 50)
        engine.index()
        committed.value += ADDED
    done.set()
    seen = [told.get(timeout=SECONDS_FOR_ANYTHING) for _ in readers]
    for process in readers:
        process.join(SECONDS_FOR_ANYTHING)

    assert [] == [error for one in seen for error in one.errors]
    assert [0] * count == [one.older for one in seen]
    assert all(one.totals == sorted(one.totals) for one in seen)
    assert {1 + rounds * ADDED} == {one.totals[-1] for one in seen}
    # They searched meanwhile, and not only before and after.
    assert sum(len(set(one.totals)) for one in seen) > 2 * count


def test_first_run_answers_before_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search during a first run finds what was read by then, which are the newest sessions."""
    monkeypatch.setattr(store, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(store, "COMMIT_SHARE", 0.0)
    monkeypatch.setattr(worker, "BATCH_CHANGES", 4)
    home = Home(tmp_path / "claude")
    sessions = [f"{number:08}-0000-4000-8000-000000000000" for number in range(24)]
    for age, session in enumerate(sessions):
        transcript = home.session(session)
        transcript.prompt(f"a lantern of session {session}")
        os.utime(transcript.path, (2_000_000_000 - 1_000 * age,) * 2)
    engine = Engine(tmp_path / "index", [home.root])
    answers: list[set[str | None]] = []
    pending: list[int] = []

    def ask(progress: Progress) -> None:
        if progress.phase == "reading" and progress.left:
            with Engine(tmp_path / "index") as meanwhile:
                found = meanwhile.search("lantern", 50)
            answers.append({result.best.stored.link.places[0].session for result in found.results})
            pending.append(found.pending)

    engine.index(ask)

    assert len(answers) >= 3
    assert all(found == set(sessions[: len(found)]) for found in answers)
    assert sorted(map(len, answers)) == list(map(len, answers))
    assert 0 < len(answers[0]) < len(sessions)
    assert 24 == len(engine.search("lantern", 50).results)
    engine.close()


def test_open_reader_survives_a_rebuild(tmp_path: Path) -> None:
    """While the index is rebuilt an open engine finds as before, or says that all is still to be indexed."""
    home = Home(tmp_path / "claude")
    home.session(SESSION).prompt("a lantern")
    with Engine(tmp_path / "index", [home.root]) as kept, Engine(tmp_path / "index", [home.root]) as writer:
        writer.index()
        answers = [kept.search("lantern")]

        writer.index(lambda progress: answers.append(kept.search("lantern")), is_rebuild=True)
        answers.append(kept.search("lantern"))

    assert all(answer.total or answer.pending for answer in answers)
    assert (1, 0, 1, 0) == (answers[0].total, answers[0].pending, answers[-1].total, answers[-1].pending)
