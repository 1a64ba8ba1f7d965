"""Keeps a table of vectors in a shape in which they are found fast and take little room.

Every append is a piece and a version of its own until it is joined with others; Lance does nothing of
this by itself.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lancedb.index import IndexConfig
    from lancedb.table import Table

# So many rows are compared one by one in some 40 ms; more are found by an index.
FLAT_ROWS = 1 << 15
# Bits for each number in the index. Of the 100 nearest among 100,000, four find 99.9 with three times as many
# candidates compared exactly as are wanted, in 27 ms of CPU; two find 99.5 with ten times as many, in 44 ms. The
# indexes take 238 bytes for a row instead of 142, beside the 779 of the row itself.
BITS = 4
# Appends that may lie apart from each other: a search opens each, and joining them rewrites all that can be joined.
APART = 16
# Each time they are joined the index grows by a segment of its own, and Lance joins no rows across segments: at so
# many it is made anew over all rows in one piece. Among 200,000 rows that takes 19 s of CPU, and a search 26 ms with
# one segment and one piece; each further segment adds 1.3 ms, and each piece apart 0.4 ms.
SEGMENTS = 6
# The index is made anew when there are so many times as many rows as it was made for: while a run goes on, and at its
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
    # Files that a killed writer left are nobody's: whoever writes holds the lock of the index.
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
    """Write all rows anew: joining pieces leaves removed rows on the disk where they are few."""
    table.add(table.search().limit(None).to_batches(), mode="overwrite")
