"""Asks for many values with statements of a few sizes.

Every size would be a statement of its own, and SQLite's binding keeps the last 128 of them
prepared: with thousands of variables each, that came to 100 MB.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

# Asking for one value must be cheap, and asking for 50,000 too.
SIZES = (1, 4, 16, 64, 256)
_LISTS = {size: f"({','.join('?' * size)})" for size in SIZES}


def rows_in(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a statement that ends in `IN`, for any number of values."""
    for start in range(0, len(values), SIZES[-1]):
        some = values[start : start + SIZES[-1]]
        size = next(size for size in SIZES if size >= len(some))
        # A value named twice changes nothing, so the last one fills up what is left.
        filled = [*some, *[some[-1]] * (size - len(some))]
        yield from connection.execute(f"{statement} {_LISTS[size]}", filled).fetchall()
