"""Asks for many values with statements of one size.

Every size would be a statement of its own, and SQLite's binding keeps the last 128 of them
prepared: with thousands of variables each, that came to 100 MB.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

# Few enough that asking for one value is cheap, many enough that asking for 50,000 is.
VARIABLES = 256
_ONE = "(?)"
_MANY = f"({','.join('?' * VARIABLES)})"


def rows_in(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a statement that ends in `IN`, for any number of values."""
    if len(values) == 1:
        yield from connection.execute(f"{statement} {_ONE}", values)
        return
    for start in range(0, len(values), VARIABLES):
        some = values[start : start + VARIABLES]
        # A value named twice changes nothing, so the last one fills up what is left.
        filled = [*some, *[some[-1]] * (VARIABLES - len(some))]
        yield from connection.execute(f"{statement} {_MANY}", filled).fetchall()
