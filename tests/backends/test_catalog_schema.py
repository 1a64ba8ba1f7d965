"""Which indexes a catalog has, and when."""

import sqlite3
from contextlib import closing
from pathlib import Path

from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.catalog.schema import LATE_INDEXES
from searchkit.backends.local.layout import CATALOG
from tests.contract.small import batch, record, transcript


def test_first_build_makes_its_late_indexes_before_it_settles(tmp_path: Path) -> None:
    """Whoever asks a catalog that was built to its end has all indexes."""
    with closing(LocalBackend(tmp_path, is_writable=True)) as backend:
        backend.catalog.write(batch(transcript("a", record(1, 1, "one"))))
        while_writing = late_indexes(tmp_path)
        backend.catalog.settle()

    assert set() == while_writing
    assert len(LATE_INDEXES) == len(late_indexes(tmp_path))


def test_first_build_that_was_killed_is_completed(tmp_path: Path) -> None:
    """A catalog that was never settled gets its indexes from whoever opens it next to write."""
    with closing(LocalBackend(tmp_path, is_writable=True)) as backend:
        backend.catalog.write(batch(transcript("a", record(1, 1, "one"))))

    with closing(LocalBackend(tmp_path, is_writable=True)):
        pass

    assert len(LATE_INDEXES) == len(late_indexes(tmp_path))


def test_what_a_line_tells_is_found_by_the_line(tmp_path: Path) -> None:
    """Each record of a fork asks for it; all that the file tells was looked at each time."""
    with closing(LocalBackend(tmp_path, is_writable=True)):
        pass

    with closing(sqlite3.connect(tmp_path / CATALOG)) as connection:
        statement = "EXPLAIN QUERY PLAN SELECT part FROM tellings WHERE file = 1 AND line = 1"
        (row,) = connection.execute(statement)

    assert "(file=? AND line=?)" in row[3]


def late_indexes(directory: Path) -> set[str]:
    """Name the late indexes that are there."""
    with closing(sqlite3.connect(directory / CATALOG)) as connection:
        there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    return there & {statement.split()[5] for statement in LATE_INDEXES}
