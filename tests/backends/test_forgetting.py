"""What is forgotten is gone from the disk, or the doctor says that it is not and what to do."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from searchkit.backends.local import layout
from searchkit.backends.local.catalog import store
from searchkit.backends.local.catalog.store import SqliteCatalog
from searchkit.backends.local.vectors.store import LanceVectors
from searchkit.backends.local.words.index import Keyword
from searchkit.backends.local.words.store import TantivyWords
from searchkit.errors import IndexMissing
from tests.support.answers import OTHER, SESSION
from tests.support.disk import fill
from tests.support.running import Run
from tests.support.transcript import Home

# Names that the catalog keeps as they are, and a word that the keyword index does.
SECRETS = (b"zanzibar", b"mandrake")


@pytest.fixture
def index(home: Home, run: Run, tmp_path: Path) -> Path:
    """An index of a session to forget and one to keep."""
    forgotten = home.session(SESSION, branch="fix/zanzibar")
    for number in range(50):
        forgotten.prompt(f"the mandrake number {number} screams at night")
    home.session(OTHER).prompt("where is the lantern?")
    run("index")
    run("search", "mandrake")
    return tmp_path / "index"


def remains(index: Path, texts: Sequence[bytes] = ()) -> list[str]:
    """Name the files, and the stores, that hold something of what was to be forgotten."""
    found = []
    for path in (path for path in index.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if any(secret in content.lower() for secret in SECRETS) or any(text in content for text in texts):
            found.append(path.name)
    with suppress(IndexMissing):
        found += ["words"] if Keyword(index / layout.KEYWORD).searcher.doc_freq("text", "mandrake") else []
    return [*found, *(path.name for path in index.glob("*last-search*"))]


def texts_on_disk(index: Path) -> list[bytes]:
    """Return the compressed chunks that hold what is to be forgotten, as they lie in the catalog."""
    with closing(sqlite3.connect(index / layout.CATALOG)) as connection:
        return [row[0] for row in connection.execute("SELECT data FROM chunks")]


def test_nothing_of_it_remains(run: Run, index: Path) -> None:
    """After prune no file of the index holds a name, a path or a word of it; what was set aside neither (issue 15)."""
    aside = index / layout.ASIDE / "20260101-000000-000000"
    aside.mkdir(parents=True)
    (aside / layout.CATALOG).write_bytes(b"an old catalog with a mandrake in it")
    # Searches that were killed while they kept where their results were.
    for name in ("123-456-last-search.json", "123-456-last-search.new"):
        (index / name).write_bytes(b"mandrake")
    texts = texts_on_disk(index)
    assert {"catalog.db", "words", "last-search.json"} <= set(remains(index, texts))

    forgotten = run("prune", "--session", SESSION, "--yes")

    assert 0 == forgotten.status
    assert [] == remains(index, texts)
    assert (0, 1) == (run("search", "lantern").status, run("search", "mandrake").status)
    assert 0 == run("doctor", "--deep").status


STEPS = {
    "catalog": (SqliteCatalog, "wipe"),
    "vectors": (LanceVectors, "wipe"),
    "words": (TantivyWords, "_begin_words_beside"),
    "swap": (TantivyWords, "_put_words_into_place"),
}


@pytest.mark.parametrize("step", STEPS)
def test_interrupted_forgetting_is_told_and_finished(
    run: Run, index: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Killed at any step, the doctor says that something may remain, and the next index finishes it (issue 15)."""

    def die(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*STEPS[step], die)
        killed = run("prune", "--session", SESSION, "--yes")
    told = run("doctor")
    finished = run("index")

    assert 0 != killed.status
    assert (2, True) == (told.status, "forgetting unfinished" in told.out)
    assert 0 == finished.status
    assert [] == remains(index)
    assert 0 == run("doctor", "--deep").status


KILLED = """
import os, signal, sys
from importlib import import_module
from searchkit.engine import Engine


def die(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)


module, kind = sys.argv[1].split(":")
setattr(getattr(import_module(module), kind), sys.argv[2], die)
with Engine(sys.argv[3]) as engine:
    engine.prune([sys.argv[4]])
"""


@pytest.mark.parametrize("step", STEPS)
def test_killed_forgetting_is_told_and_finished(run: Run, index: Path, step: str) -> None:
    """After SIGKILL the write-ahead log still has all that was forgotten; the next index clears it (issue 15)."""
    owner, name = STEPS[step]
    texts = texts_on_disk(index)

    place = f"{owner.__module__}:{owner.__name__}"
    killed = subprocess.run([sys.executable, "-c", KILLED, place, name, str(index), SESSION])
    told = run("doctor")
    finished = run("index")

    assert -signal.SIGKILL == killed.returncode
    assert (2, True) == (told.status, "forgetting unfinished" in told.out)
    assert 0 == finished.status
    assert [] == remains(index, texts)
    assert 0 == run("doctor", "--deep").status


def test_reader_that_keeps_it_on_the_disk_is_told(run: Run, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody reads, the write-ahead log cannot be cleared: prune and the doctor say so (issue 15)."""
    monkeypatch.setattr(store, "BUSY_MILLISECONDS", 100)
    texts = texts_on_disk(index)
    with closing(sqlite3.connect(index / layout.CATALOG, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM parts").fetchall()

        pruned, told = run("prune", "--session", SESSION, "--yes"), run("doctor")

    finished = run("index")

    assert (2, True) == (pruned.status, "searchkit index" in pruned.err)
    assert (2, True) == (told.status, "forgetting unfinished" in told.out)
    assert (0, []) == (finished.status, remains(index, texts))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")
@pytest.mark.parametrize("free", [0, 256, 512, 1024, 2048])
def test_full_disk_leaves_nothing_in_silence(run: Run, index: Path, small_disk: Path, free: int) -> None:
    """With so many kilobytes free, prune is done, or not begun, or the doctor says that it is not done (issue 15)."""
    moved = small_disk / "index"
    shutil.copytree(index, moved)
    moved.chmod(0o700)
    texts = texts_on_disk(moved)
    filler = fill(small_disk, free << 10)
    here = ("--index", str(moved))

    pruned, told = run("prune", "--session", SESSION, "--yes", *here), run("doctor", *here)
    left = remains(moved, texts)
    is_listed = SESSION in run("sessions", "--json", *here).out
    filler.unlink()
    finished = [run("index", *here), run("doctor", "--deep", *here)]

    assert "fault of searchkit" not in pruned.err
    assert (0 == pruned.status) == (not is_listed and [] == left)
    assert is_listed or not left or "forgetting unfinished" in told.out
    assert is_listed or not left or "may still be on the disk" in pruned.err
    assert [0, 0] == [answer.status for answer in finished]
    assert is_listed or [] == remains(moved, texts)
