"""What is forgotten is gone from the disk, or the doctor says that it is not and what to do."""

from pathlib import Path

import pytest

from searchkit.backends.local import layout
from searchkit.backends.local.catalog.store import SqliteCatalog
from searchkit.backends.local.vectors.store import LanceVectors
from searchkit.backends.local.words.store import TantivyWords
from tests.answers import OTHER, SESSION
from tests.running import Run
from tests.transcript import Home

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


def remains(index: Path) -> list[str]:
    """Name the files that hold something of what was to be forgotten."""
    files = (path for path in index.rglob("*") if path.is_file())
    found = [path.name for path in files if any(secret in path.read_bytes().lower() for secret in SECRETS)]
    return [*found, *(path.name for path in index.glob("last-search.json"))]


def test_nothing_of_it_remains(run: Run, index: Path) -> None:
    """After prune no file of the index holds a name, a path or a word of it; what was set aside neither (issue 15)."""
    aside = index / layout.ASIDE / "20260101-000000-000000"
    aside.mkdir(parents=True)
    (aside / layout.CATALOG).write_bytes(b"an old catalog with a mandrake in it")
    assert remains(index)

    forgotten = run("prune", "--session", SESSION, "--yes")

    assert 0 == forgotten.status
    assert [] == remains(index)
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
