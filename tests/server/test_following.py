"""The process keeps its index fresh, by itself and beside others who write."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from searchkit import Engine
from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.open import writing
from searchkit.indexing.ingest import Summary
from searchkit.query.types import Mode
from searchkit.server import indexer_thread
from tests.corpus.build import build
from tests.reference.fingerprint import digest
from tests.server.residence import ENVIRONMENT, SECONDS_FOR_ANYTHING, SESSION, Residence, wait_for
from tests.support.transcript import Home, Transcript

OTHER = "22222222-2222-4222-8222-222222222222"


def append(residence: Residence, text: str) -> None:
    """Append a prompt to a transcript, as another record than all before."""
    path = residence.home.project() / f"{SESSION}.jsonl"
    Transcript(path, SESSION, agent=None, cwd=f"/elsewhere/{text}").prompt(text, uuid=f"{abs(hash(text)):032x}")


def test_appended_line_is_found(residence: Residence) -> None:
    """What is written while the process runs is found without anybody asking for it to be indexed."""
    residence.serve()

    append(residence, "lantern")

    assert wait_for(lambda: residence.found("lantern"))


def test_new_session_is_found(residence: Residence) -> None:
    """A transcript that did not exist when the process started is found, too."""
    residence.serve()

    residence.home.session(OTHER, cwd="/home/mira/src/bakery").prompt("sourdough")

    assert wait_for(lambda: residence.found("sourdough"))


def test_takes_in_what_came_before_it(residence: Residence) -> None:
    """What was written while no process ran is taken in when it starts."""
    append(residence, "lantern")

    residence.serve()

    assert wait_for(lambda: residence.found("lantern"))


def test_unexpected_fault_loses_no_change(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What changed while something nobody thought of went wrong is taken in later, and the log tells of it."""
    monkeypatch.setattr(indexer_thread, "TROUBLE_SECONDS", 0.1)
    index = tmp_path / "index"
    home.session(SESSION).prompt("find the slow query")
    with Engine(index, [home.root]) as engine:
        engine.index()
    home.session(OTHER).prompt("lantern")
    faults = [ZeroDivisionError("nobody thought of this")]

    class Stumbling(Engine):
        def index(self, *arguments: Any, **options: Any) -> Summary:
            if faults:
                raise faults.pop()
            return super().index(*arguments, **options)

    follows = indexer_thread.Following(
        lambda roots: Stumbling(index, roots, "fake"), lambda: (home.root,), lambda: None
    )
    follows.start()

    try:
        wait_for(lambda: found(index, "lantern"))
    finally:
        follows.stop()

    assert "nobody thought of this" in caplog.text


def found(index: Path, words: str) -> bool:
    """Say whether a search finds anything."""
    with Engine(index) as engine:
        return bool(engine.search(words, mode=Mode.KEYWORD).total)


def test_follows_only_what_the_index_is_made_from(residence: Residence, tmp_path: Path) -> None:
    """Roots that are configured where the process was started are not mixed into an index of others."""
    other = Home(tmp_path / "other")
    other.session(OTHER).prompt("sourdough")
    residence.serve(SEARCHKIT_ROOTS=str(other.root))

    append(residence, "lantern")
    wait_for(lambda: residence.found("lantern"))

    assert 0 == residence.found("sourdough")
    assert (residence.home.root,) == layout.remembered_roots(residence.index)


def test_makes_vectors_of_what_came(residence: Residence) -> None:
    """Where the index has vectors, what is new gets one while nobody waits."""
    residence.build(with_vectors=True)
    residence.serve()

    append(residence, "lantern")
    wait_for(lambda: residence.found("lantern"))

    # Asked here and not over there, where somebody who waits goes first.
    with Engine(residence.index, model="fake") as engine:
        assert wait_for(lambda: 2 == engine.status().embedded)
    assert ["lantern"] == [one["snippet"] for one in residence.get("/v1/search?q=lantern&mode=semantic")[1]["results"]]


@pytest.mark.parametrize("reason", ["words only", "told not to", "another model"])
def test_makes_no_vectors_that_nobody_wants(residence: Residence, tmp_path: Path, reason: str) -> None:
    """It makes none where there are none, where it was told not to, or where they are another model's."""
    residence.build(with_vectors=reason != "words only")
    if reason == "another model":
        known = layout.remembered_embedding(residence.index)
        assert known is not None
        another = known | {"name": "0" * 16, "identity": known["identity"] | {"model": "another"}}
        with closing(LocalBackend(residence.index, is_writable=True)) as backend:
            backend.catalog.remember("embedding", another)
    before = layout.remembered_embedding(residence.index)
    residence.serve(**({"SEARCHKIT_NO_VECTORS": "1"} if reason == "told not to" else {}))

    append(residence, "lantern")
    wait_for(lambda: residence.found("lantern"))
    append(residence, "candle")
    wait_for(lambda: residence.found("candle"))

    assert before == layout.remembered_embedding(residence.index)
    assert residence.get("/v1/status")[1]["meaning"]["embedded"] < 2


def test_waits_for_another_writer(residence: Residence) -> None:
    """While another process writes, questions are answered; afterwards what came meanwhile is taken in."""
    residence.serve()
    with writing(residence.index / layout.LOCK, wait=True):
        append(residence, "lantern")
        answers = [residence.found("slow") for _ in range(20)]
        found_meanwhile = residence.found("lantern")

    assert [1] * 20 == answers
    assert 0 == found_meanwhile
    assert wait_for(lambda: residence.found("lantern"))


@pytest.mark.slow
def test_many_writers_at_once(tmp_path: Path) -> None:
    """Two index runs, a rebuild and the process at the same time end in the index that one run alone makes."""
    residence, alone = Residence(tmp_path / "many"), Residence(tmp_path / "alone")
    try:
        build(residence.home.root, 0.5, 1)
        residence.build(with_vectors=True)
        residence.serve()
        residence.home.session(OTHER, cwd="/home/mira/src/bakery").prompt("sourdough")
        program = [sys.executable, "-m", "searchkit.cli.main", "index", "--index", str(residence.index), "--json"]
        environment = {**ENVIRONMENT, "HOME": str(tmp_path)}
        runs = [
            subprocess.Popen(
                [*program, *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for options in ([], ["--rebuild"], [])
        ]
        statuses = []
        while any(run.poll() is None for run in runs):
            statuses.append(residence.get("/v1/search?q=sourdough&mode=hybrid")[0])
        said = [run.communicate(timeout=SECONDS_FOR_ANYTHING) for run in runs]

        assert [0, 0, 0] == [run.returncode for run in runs], said
        assert not any("error" in err for _, err in said)
        assert {200} == set(statuses)
        assert wait_for(lambda: 1 == residence.found("sourdough"))
        with Engine(residence.index, model="fake") as engine:
            assert wait_for(lambda: 0 == engine.status().to_embed)
        alone.home = residence.home
        alone.build()
        with closing(LocalBackend(residence.index)) as many, closing(LocalBackend(alone.index)) as one:
            assert digest(one) == digest(many)
            assert one.words.reach() == many.words.reach()
    finally:
        residence.close()
