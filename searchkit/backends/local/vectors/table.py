"""The Lance table of vectors: append, compact, index, search."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lancedb.index import IndexConfig
    from lancedb.table import Table

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from searchkit.backends.local.layout import private
from searchkit.errors import IndexDamaged, IndexMissing, IndexUnwritable

if TYPE_CHECKING:
    import pyarrow
    from lancedb.table import Table

    from searchkit.backends.base import Values


# Keeps a table of vectors in a shape in which they are found fast and take little room.
#
# Every append is a piece and a version of its own until it is joined with others; Lance does nothing of
# this by itself.

# So many rows are compared one by one in some 40 ms; more are found by an index.
FLAT_ROWS = 1 << 15
# Bits for each number in the index. Of the 100 nearest among 100,000, four find 99.9 with three times as many
# candidates compared exactly as are wanted, in 27 ms of CPU; two find 99.5 with ten times as many, in 44 ms. The
# indexes take 238 bytes for a row instead of 142, beside the 779 of the row itself.
BITS = 4
# Appends that may lie apart from each other: a search opens each, and joining them rewrites all that can be joined.
APART = 16
# Each time they are joined the index grows by a segment of its own, and Lance joins no rows across segments: at so
# many it is rebuilt over all rows in one piece. Among 200,000 rows that takes 19 s of CPU, and a search 26 ms with
# one segment and one piece; each further segment adds 1.3 ms, and each piece apart 0.4 ms.
SEGMENTS = 6
# The index is rebuilt when there are so many times as many rows as it was made for: while a run goes on, and at its
# end, where a first build of 200,000 rows would else leave ten segments.
GROWTH = 2.0
GROWTH_AT_END = 1.25
# When a run ends, more than this share of all rows is joined at once: a search after a first build took 15 ms of CPU
# instead of 18. Less waits for more, since every join makes a segment.
LOOSE_SHARE = 1 / 64
# A search is over in less, and what it reads must stay so long.
KEPT_SECONDS = 60.0


def tidy(table: "Table", is_thorough: bool = False, is_end: bool = False) -> bool:
    """Join what lies apart, bring indexes up to date, and clear what nobody reads any more; say whether it was due.

    Thorough means now, and that nothing that was removed stays on the disk. At the end of a run it is due sooner.
    """
    if is_thorough:
        _rewrite(table)
    is_outgrown = _is_index_outgrown(table, GROWTH_AT_END if is_end else GROWTH)
    if not (is_thorough or is_outgrown or apart(table) >= APART or (is_end and _is_loose(table))):
        return False
    if is_outgrown:
        _drop_indexes(table)
    optimize(table, timedelta(milliseconds=1) if is_thorough else timedelta(seconds=KEPT_SECONDS))
    _make_indexes(table)
    return True


def index(table: "Table") -> "IndexConfig | None":
    """Return the index of the vectors, where there is one."""
    return next((one for one in table.list_indices() if "vector" in one.columns), None)


def apart(table: "Table") -> int:
    """Count the pieces in which rows lie that the index does not know."""
    stats: Any = table.stats()
    there = index(table)
    return int(stats["fragment_stats"]["num_fragments"]) - (there.num_segments or 0 if there else 0)


def optimize(table: "Table", kept: timedelta) -> None:
    """Join pieces, let the indexes know all rows, and clear versions that are older than what is kept."""
    # Files that a killed writer left are orphans: a writer holds the lock of the index.
    table.optimize(cleanup_older_than=kept, delete_unverified=True)


def _is_index_outgrown(table: "Table", growth: float) -> bool:
    """Say whether the index is missing, or was made for too few rows, or has too many segments."""
    rows, there = table.count_rows(), index(table)
    if rows <= FLAT_ROWS:
        return there is not None
    return there is None or rows > growth * _made_for(there.name) or (there.num_segments or 0) >= SEGMENTS


def _is_loose(table: "Table") -> bool:
    """Say whether many rows are neither in the index nor, where there is none, in the largest piece."""
    stats: Any = table.stats()
    there = index(table)
    rows = int(stats["num_rows"])
    loose = there.num_unindexed_rows or 0 if there else rows - int(stats["fragment_stats"]["lengths"]["max"])
    return loose > rows * LOOSE_SHARE


def _drop_indexes(table: "Table") -> None:
    """Drop those of numbers, too: Lance joins no rows of which an index knows some and not others."""
    for one in table.list_indices():
        table.drop_index(one.name)


def _make_indexes(table: "Table") -> None:
    """Make the indexes that are wanted and not there."""
    from lancedb.index import Bitmap, BTree, IvfRq

    rows = table.count_rows()
    if rows <= FLAT_ROWS:
        return
    there = {column for one in table.list_indices() for column in one.columns}
    for column in {"part", "time"} - there:
        table.create_index(column, config=BTree())
    for column in {"kind", "role", "session", "tool", "context", "agent", "state", "language"} - there:
        table.create_index(column, config=Bitmap())
    if "vector" not in there:
        table.create_index("vector", config=IvfRq(distance_type="cosine", num_bits=BITS), name=_index_name(rows))


def _index_name(rows: int) -> str:
    """Name the index after the rows that it was made for, so that it is seen to be outgrown."""
    return f"vector_{rows}"


def _made_for(name: str) -> int:
    return int(name.removeprefix("vector_"))


def _rewrite(table: "Table") -> None:
    """Write all rows again: joining pieces leaves removed rows on the disk where they are few."""
    table.add(table.search().limit(None).to_batches(), mode="overwrite")


# The vector store: Lance over what an embedder made of the catalog's parts.
#
# A table holds the vectors of one embedder. A row is a piece of a part, with what parts are filtered by,
# as the same numbers of the catalog's that the keyword index holds, and the digest of the text, so that
# a row can be told to belong to a part. Lance writes a version or nothing: a row is there or is not.

# Whole numbers of a row, each of the size of a type of Arrow's.
NUMBERS = {
    "part": "int64", "piece": "int32", "kind": "int32", "role": "int32", "session": "int32", "tool": "int32",
    "context": "int32", "agent": "int32", "state": "int32", "language": "int32", "time": "int64",
    "digest": "int64",
}  # fmt: skip
# Half the room of 32 bits, and of 100 nearest 99.9 are the same.
PRECISION = "float16"
# So many times as many candidates are compared exactly as are wanted; `upkeep.BITS` says what that finds.
REFINED = 3
# Lance makes partitions of 8,192 rows. More of them are looked into than there are in half a million rows: a
# partition costs little, and one that is passed over costs recall.
PARTITIONS = 64
# Where a filter leaves so few rows, they are all compared: exact, and no slower.
FEW_ROWS = 10_000
# Lance reads up to 2 GB ahead of what it works on. With this it holds 120 MB instead of 240 while it makes an index
# of 260,000 rows, and 80 instead of 220 while it joins them, as fast.
READ_AHEAD_BYTES = 32 << 20
HINT = "run: searchkit index, which rebuilds the vectors and touches nothing else"
# Damage that Lance does not expect, such as a manifest without its last bytes, ends in one of these.
_PANICS = ("PanicException", "RustPanic")
_NEAR = ["part", "kind", "session", "time", "agent", "language", "feature", "_distance"]


class Vectors:
    """An open table of vectors, which is made when the first ones are added."""

    def __init__(self, directory: Path, name: str) -> None:
        """Open the table `name` in `directory` where it is there."""
        self._path = table_path(directory, name)
        self.name = name
        self._seen: _Known | None = None
        self._connect()

    def check(self) -> None:
        """Raise unless all rows can be read."""
        if self._table is not None:
            with self._reading():
                for _ in self._table.search().limit(None).to_batches():
                    pass

    def held(self) -> "pyarrow.Table":
        """Return part, piece and digest of every row."""
        import pyarrow

        names = ["part", "piece", "digest"]
        if self._table is None:
            return pyarrow.table({name: pyarrow.array([], NUMBERS[name]) for name in names})
        return self._select(None, names)

    def rows(self, parts: Sequence[int], columns: Sequence[str]) -> "pyarrow.Table | None":
        """Return some columns of the rows of parts, or None where there is no table yet."""
        return self._select(among(parts), columns) if self._table is not None and parts else None

    def holding(self, digests: Sequence[int]) -> "pyarrow.Table | None":
        """Return kind, digest and part of the rows of these texts, or None where there is no table yet."""
        asked = f"digest IN ({','.join(map(str, digests))})"
        return self._select(asked, ["kind", "digest", "part"]) if self._table is not None and digests else None

    def count(self) -> int:
        """Count the parts that have a vector."""
        if self._table is None:
            return 0
        with self._reading():
            return self._known(self._table).parts

    def add(self, rows: "pyarrow.Table") -> None:
        """Append rows, all or none."""
        with self._writing():
            table = self._table
            if table is None:
                table = self._store.create_table(self.name, schema=rows.schema, exist_ok=True)
            table.add(rows)

    def replace(self, rows: "pyarrow.Table") -> None:
        """Write rows that are there again, all or none."""
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
            is_exact = not self._known(self._table).has_index or self._leaves_few(predicate)
            # Some parts have two rows, which are often near together.
            wanted = limit + limit // 2
            while True:
                found = self._search(values, predicate, wanted, is_exact)
                best: dict[int, dict[str, Any]] = {}
                for row in found:
                    best.setdefault(row["part"], row)
                if len(best) >= limit or len(found) < wanted:
                    return list(best.values())[:limit]
                wanted *= 2

    def tidy(self, is_thorough: bool = False, is_end: bool = False) -> None:
        """Join what lies in pieces, bring indexes up to date, and clear what nobody reads any more."""
        if self._table is None:
            return
        with self._writing():
            if tidy(self._table, is_thorough, is_end):
                # What Lance remembers of indexes that are no more it forgets only with the connection: 2 kB for
                # each row that is added to 200,000.
                self._connect()

    def _connect(self) -> None:
        """Open the directory, again where it is open."""
        self._opened: Table | None = None
        with private(), self._reading():
            # Readers see the latest version.
            self._store = _lancedb().connect(self._path.parent, read_consistency_interval=timedelta(0))

    @property
    def _table(self) -> "Table | None":
        """The table, from the moment that it is there."""
        # A writer that was killed before its first rows leaves a directory without a version.
        if self._opened is None and any(self._path.glob("_versions/*.manifest")):
            with self._reading():
                self._opened = self._store.open_table(self.name)
        return self._opened

    def _select(self, predicate: str | None, columns: Sequence[str]) -> "pyarrow.Table":
        assert self._table is not None
        with self._reading():
            asked = _query(self._table).select(list(columns))
            return _answered(asked.where(predicate) if predicate else asked)

    def _search(self, values: "Values", predicate: str | None, limit: int, is_exact: bool) -> list[dict[str, Any]]:
        assert self._table is not None
        asked = _query(self._table).nearest_to(values).column("vector").distance_type("cosine").select(_NEAR)
        asked = asked.bypass_vector_index() if is_exact else asked.nprobes(PARTITIONS).refine_factor(REFINED)
        if predicate is not None:
            # Before the search, unless told otherwise.
            asked = asked.where(predicate)
        rows: list[dict[str, Any]] = _answered(asked.limit(limit)).to_pylist()
        return rows

    def _known(self, table: "Table") -> "_Known":
        """Return what every search asks for, which is looked up again only when something was written."""
        version = table.version
        if self._seen is None or self._seen.version != version:
            parts = int(table.count_rows("piece = 0"))
            self._seen = _Known(version, parts, index(table) is not None)
        return self._seen

    def _leaves_few(self, predicate: str | None) -> bool:
        assert self._table is not None
        return predicate is not None and self._table.count_rows(predicate) <= FEW_ROWS

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn what Lance reports into an error that says what to do."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, (ValueError, RuntimeError, OSError)) and type(error).__name__ not in _PANICS:
                raise
            if not self._path.is_dir():
                raise IndexMissing(f"the vectors in {self._path.parent.parent} are gone", HINT) from error
            raise IndexDamaged(f"{self._path} is damaged: {_reason(error)}", HINT) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with private():
            try:
                yield
            except (ValueError, RuntimeError, OSError) as error:
                hint = "make room or give yourself permission there, then run searchkit index again; nothing is lost"
                raise IndexUnwritable(f"cannot write vectors: {error}", hint) from error


class _Known(NamedTuple):
    """What holds of a version of a table."""

    version: int
    parts: int
    has_index: bool


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


def _reason(error: BaseException) -> str:
    """Return what Lance says without where in its own source it says so."""
    return str(error).partition(", /")[0]


def _query(table: "Table") -> Any:
    """Begin a question. Those of the table itself ask for its schema three times, which takes 3 ms of 16."""
    return table._table.query()  # type: ignore[attr-defined]  # where the table keeps what it wraps


def _answered(asked: Any) -> "pyarrow.Table":
    """Wait for the rows that a question is answered with."""
    from lancedb.background_loop import LOOP

    return LOOP.run(asked.to_arrow())  # type: ignore[no-untyped-call]  # it says nothing of its types


def _lancedb() -> ModuleType:
    """Import Lance, which takes seconds, half of them for a client of a service that nobody asks."""
    # It writes to stderr what only its makers understand ("partition 47 is empty"), unless told when it is loaded.
    os.environ.setdefault("LANCEDB_LOG", "error")
    os.environ.setdefault("LANCE_DEFAULT_IO_BUFFER_SIZE", str(READ_AHEAD_BYTES))
    import lancedb

    return lancedb
