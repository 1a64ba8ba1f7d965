"""From bounds to a filter of Lance's.

No column of a vector's row is null (see `vector.py`), so that "not" means what it says: in SQL
what is compared with null is neither true nor false, and "not" of it would lose rows.
"""

from collections.abc import Iterable

from searchkit.backends.local.bounds import AllOf, Among, AnyOf, Bound, During, Test
from searchkit.backends.local.catalog.schema import IS_ERROR, IS_SIDECHAIN

# What a row without a time has: earlier than any span begins.
NO_TIME = -(1 << 62)


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
