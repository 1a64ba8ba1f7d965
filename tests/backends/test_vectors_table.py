"""Vectors on the disk: who may read them, what a crash leaves, how they are kept small and found fast."""

import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from numpy.typing import NDArray

from searchkit.backends.base import Vector
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.catalog.store import SqliteCatalog
from searchkit.backends.local.layout import VECTORS
from searchkit.backends.local.vectors import table as upkeep
from searchkit.backends.local.vectors import table as vector
from searchkit.backends.local.vectors.rows import Description, rows
from searchkit.backends.local.vectors.table import Vectors
from searchkit.errors import IndexDamaged, IndexModel
from tests.contract.meant import OTHERS, WORDS, condition, embed, lacking, meaning, near
from tests.contract.small import B, record, told, transcript, uuid
from tests.contract.test_sessions import wants

MANY = 600


class Killed(BaseException):
    """What stands for the end of the process."""


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index of 40 parts without vectors."""
    with closing(LocalBackend(tmp_path / "index", is_writable=True)) as backend:
        told(backend, transcript("a", *(record(number, number, f"word{number} and") for number in range(1, 41))))
        backend.follow()
    return tmp_path / "index"


def held(index: Path) -> list[tuple[int, int]]:
    """Return part and piece of every row of every table."""
    names = vector.tables(index / VECTORS)
    tables = [Vectors(index / VECTORS, name)._select(None, ["part", "piece"]) for name in names]
    return sorted((row["part"], row["piece"]) for table in tables for row in table.to_pylist())


def opened(vectors: Vectors) -> Any:
    """Return the table of Lance's, which must be there."""
    assert vectors._table is not None
    return vectors._table


def files(index: Path) -> Iterator[Path]:
    """Yield everything below the vectors, and their directory."""
    yield index / VECTORS
    yield from (index / VECTORS).rglob("*")


def test_only_the_owner_may_read(index: Path) -> None:
    """Directories have mode 0700 and files 0600, whatever Lance makes."""
    with closing(LocalBackend(index, is_writable=True)) as backend:
        embed(backend, at_once=10)

    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in files(index)}

    assert {(True, 0o700), (False, 0o600)} == modes


# What happens on the way, and the times that it happens at.
MOMENTS = [
    *(("add", time) for time in (1, 2, 4)),
    ("replace", 1),
    *(("remove", time) for time in (1, 2, 3)),
    *(("tidy", time) for time in (1, 2, 5)),
    *(("optimize", time) for time in (1, 2, 3)),
    *(("remember", time) for time in (1, 2)),
    ("drop", 1),
]


@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("step", "time"), MOMENTS)
def test_killed_between_steps(
    index: Path, monkeypatch: pytest.MonkeyPatch, step: str, time: int, is_done: bool
) -> None:
    """Whenever a writer dies, the next one ends with one row for every part that should have one, and no other."""
    monkeypatch.setattr(upkeep, "APART", 2)
    kill_at(monkeypatch, step, is_done, time)
    with pytest.raises(Killed):
        everything(index)
    monkeypatch.undo()

    everything(index)

    with closing(LocalBackend(index)) as backend:
        backend.vectors.adopt(OTHERS)
        numbers = [key for number in (*range(1, 41), 50) for key in backend.catalog.keys(uuid(number))]
        assert {} == backend.vectors.pending(1)
        assert [f"{uuid(7)}#0"] == near(backend, "word7 and", limit=1)
        assert 5 == len(near(backend, "word7 and", wants("tool", "changed")))
    assert [(key, 0) for key in sorted(numbers)] == held(index)
    assert 1 == len(vector.tables(index / VECTORS))


def kill_at(monkeypatch: pytest.MonkeyPatch, step: str, is_done: bool, time: int) -> None:
    """End the process before or after a step is done for the first or second time."""
    places: dict[str, Any] = {"remember": SqliteCatalog, "drop": vector, "optimize": upkeep}
    place = places.get(step, Vectors)
    original: Callable[..., Any] = getattr(place, step)
    calls = iter(range(1, 1_000))

    def dying(*arguments: Any, **named: Any) -> Any:
        number = next(calls)
        if number == time and not is_done:
            raise Killed
        result = original(*arguments, **named)
        if number == time:
            raise Killed
        return result

    monkeypatch.setattr(place, step, dying)


def everything(index: Path) -> None:
    """Embed, let parts change, come and go, and embed with another model, with all that vectors need for it."""
    with closing(LocalBackend(index, is_writable=True)) as backend:
        backend.follow()
        embed(backend, at_once=15)
        told(backend, transcript("a", record(50, 50, "other words"), checkpoint=b"2"))
        change(backend)
        backend.follow()
        embed(backend, OTHERS, at_once=15)


def change(backend: LocalBackend) -> None:
    """Give five parts another tool and take one out, as reading on does in many ways."""
    with backend.catalog.transaction():
        tool = backend.catalog.names.name("changed")
        backend.catalog.connection.execute("UPDATE parts SET tool = ? WHERE id BETWEEN 5 AND 9", (tool,))
        backend.catalog.connection.execute("DELETE FROM parts WHERE id = 1")


def test_another_model_is_refused_to_readers(index: Path) -> None:
    """Who searches with another model than the vectors were made with is told so, and what to run."""
    with closing(LocalBackend(index, is_writable=True)) as backend:
        embed(backend)

    with (
        closing(LocalBackend(index)) as backend,
        pytest.raises(IndexModel, match="model others, not words") as raised,
    ):
        backend.vectors.adopt(OTHERS)

    assert "searchkit index" in raised.value.hint


def test_old_vectors_are_found_until_the_new_are_complete(index: Path) -> None:
    """While vectors of another model are made, a search has the old ones; then only the new ones are there."""
    with closing(LocalBackend(index, is_writable=True)) as writer, closing(LocalBackend(index)) as reader:
        embed(writer)
        reader.vectors.adopt(WORDS)
        writer.vectors.adopt(OTHERS)
        some = list(writer.vectors.pending(10).items())
        writer.vectors.keep([Vector(key=key, values=meaning(one.part.text)) for key, one in some])
        writer.vectors.tidy()

        meanwhile = (len(near(reader, "word7")), len(vector.tables(index / VECTORS)))
        embed(writer, OTHERS)

        assert (40, 2) == meanwhile
        assert 1 == len(vector.tables(index / VECTORS))
        with pytest.raises(IndexModel):
            reader.vectors.adopt(WORDS)


def test_reader_sees_what_was_kept_since(index: Path) -> None:
    """A reader that is open finds the vectors that come, joined or not."""
    with closing(LocalBackend(index, is_writable=True)) as writer, closing(LocalBackend(index)) as reader:
        embed(writer)
        reader.vectors.adopt(WORDS)
        before = near(reader, "word50", limit=1)
        told(writer, transcript("a", record(50, 50, "word50"), checkpoint=b"2"))
        embed(writer)

        assert before != near(reader, "word50", limit=1) == [f"{uuid(50)}#0"]


def test_reader_gets_the_vectors_of_the_parts_it_names(index: Path) -> None:
    """While rows come, move and go, a part has its own vector and no other."""
    with closing(LocalBackend(index, is_writable=True)) as writer, closing(LocalBackend(index)) as reader:
        embed(writer, at_once=7)
        reader.vectors.adopt(WORDS)
        for step in range(3):
            found = reader.vectors.of([30, 3, 17, 3, 9_999])

            assert {3, 17, 30} == found.keys()
            for key, [one] in found.items():
                assert meaning(f"word{key} and") @ one.values > 0.999
            told(writer, transcript("a", record(50 + step, 50 + step, "more"), checkpoint=b"%d" % step))
            change(writer)
            writer.follow()
            embed(writer)
            upkeep.optimize(opened(writer.vectors._vectors()), timedelta(milliseconds=1))


def test_reader_sees_vectors_that_are_made_first_or_anew(index: Path) -> None:
    """A reader that was open before there were any vectors finds them, and again when all are rebuilt."""
    with closing(LocalBackend(index, is_writable=True)) as writer, closing(LocalBackend(index)) as reader:
        reader.vectors.adopt(WORDS)
        found = [near(reader, "word7 and", limit=1)]
        for _ in range(2):
            embed(writer, at_once=9)
            found.append(near(reader, "word7 and", limit=1))
            writer.drop_derived()

    assert [[], [f"{uuid(7)}#0"], [f"{uuid(7)}#0"]] == found


def test_forgotten_vectors_leave_the_disk(index: Path) -> None:
    """No file holds the vector of a part that was forgotten, also where few rows of many went."""
    secret = meaning("something private").astype(vector.PRECISION).tobytes()
    with closing(LocalBackend(index, is_writable=True)) as backend:
        told(backend, transcript("b", record(60, 1, "something private", session=B))).follow()
        embed(backend)
        before = is_on_disk(index, secret)

        backend.forget([B])

        assert (True, False) == (before, is_on_disk(index, secret))
        assert 40 == len(held(index))


def is_on_disk(index: Path, values: bytes) -> bool:
    """Say whether some file holds these bytes."""
    return any(values in path.read_bytes() for path in files(index) if path.is_file())


def test_damaged_vectors_are_an_error_that_says_what_to_do(index: Path) -> None:
    """What cannot be read is not taken for nothing."""
    with closing(LocalBackend(index, is_writable=True)) as backend:
        embed(backend)
    for path in files(index):
        if path.suffix == ".lance" and path.is_file():
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    with closing(LocalBackend(index)) as backend:
        backend.vectors.adopt(WORDS)
        with pytest.raises(IndexDamaged) as raised:
            backend.vectors.nearest(meaning("word7"), condition(), 5)

    assert "searchkit index" in raised.value.hint


def test_row_of_another_text_is_taken_out(index: Path) -> None:
    """After the catalog lost its end, a number can mean another text: its vector is rebuilt."""
    with closing(LocalBackend(index, is_writable=True)) as backend:
        embed(backend)
        with backend.catalog.transaction():
            backend.catalog.connection.execute("UPDATE parts SET digest = digest + 1 WHERE id = 7")

    with closing(LocalBackend(index, is_writable=True)) as backend:
        backend.vectors.adopt(WORDS)

        assert 1 == len(lacking(backend))
    assert 39 == len(held(index))


def random_rows(numbers: range, matrix: NDArray[np.float32]) -> "pyarrow.Table":
    """Make rows for numbered parts, three kinds in turn."""
    said = {n: Description(n, n % 3, 0, n // 50, 0, 1, 0, 0, 1, 1_000 * n, n) for n in numbers}
    return rows([Vector(key=n, values=matrix[n]) for n in numbers], said)


@pytest.fixture
def matrix() -> NDArray[np.float32]:
    """As many unit vectors as rows are wanted."""
    made = np.random.default_rng(3).standard_normal((MANY, 32), np.float32)
    scaled: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return scaled


PREDICATES: dict[str | None, Callable[[int], bool]] = {
    None: lambda number: True,
    "(kind IN (1))": lambda number: number % 3 == 1,
    "NOT (kind IN (1))": lambda number: number % 3 != 1,
    "(session IN (2,3))": lambda number: number // 50 in (2, 3),
}


@pytest.mark.parametrize("predicate", PREDICATES)
def test_index_finds_what_comparing_all_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matrix: NDArray[np.float32], predicate: str | None
) -> None:
    """Beyond some rows an index is used, and finds the nearest, rows that came after it included."""
    monkeypatch.setattr(upkeep, "FLAT_ROWS", 300)
    monkeypatch.setattr(vector, "FEW_ROWS", 0)
    table = Vectors(tmp_path, "t")
    table.add(random_rows(range(500), matrix))
    table.tidy()
    table.add(random_rows(range(500, MANY), matrix))

    found = [row["part"] for row in table.nearest(matrix[11], predicate, 10)]

    assert upkeep.index(opened(table))
    order = [n for n in np.argsort(-(matrix @ matrix[11])).tolist() if PREDICATES[predicate](n)]
    assert order[:10] == found


def test_appends_are_joined_and_the_index_outgrown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matrix: NDArray[np.float32]
) -> None:
    """However many small appends come, pieces and files stay few, and the index is made for the rows there are."""
    monkeypatch.setattr(upkeep, "FLAT_ROWS", 100)
    monkeypatch.setattr(upkeep, "APART", 4)
    monkeypatch.setattr(upkeep, "SEGMENTS", 4)
    monkeypatch.setattr(upkeep, "KEPT_SECONDS", 0.001)
    table = Vectors(tmp_path, "t")

    most = 0
    for start in range(0, MANY, 6):
        table.add(random_rows(range(start, start + 6), matrix))
        table.tidy()
        most = max(most, sum(path.is_file() for path in tmp_path.rglob("data/*")))

    index = upkeep.index(opened(table))
    # One for each append apart and for each segment, the joined ones, and what a version of this moment still has.
    assert most <= 4 + 4 + 1 + 1
    assert index is not None
    assert MANY <= 2 * int(index.name.removeprefix("vector_")) <= 2 * MANY
    assert MANY == table.count()


def test_end_of_a_run_leaves_an_index_in_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matrix: NDArray[np.float32]
) -> None:
    """A run that added much makes the index again at its end; one that added little leaves it as it is."""
    monkeypatch.setattr(upkeep, "FLAT_ROWS", 100)
    monkeypatch.setattr(upkeep, "APART", 2)
    table = Vectors(tmp_path, "t")
    segments = []
    for start, end in ((0, 300), (300, 310), (310, 320), (320, 500)):
        table.add(random_rows(range(start, end), matrix))
        table.tidy()
    for start, end in ((500, 502), (502, 504)):
        there = upkeep.index(opened(table))
        segments.append(there and there.num_segments)
        table.tidy(is_end=True)
        table.add(random_rows(range(start, end), matrix))
    there = upkeep.index(opened(table))

    assert (2, 1) == tuple(segments)
    assert there is not None
    assert ("vector_500", 1) == (there.name, there.num_segments)


def test_count_follows_what_others_write(tmp_path: Path, matrix: NDArray[np.float32]) -> None:
    """What is counted is kept between searches, and counted again once somebody has added or removed rows."""
    writer, reader = Vectors(tmp_path, "t"), Vectors(tmp_path, "t")
    counts = []
    writer.add(random_rows(range(10), matrix))
    counts += [reader.count(), reader.count()]
    writer.add(random_rows(range(10, 30), matrix))
    counts.append(reader.count())
    writer.remove([3, 4])

    counts.append(reader.count())

    assert [10, 10, 30, 28] == counts


@pytest.mark.parametrize(("flat_rows", "is_indexed"), [(1_000, False), (100, True)])
def test_end_of_a_run_joins_much_and_leaves_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matrix: NDArray[np.float32], flat_rows: int, is_indexed: bool
) -> None:
    """Rows that came last are joined at the end of a run if they are many, with an index and without one."""
    monkeypatch.setattr(upkeep, "FLAT_ROWS", flat_rows)
    table = Vectors(tmp_path, "t")
    table.add(random_rows(range(300), matrix))
    table.tidy()
    table.add(random_rows(range(300, 400), matrix))
    apart = [upkeep.apart(opened(table))]

    for start, end in ((400, 500), (500, 502)):
        table.add(random_rows(range(start, end), matrix))
        table.tidy(is_end=True)
        apart.append(upkeep.apart(opened(table)))

    assert [1, 0, 1] == [count - (not is_indexed) for count in apart]
    assert is_indexed == (upkeep.index(opened(table)) is not None)
