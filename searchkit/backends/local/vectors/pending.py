"""Which parts of the catalog should have a vector, those worth most first, told without reading a text."""

import sqlite3
from array import array
from collections.abc import Iterable

from searchkit.backends.base import TYPED
from searchkit.backends.local.catalog.schema import KINDS, ROLES, SIDECHAIN
from searchkit.backends.vector_priority import (
    BY_LENGTH,
    CARRYING,
    EXCHANGE_KIND,
    LONG_BYTES,
    WORTHY,
    WORTHY_ERRORS,
    Worth,
)
from searchkit.types import Kind, Role


def _numbers(kinds: Iterable[Kind]) -> str:
    return f"({','.join(str(KINDS.index(kind)) for kind in sorted(kinds))})"


_IS_ERROR = f"parts.kind = {KINDS.index(WORTHY_ERRORS)} AND parts.is_error"
IS_WORTHY = f"parts.repeats IS NULL AND (parts.kind IN {_numbers(WORTHY)} OR {_IS_ERROR})"
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
SELECT parts.id FROM parts JOIN records ON records.id = record WHERE {IS_WORTHY}
ORDER BY CASE
  WHEN kind IN {_numbers(CARRYING)} OR kind IN {_numbers(BY_LENGTH)} AND length >= {LONG_BYTES} THEN {Worth.CARRYING}
  WHEN {_IS_ERROR} THEN {Worth.CARRYING}
  WHEN kind = {KINDS.index(Kind.TOOL_CALL)} THEN {Worth.CALL}
  WHEN parts.id IN ({_LAST}) THEN {Worth.CARRYING}
  ELSE {Worth.SHORT} END, time DESC NULLS LAST, record DESC, block, variant
"""


def in_order(connection: sqlite3.Connection) -> "array[int]":
    """Return the numbers of all parts that should have a vector, those worth most and newest first."""
    return array("q", (row[0] for row in connection.execute(_IN_ORDER)))


def count(connection: sqlite3.Connection) -> int:
    """Count the parts that should have a vector."""
    return int(connection.execute(f"SELECT count(*) FROM parts WHERE {IS_WORTHY}").fetchone()[0])


def digests(connection: sqlite3.Connection) -> dict[int, int]:
    """Return the digests of the texts of all parts that should have a vector."""
    return dict(connection.execute(f"SELECT id, digest FROM parts WHERE {IS_WORTHY}"))


def of_exchanges(connection: sqlite3.Connection) -> set[int]:
    """Return the parts that should have a second vector, that of the prompt and its answer."""
    is_long = f"kind = {KINDS.index(EXCHANGE_KIND)} AND length >= {LONG_BYTES}"
    return {row[0] for row in connection.execute(f"SELECT id FROM parts WHERE {IS_WORTHY} AND {is_long}")}
