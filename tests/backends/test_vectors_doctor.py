"""What the doctor says of vectors, and that the command it names mends it."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from searchkit.backends.base import Vector
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.layout import VECTORS
from searchkit.backends.local.vectors.rows import descriptions, rows
from tests.contract.meant import WORDS, embed, meaning
from tests.contract.small import record, told, transcript


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index of ten parts with their vectors."""
    with closing(LocalBackend(tmp_path / "index", is_writable=True)) as backend:
        told(backend, transcript("a", *(record(number, number, f"word{number} and") for number in range(1, 11))))
        backend.follow()
        embed(backend)
    return tmp_path / "index"


def said(index: Path) -> dict[str, str]:
    """Return what is wrong with the index, by its kind."""
    with closing(LocalBackend(index)) as backend:
        return {one.kind: one.detail for one in backend.findings() if one.kind.startswith("index:")}


def lose(backend: LocalBackend) -> None:
    """Take the vectors of two parts out."""
    backend.vectors._vectors().remove([3, 4])


def change(backend: LocalBackend) -> None:
    """Let a part say something else, behind the back of all that follows the catalog."""
    with backend.catalog.transaction():
        backend.catalog.connection.execute(
            "UPDATE parts SET (digest, chunk, start, length) ="
            " (SELECT digest, chunk, start, length FROM parts WHERE id = 8) WHERE id = 7"
        )


def double(backend: LocalBackend) -> None:
    """Add a row that is there."""
    described = descriptions(backend.catalog.connection, [5])
    backend.vectors._vectors().add(rows([Vector(key=5, values=meaning("word5 and"))], described))


def damage(backend: LocalBackend) -> None:
    """Cut the files of the rows in half."""
    for path in (backend.vectors._directory / VECTORS).rglob("data/*.lance"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


CASES: dict[Callable[[LocalBackend], None], dict[str, str]] = {
    lose: {"index: vectors missing": "2 parts"},
    change: {"index: vectors missing": "1 parts", "index: vectors left over": "1 parts"},
    double: {"index: vectors twice": "1 vectors"},
    damage: {"index: no search by meaning": "damaged", "index: vectors damaged": "not as it was written"},
}


def test_sound_vectors_are_not_mentioned(index: Path) -> None:
    """There is nothing to say of vectors that are as they should be."""
    assert {} == said(index)


@pytest.mark.parametrize("harm", CASES, ids=lambda harm: harm.__name__)
def test_wrong_vectors_are_told_and_mended(index: Path, harm: Callable[[LocalBackend], None]) -> None:
    """What is missing, left over, twice or damaged is told with the command that mends it, and it does."""
    with closing(LocalBackend(index, is_writable=True)) as backend:
        backend.vectors.adopt(WORDS)
        harm(backend)

    found = said(index)
    with closing(LocalBackend(index, is_writable=True)) as backend:
        embed(backend)

    assert CASES[harm].keys() == found.keys()
    assert all(words in found[kind] and "searchkit index" in found[kind] for kind, words in CASES[harm].items())
    assert {} == said(index)


def test_multilingual_vectors_that_are_missing_are_told_and_mended(tmp_path: Path) -> None:
    """The vectors of the second model are held against the catalog, too."""
    with closing(LocalBackend(tmp_path / "index", is_writable=True)) as backend:
        told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "为什么页面加载这么慢")))
        backend.follow()
        embed(backend)
        embed_multilingual(backend)
        backend.multilingual._vectors().remove([2])

    found = said(tmp_path / "index")
    with closing(LocalBackend(tmp_path / "index", is_writable=True)) as backend:
        embed_multilingual(backend)

    assert ["index: vectors missing"] == list(found)
    assert "1 parts have no vector yet: run searchkit index" == found["index: vectors missing"]
    assert {} == said(tmp_path / "index")


def embed_multilingual(backend: LocalBackend) -> None:
    """Make the vectors of the second model that are missing."""
    backend.multilingual.adopt(WORDS)
    missing = backend.multilingual.pending(9)
    backend.multilingual.keep([Vector(key=key, values=meaning(one.part.text)) for key, one in missing.items()])
    backend.multilingual.tidy()
