"""Rows of the vector table: vectors, what the catalog says of their parts, and filters over that."""

import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from searchkit.backends.base import TYPED, Near, Vector
from searchkit.backends.duplicates import (
    BY_LENGTH,
    CARRYING,
    EXCHANGE_KIND,
    LONG_BYTES,
    SAID,
    WORTHY,
    WORTHY_ERRORS,
    Space,
    Worth,
    is_mixed,
)
from searchkit.backends.local.catalog.ids import rows_in
from searchkit.backends.local.catalog.schema import IS_ERROR, IS_SIDECHAIN, KINDS, LANGUAGES, ROLES, SIDECHAIN
from searchkit.backends.local.filters import AllOf, Among, AnyOf, Bound, During, Test
from searchkit.backends.local.vectors.table import NUMBERS, PRECISION
from searchkit.types import Kind, Language, Role

if TYPE_CHECKING:
    import numpy as np
    import pyarrow
    from numpy.typing import NDArray

# From bounds to a filter of Lance's.
#
# No column of a vector's row is null (see `table.py`), so that "not" means what it says: in SQL
# what is compared with null is neither true nor false, and "not" of it would lose rows.

# What a row without a time has: earlier than any span begins.
NO_TIME = -(1 << 62)


def _numbers(kinds: Iterable[Kind]) -> str:
    return f"({','.join(str(KINDS.index(kind)) for kind in sorted(kinds))})"


_IS_ERROR = f"parts.kind = {KINDS.index(WORTHY_ERRORS)} AND parts.is_error"


IS_WORTHY = f"parts.repeats IS NULL AND (parts.kind IN {_numbers(WORTHY)} OR {_IS_ERROR})"


_IS_OTHER = f"parts.language NOT IN (0, {LANGUAGES.index(Language.ENGLISH)})"
_IS_SAID = f"parts.kind IN {_numbers(SAID)}"


def worthy(connection: sqlite3.Connection, space: Space) -> str:
    """Say in SQL which parts should have a vector, in the same way as `duplicates.py`."""
    if space is Space.CHOSEN:
        return IS_WORTHY
    asked = f"SELECT count(*), ifnull(sum({_IS_OTHER}), 0) FROM parts WHERE {IS_WORTHY}"
    parts, others = connection.execute(asked).fetchone()
    return f"{IS_WORTHY} AND ({_IS_OTHER} OR {_IS_SAID})" if is_mixed(others, parts) else "0"


# A text is the last of its turn if what its agent, or the person, says next in the file is not a text.
_LAST = f"""
SELECT id FROM (
  SELECT parts.id, kind, length, lead(kind, 1, -1) OVER (
    PARTITION BY file, agent, flags & {SIDECHAIN} ORDER BY line, block, variant) AS next
  FROM parts JOIN records ON records.id = record
  WHERE repeats IS NULL AND (kind = {KINDS.index(Kind.TEXT)}
    OR kind IN {_numbers(TYPED)} AND role = {ROLES.index(Role.USER)}))
WHERE kind = {KINDS.index(Kind.TEXT)} AND next <> {KINDS.index(Kind.TEXT)} AND length < {LONG_BYTES}
"""


# The same order as `worth.worth` says.
_IN_ORDER = f"""
SELECT parts.id FROM parts JOIN records ON records.id = record WHERE {{worthy}}
ORDER BY CASE
  WHEN kind IN {_numbers(CARRYING)} OR kind IN {_numbers(BY_LENGTH)} AND length >= {LONG_BYTES} THEN {Worth.CARRYING}
  WHEN {_IS_ERROR} THEN {Worth.CARRYING}
  WHEN kind = {KINDS.index(Kind.TOOL_CALL)} THEN {Worth.CALL}
  WHEN parts.id IN ({_LAST}) THEN {Worth.CARRYING}
  ELSE {Worth.SHORT} END, time DESC NULLS LAST, record DESC, block, variant
"""


def in_order(connection: sqlite3.Connection, space: Space = Space.CHOSEN) -> "array[int]":
    """Return the numbers of all parts that should have a vector, those worth most and newest first."""
    asked = _IN_ORDER.format(worthy=worthy(connection, space))
    return array("q", (row[0] for row in connection.execute(asked)))


def count(connection: sqlite3.Connection, space: Space = Space.CHOSEN) -> int:
    """Count the parts that should have a vector."""
    return int(connection.execute(f"SELECT count(*) FROM parts WHERE {worthy(connection, space)}").fetchone()[0])


def digests(connection: sqlite3.Connection, space: Space = Space.CHOSEN) -> dict[int, int]:
    """Return the digests of the texts of all parts that should have a vector."""
    return dict(connection.execute(f"SELECT id, digest FROM parts WHERE {worthy(connection, space)}"))


def of_exchanges(connection: sqlite3.Connection, space: Space = Space.CHOSEN) -> set[int]:
    """Return the parts that should have a second vector, that of the prompt and its answer."""
    is_long = f"kind = {KINDS.index(EXCHANGE_KIND)} AND length >= {LONG_BYTES}"
    asked = f"SELECT id FROM parts WHERE {worthy(connection, space)} AND {is_long}"
    return {row[0] for row in connection.execute(asked)}


def predicate(bounds: Iterable[Bound]) -> str | None:
    """Say what must hold of a row, or None where anything may."""
    tests = [f"NOT {_test(bound.test)}" if bound.is_excluded else _test(bound.test) for bound in bounds]
    return " AND ".join(tests) or None


def _test(test: Test) -> str:
    match test:
        case Among(field, numbers):
            wanted = sorted(_states(numbers) if field == "state" else numbers)
            return f"({field} IN ({','.join(map(str, wanted))}))" if wanted else "(1 = 0)"
        case During(start, end):
            first = NO_TIME + 1 if start is None else start
            return f"(time >= {first} AND time < {end})" if end is not None else f"(time >= {first})"
        case AnyOf(tests):
            return f"({' OR '.join(map(_test, tests))})"
        case AllOf(tests):
            return f"({' AND '.join(map(_test, tests))})"


def _states(numbers: Iterable[int]) -> set[int]:
    """Return the sums of states in which one of these is."""
    return {state for state in range(1, (IS_ERROR | IS_SIDECHAIN) + 1) for number in numbers if state & number}


# Rows of the vector store: vectors, and what the catalog says of their parts.

# What is missing is 0, which no name has: with nulls a filter could not be turned round.
_DESCRIBED = f"""
SELECT parts.id, parts.kind, parts.role, parts.session, ifnull(tool, 0), context, ifnull(agent, 0),
  {IS_ERROR} * is_error + {IS_SIDECHAIN} * ((flags & {SIDECHAIN}) > 0), language,
  ifnull(time, {NO_TIME}), digest
FROM parts JOIN records ON records.id = record WHERE {IS_WORTHY} AND parts.id IN
"""


DESCRIBED = tuple(name for name in NUMBERS if name != "piece")


class Description(NamedTuple):
    """What the catalog says of a part, in the order of `DESCRIBED`."""

    part: int
    kind: int
    role: int
    session: int
    tool: int
    context: int
    agent: int
    state: int
    language: int
    time: int
    digest: int


def descriptions(connection: sqlite3.Connection, parts: Iterable[int]) -> dict[int, Description]:
    """Describe parts; one that is gone or should have no vector is left out."""
    return {row[0]: Description._make(row) for row in rows_in(connection, _DESCRIBED, sorted(set(parts)))}


def rows(vectors: Sequence[Vector], described: Mapping[int, Description]) -> "pyarrow.Table":
    """Make rows of vectors, as unit vectors; one that is zero is near nothing and stays so."""
    import numpy as np
    import pyarrow

    matrix = unit(np.stack([np.asarray(vector.values, np.float32) for vector in vectors])).astype(PRECISION)
    columns = _columns([described[vector.key] for vector in vectors])
    columns["piece"] = pyarrow.array([vector.piece for vector in vectors], NUMBERS["piece"])
    columns = {name: columns[name] for name in NUMBERS}
    columns["feature"] = pyarrow.array([vector.feature for vector in vectors], "float32")
    columns["vector"] = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(matrix.ravel()), matrix.shape[1])
    return pyarrow.table(columns)


def redescribed(rows: "pyarrow.Table", described: Mapping[int, Description]) -> "pyarrow.Table":
    """Give rows what the catalog says now."""
    for name, column in _columns([described[part] for part in rows["part"].to_pylist()]).items():
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    return rows


def near(row: Mapping[str, Any]) -> Near:
    """Read a row that was found near something."""
    return Near(
        key=row["part"],
        position=row["part"],
        kind=KINDS[row["kind"]],
        session=row["session"],
        time=None if row["time"] == NO_TIME else row["time"],
        is_agents=row["agent"] > 0,
        cosine=1.0 - row["_distance"],
        feature=row["feature"],
        language=LANGUAGES[row["language"]],
    )


# Of a row, beside the vector itself.
KEPT = ("part", "piece", "feature", "language")


def kept(rows: "pyarrow.Table") -> dict[int, list[Vector]]:
    """Read vectors by their parts, piece by piece."""
    import numpy as np

    found: dict[int, list[Vector]] = {}
    if rows.num_rows:
        flat = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        matrix = unit(flat.reshape(rows.num_rows, -1).astype(np.float32))
        columns = (rows[name].to_pylist() for name in KEPT)
        for (part, piece, feature, language), values in sorted(
            zip(zip(*columns, strict=True), matrix, strict=True), key=_first
        ):
            kept = Vector(key=part, piece=piece, values=values, feature=feature, language=LANGUAGES[language])
            found.setdefault(part, []).append(kept)
    return found


def unit(matrix: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Give every row the length 1, unless it has none."""
    import numpy as np

    lengths: NDArray[np.float32] = np.linalg.norm(matrix, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: NDArray[np.float32] = matrix / lengths
    return scaled


def _columns(described: Sequence[Description]) -> dict[str, Any]:
    import pyarrow

    columns = zip(*described, strict=True) if described else ([] for _ in DESCRIBED)
    return {name: pyarrow.array(column, NUMBERS[name]) for name, column in zip(DESCRIBED, columns, strict=True)}


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]
