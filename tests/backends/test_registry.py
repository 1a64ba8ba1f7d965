"""Which backend a URL means."""

from pathlib import Path

import pytest

from searchkit import Engine, config
from searchkit.backends.base import Backend
from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.registry import STORES, find_store, is_local_index, open_backend
from searchkit.errors import IndexMissing, UsageError
from tests.reference import ReferenceBackend
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def directory(home: Home, tmp_path: Path) -> Path:
    """An index in a directory whose name must be quoted in a URL."""
    home.session(SESSION).prompt("find the slow query")
    with Engine(tmp_path / "an index", [home.root]) as engine:
        engine.index()
    return tmp_path / "an index"


def test_path_and_file_url_mean_the_local_backend(directory: Path) -> None:
    """A plain path, as text or not, and a file URL open the same index."""
    opened = [open_backend(url) for url in (directory, str(directory), directory.as_uri())]

    assert [LocalBackend] * 3 == [type(backend) for backend in opened]
    assert [1] * 3 == [backend.catalog.counts().sessions for backend in opened]
    for backend in opened:
        backend.close()


def test_engine_takes_a_file_url(directory: Path) -> None:
    """What --index and SEARCHKIT_INDEX say may be a URL."""
    with Engine(directory.as_uri()) as engine:
        assert 1 == len(engine.search("slow").results)

    assert directory == config.resolve(environment={"SEARCHKIT_INDEX": directory.as_uri()}).index


def test_url_of_no_backend_is_an_error() -> None:
    """A URL that nobody can open is no directory of that name."""
    with pytest.raises(UsageError, match="no backend opens tape://reel/7"):
        find_store("tape://reel/7")
    with pytest.raises(UsageError):
        Engine("tape://reel/7")


def test_store_is_asked_without_opening_it(directory: Path, home: Home, tmp_path: Path) -> None:
    """It tells whether there is an index, what it was made from, and how large it is; nothing is made by that."""
    there, nowhere = find_store(directory), find_store(tmp_path / "nowhere")

    assert (True, False) == (there.exists(), nowhere.exists())
    assert ((home.root,), ()) == (there.roots(), nowhere.roots())
    assert (False, False) == (there.has_vectors(), nowhere.has_vectors())
    assert there.size() > nowhere.size() == 0
    assert there.identity() != nowhere.identity() == ()
    there.check()
    with pytest.raises(IndexMissing):
        nowhere.check()
    assert not (tmp_path / "nowhere").exists()


def test_damaged_manifest_does_not_tell_of_vectors(directory: Path) -> None:
    """Where the manifest cannot be read, only the catalog knows whether there are vectors."""
    (directory / layout.MANIFEST).write_text("{")

    assert find_store(directory).has_vectors() is None


def test_index_of_the_local_backend_is_seen_by_its_catalog(directory: Path, tmp_path: Path) -> None:
    """A resident process is started for a directory with a catalog, and for nothing else."""
    assert is_local_index(str(directory))
    assert not is_local_index(str(tmp_path))
    assert not is_local_index("tape://reel/7")


def test_row_of_the_registry_opens_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend is found by its scheme alone; nothing else knows of it."""
    monkeypatch.setitem(STORES, "memory", f"{__name__}:Shelf")

    backend = open_backend("memory://shelf")

    assert isinstance(backend, ReferenceBackend)


class Shelf:
    """Opens an empty reference backend."""

    def __init__(self, url: str) -> None:
        """Take any URL."""

    def open(self) -> Backend:
        """Open it."""
        return ReferenceBackend()
