"""An index is set aside and rebuilt, or made from other roots, while a process has it open."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.local import layout
from searchkit.server.indexer_thread import Engines, Following, Held
from tests.server.residence import SESSION, Residence, wait_for
from tests.support.transcript import Home

EARLIER = "00000000-0000-4000-8000-000000000000"


def make_anew(residence: Residence) -> None:
    """Make an index of another format again, by somebody else than the process."""
    manifest = residence.index / layout.MANIFEST
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": layout.FORMAT - 1}))
    with Engine(residence.index, [residence.home.root], "fake") as engine:
        engine.index(is_rebuild=True, with_vectors=True)


@pytest.fixture
def watchers() -> Callable[[], int]:
    """Give a function that counts the threads that watch roots, without those that other tests left to themselves."""

    def watching() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "searchkit-watcher"}

    others = watching()
    return lambda: len(watching() - others)


@contextmanager
def following(index: Path, roots: list[Path]) -> Iterator[None]:
    """Follow whatever roots are in the list."""
    engines = Engines(index)
    follows = Following(engines.engine, lambda: tuple(roots), lambda: None)
    follows.start()
    try:
        yield
    finally:
        follows.stop()
        engines.close()


def found(index: Path, words: str) -> bool:
    """Say whether a search finds anything."""
    with Engine(index, model="fake") as engine:
        return bool(engine.search(words).total)


def test_open_page_shows_its_own_conversation(residence: Residence) -> None:
    """Whoever leafs on after the index was rebuilt reads the same conversation, not texts of others."""
    residence.serve()
    _, before = residence.get(f"/v1/readings/{SESSION}")
    residence.home.session(EARLIER, cwd="/a").prompt("sourdough")

    make_anew(residence)
    _, after = residence.get(f"/v1/readings/{SESSION}?as_of={before['as_of']}")

    assert ["find the slow query"] == [row["text"] for row in after["rows"] if "text" in row]


def test_vectors_go_on_in_the_new_index(residence: Residence) -> None:
    """What comes after the index was rebuilt gets a vector from an engine that had the old one open."""
    residence.build(with_vectors=True)
    with closing(Engine(residence.index, [residence.home.root], "fake")) as engine:
        held = Held(engine)
        held.renewed().embed(lambda: False)

        make_anew(residence)
        residence.home.session(EARLIER, cwd="/a").prompt("sourdough")
        held.renewed().index()
        held.renewed().embed(lambda: False)

        assert 2 == held.renewed().status().embedded


def test_watcher_of_other_roots_ends(tmp_path: Path, watchers: Callable[[], int]) -> None:
    """Roots that are not followed any more are watched until something changes there, and then no longer."""
    home, other = Home(tmp_path / "home"), Home(tmp_path / "other")
    told, told_there = home.session(SESSION), other.session(EARLIER)
    told.prompt("lantern")
    told_there.prompt("sourdough")
    index, roots = tmp_path / "index", [home.root]

    with following(index, roots):
        wait_for(lambda: layout.remembered_roots(index) and found(index, "lantern"))
        roots[:] = [other.root]
        told.prompt("candle")
        wait_for(lambda: found(index, "sourdough"))
        told.prompt("torch")

        assert wait_for(lambda: 1 == watchers())

    told_there.prompt("rye")
    assert wait_for(lambda: 0 == watchers())


def test_roots_are_kept_while_the_manifest_is_missing(tmp_path: Path, watchers: Callable[[], int]) -> None:
    """Where the index says nothing of roots for a moment, the same watcher goes on, and nothing is written."""
    home = Home(tmp_path / "home")
    told = home.session(SESSION)
    told.prompt("lantern")
    index, roots = tmp_path / "index", [home.root]

    with following(index, roots):
        wait_for(lambda: layout.remembered_roots(index) and found(index, "lantern"))
        roots.clear()
        told.prompt("candle")
        threading.Event().wait(1)
        found_meanwhile = found(index, "candle")
        roots.append(home.root)
        wait_for(lambda: found(index, "candle"))

        assert not found_meanwhile
        assert 1 == watchers()

    told.prompt("torch")
    assert wait_for(lambda: 0 == watchers())
