"""The vector store: Lance over what an embedder made of the catalog's parts.

A table holds the vectors of one embedder. A row is a piece of a part, with what parts are filtered by,
as the same numbers of the catalog's that the keyword index holds, and the digest of the text, so that
a row can be told to belong to a part. Lance writes a version or nothing: a row is there or is not.
"""

import logging
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from searchkit.backends.embedded.layout import private
from searchkit.errors import IndexDamaged, IndexMissing, IndexUnwritable

if TYPE_CHECKING:
    import pyarrow
    from lancedb.index import IndexConfig
    from lancedb.table import Table

    from searchkit.backends.base import Values

log = logging.getLogger(__name__)

# Whole numbers of a row, each of the size of a type of Arrow's.
NUMBERS = {
    "part": "int64", "piece": "int32", "kind": "int32", "role": "int32", "session": "int32", "tool": "int32",
    "context": "int32", "agent": "int32", "state": "int32", "time": "int64", "digest": "int64",
}  # fmt: skip
# Half the room of 32 bits, and of 100 nearest 99.9 are the same.
PRECISION = "float16"
# So many rows are looked at one by one in some 30 ms; more are found by an index.
FLAT_ROWS = 1 << 15
# Two bits for each number, and ten times as many candidates compared exactly as are wanted: 99.7 of the 100
# nearest among 100,000. One bit found 90 of them, four took three times the room of the index for 100.
BITS, REFINED = 2, 10
# Lance makes partitions of 8,192 rows. More of them are looked into than there are in half a million rows: a
# partition costs little, and one that is passed over costs recall.
PARTITIONS = 64
# Where a filter leaves so few rows, they are all compared: exact, and no slower.
FEW_ROWS = 10_000
# Appends that may lie apart from each other: a search opens each, and joining them rewrites all that can be joined.
APART = 16
# Each time they are joined the index grows by a segment of its own, and Lance joins no rows across segments: at so
# many it is made anew over all rows in one piece.
SEGMENTS = 16
# A search is over in less, and what it reads must stay so long.
KEPT_SECONDS = 60
HINT = "run: searchkit index, which makes the vectors anew and touches nothing else"
_NEAR = ["part", "kind", "session", "time", "agent", "feature", "_distance"]


class Vectors:
    """An open table of vectors, which is made when the first ones are added."""

    def __init__(self, directory: Path, name: str) -> None:
        """Open the table `name` in `directory` where it is there."""
        # It takes seconds, half of them for a client of a service that nobody asks.
        import lancedb

        self._path = table_path(directory, name)
        self._name = name
        with private(), self._reading():
            self._store = lancedb.connect(directory, read_consistency_interval=timedelta(0))
            self._table = self._open()

    def held(self) -> "pyarrow.Table":
        """Return part and digest of every row."""
        import pyarrow

        if self._table is None:
            return pyarrow.table({"part": pyarrow.array([], "int64"), "digest": pyarrow.array([], "int64")})
        return self._select(None, ["part", "digest"])

    def rows(self, parts: Sequence[int], columns: Sequence[str]) -> "pyarrow.Table | None":
        """Return some columns of the rows of parts, or None where there is no table yet."""
        return self._select(among(parts), columns) if self._table is not None and parts else None

    def count(self) -> int:
        """Count the parts that have a vector."""
        if self._table is None:
            return 0
        with self._reading():
            return int(self._table.count_rows("piece = 0"))

    def add(self, rows: "pyarrow.Table") -> None:
        """Append rows, all or none."""
        with self._writing():
            if self._table is None:
                self._table = self._store.create_table(self._name, schema=rows.schema, exist_ok=True)
            self._table.add(rows)

    def replace(self, rows: "pyarrow.Table") -> None:
        """Write rows that are there anew, all or none."""
        if self._table is not None and rows.num_rows:
            with self._writing():
                self._table.merge_insert(["part", "piece"]).when_matched_update_all().execute(rows)

    def remove(self, parts: Sequence[int]) -> None:
        """Take the rows of parts out."""
        if self._table is not None and parts:
            with self._writing():
                self._table.delete(among(parts))

    def nearest(self, values: "Values", predicate: str | None, limit: int) -> list[dict[str, Any]]:
        """Return the rows nearest to a vector, the best of each part, as many parts as are wanted."""
        if self._table is None or limit < 1:
            return []
        with self._reading():
            is_exact = self._index() is None or self._leaves_few(predicate)
            wanted = limit
            while True:
                found = self._search(values, predicate, wanted, is_exact)
                best: dict[int, dict[str, Any]] = {}
                for row in found:
                    best.setdefault(row["part"], row)
                if len(best) >= limit or len(found) < wanted:
                    return list(best.values())[:limit]
                wanted *= 2

    def tidy(self, is_thorough: bool = False) -> None:
        """Join what lies in pieces, bring indexes up to date, and clear what nobody reads any more."""
        if self._table is None:
            return
        with self._writing():
            if is_thorough:
                self._rewrite()
            is_outgrown = self._is_index_outgrown()
            if is_thorough or is_outgrown or self._apart() >= APART:
                if is_outgrown:
                    self._drop_index()
                self._optimize(timedelta(milliseconds=1) if is_thorough else timedelta(seconds=KEPT_SECONDS))
                self._make_indexes()

    def _open(self) -> "Table | None":
        # A writer that was killed before its first rows leaves a directory without a table.
        return self._store.open_table(self._name) if any(self._path.glob("_versions/*.manifest")) else None

    def _select(self, predicate: str | None, columns: Sequence[str]) -> "pyarrow.Table":
        assert self._table is not None
        with self._reading():
            asked = self._table.search().select(list(columns))
            return (asked.where(predicate) if predicate else asked).limit(None).to_arrow()

    def _search(self, values: "Values", predicate: str | None, limit: int, is_exact: bool) -> list[dict[str, Any]]:
        assert self._table is not None
        asked: Any = self._table.search(values, vector_column_name="vector")
        asked = asked.distance_type("cosine").select(_NEAR)
        asked = asked.bypass_vector_index() if is_exact else asked.nprobes(PARTITIONS).refine_factor(REFINED)
        if predicate is not None:
            asked = asked.where(predicate, prefilter=True)
        rows: list[dict[str, Any]] = asked.limit(limit).to_arrow().to_pylist()
        return rows

    def _leaves_few(self, predicate: str | None) -> bool:
        assert self._table is not None
        return predicate is not None and self._table.count_rows(predicate) <= FEW_ROWS

    def _index(self) -> "IndexConfig | None":
        """Return the index of the vectors, where there is one."""
        assert self._table is not None
        return next((index for index in self._table.list_indices() if "vector" in index.columns), None)

    def _is_index_outgrown(self) -> bool:
        """Say whether the index is missing, or was made for half the rows, or has too many segments."""
        assert self._table is not None
        rows, index = self._table.count_rows(), self._index()
        if rows <= FLAT_ROWS:
            return index is not None
        return index is None or index.name != _index_name(rows) or (index.num_segments or 0) >= SEGMENTS

    def _apart(self) -> int:
        """Count the pieces in which rows lie that the index does not know."""
        assert self._table is not None
        stats: Any = self._table.stats()
        index = self._index()
        return int(stats["fragment_stats"]["num_fragments"]) - (index.num_segments or 0 if index else 0)

    def _drop_index(self) -> None:
        assert self._table is not None
        for index in self._table.list_indices():
            if "vector" in index.columns:
                self._table.drop_index(index.name)

    def _make_indexes(self) -> None:
        """Make the indexes that are wanted and not there."""
        from lancedb.index import Bitmap, BTree, IvfRq

        assert self._table is not None
        rows = self._table.count_rows()
        if rows <= FLAT_ROWS:
            return
        there = {column for index in self._table.list_indices() for column in index.columns}
        for column in {"part", "time"} - there:
            self._table.create_index(column, config=BTree())
        for column in {"kind", "role", "session", "tool", "context", "agent", "state"} - there:
            self._table.create_index(column, config=Bitmap())
        if "vector" not in there:
            config = IvfRq(distance_type="cosine", num_bits=BITS)
            self._table.create_index("vector", config=config, name=_index_name(rows))

    def _optimize(self, kept: timedelta) -> None:
        assert self._table is not None
        # Files that a killed writer left are nobody's: whoever writes holds the lock of the index.
        self._table.optimize(cleanup_older_than=kept, delete_unverified=True)

    def _rewrite(self) -> None:
        """Write all rows anew: joining pieces leaves removed rows on the disk where they are few."""
        assert self._table is not None
        batches = self._table.search().limit(None).to_batches()
        self._table.add(batches, mode="overwrite")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn what Lance reports into an error that says what to do."""
        try:
            yield
        except (ValueError, RuntimeError, OSError) as error:
            if not self._path.is_dir():
                raise IndexMissing(f"the vectors in {self._path.parent.parent} are gone", HINT) from error
            raise IndexDamaged(f"{self._path} is damaged: {error}", HINT) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with private():
            try:
                yield
            except (ValueError, RuntimeError, OSError) as error:
                hint = "make room or give yourself permission there, then run searchkit index again; nothing is lost"
                raise IndexUnwritable(f"cannot write vectors: {error}", hint) from error


def among(parts: Iterable[int]) -> str:
    """Mean the rows of some parts."""
    return f"part IN ({','.join(map(str, parts))})"


def table_path(directory: Path, name: str) -> Path:
    """Return where Lance keeps a table."""
    return directory / f"{name}.lance"


def tables(directory: Path) -> list[str]:
    """Name the tables that are there, and what is left of others."""
    return sorted(path.stem for path in directory.glob("*.lance"))


def drop(directory: Path, name: str) -> None:
    """Throw a table away."""
    shutil.rmtree(table_path(directory, name), ignore_errors=True)


def _index_name(rows: int) -> str:
    """Name the index after the power of two that it was made for, so that it is seen to be outgrown."""
    return f"vector_{rows.bit_length()}"
