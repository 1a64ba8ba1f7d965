"""What is wrong with the vectors: some cannot be read, are missing, left over, or there twice."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from searchkit.backends.local.store_files import wrong_sums
from searchkit.backends.local.vectors import pending
from searchkit.backends.local.vectors.table import Vectors, table_path
from searchkit.backends.vector_priority import EXCHANGE_PIECE
from searchkit.errors import IndexFault
from searchkit.types import Finding

MEND = "run searchkit index"
REBUILD = "it is not as it was written: run searchkit index --rebuild"
# So many files are read where not all are asked for: some seconds at most.
SAMPLED_FILES = 50


def findings(connection: sqlite3.Connection, directory: Path, name: str, is_deep: bool = False) -> Iterator[Finding]:
    """Hold a table of vectors against the catalog, and read all of it; of its files all or some are checked."""
    place = str(table_path(directory, name))
    for file in wrong_sums(connection, directory.parent, None if is_deep else SAMPLED_FILES):
        yield Finding(kind="index: vectors damaged", file=str(file), line=0, detail=REBUILD)
    try:
        vectors = Vectors(directory, name)
        vectors.check()
        rows = vectors.held()
    except IndexFault as fault:
        yield Finding(kind="index: no search by meaning", file=place, line=0, detail=f"{fault.message}: {MEND}")
        return
    digests = pending.digests(connection)
    columns = (rows[column].to_pylist() for column in ("part", "piece", "digest"))
    held = Counter(zip(*columns, strict=True))
    halves = pending.of_exchanges(connection) - {part for part, piece, _ in held if piece == EXCHANGE_PIECE}
    right = {part for part, _, digest in held if digests.get(part) == digest} - halves
    counts = {
        "missing": len(digests) - len(right),
        "left over": len({part for part, _, digest in held if digests.get(part) != digest}),
        "twice": sum(count > 1 for count in held.values()),
    }
    said = {
        "missing": "parts have no vector yet",
        "left over": "parts have a vector that are gone or say something else",
        "twice": "vectors are there more than once",
    }
    for what, count in counts.items():
        if count:
            yield Finding(kind=f"index: vectors {what}", file=place, line=0, detail=f"{count} {said[what]}: {MEND}")
