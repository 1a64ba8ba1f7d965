"""What to suggest for a word or the value of a filter that nothing in the index has."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from searchkit.query.filter_matching import holds
from searchkit.query.filters import BY_NAME, Value
from searchkit.query.types import Condition
from searchkit.text.sanitize import one_line

# How many values are named, and how alike they must be: difflib's own measure and its usual bound.
MOST_NEAREST = 5
# Values that nothing has and that are told; of a text that was pasted, nobody reads more.
MOST_UNKNOWN = 20
LIKENESS = 0.6
# Of a word that was pasted.
MAX_CHARACTERS = 200


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A value that nothing has, and those nearest to it; where none is near, the most frequent."""

    name: str
    value: str
    nearest: Sequence[str]
    are_near: bool


def unknown(condition: Condition, values: Callable[[str], Sequence[str]]) -> Iterator[Unknown]:
    """Yield what a condition wants and nothing has, the first of many; `values` tells which there are of a filter."""
    return islice(_unknown(condition, values), MOST_UNKNOWN)


def respelled(words: Mapping[str, str]) -> Iterator[str]:
    """Name the words that nothing holds, and what was looked for instead."""
    for word, instead in words.items():
        yield f"Nothing holds {one_line(word)[:MAX_CHARACTERS]!r}; showing {one_line(instead)!r}."


def _unknown(condition: Condition, values: Callable[[str], Sequence[str]]) -> Iterator[Unknown]:
    for filter in dict.fromkeys(condition.filters):
        if filter.is_excluded:
            continue
        there = values(filter.name)
        for wanted in filter.values:
            if not any(holds(filter.name, value, wanted) for value in there):
                spec = BY_NAME[filter.name]
                # No number is spelt like a comparison.
                near = [] if spec.value is Value.NUMBER else _near(wanted, there)
                frequent = [] if spec.many else there[:MOST_NEAREST]
                yield Unknown(name=filter.name, value=wanted, nearest=near or frequent, are_near=bool(near))


def _near(wanted: str, there: Sequence[str]) -> list[str]:
    """Return the values most like the one that is wanted; of paths and tools, any part may be what was meant."""
    # Only needed where nothing was found, and so not worth a wait elsewhere.
    from difflib import get_close_matches

    spellings: dict[str, str] = {}
    for value in there:
        for part in (value, *value.replace("\\", "/").replace("__", "/").split("/")):
            if part:
                spellings.setdefault(part.casefold(), value)
    close = get_close_matches(wanted.casefold(), spellings, 2 * MOST_NEAREST, LIKENESS)
    return list(dict.fromkeys(spellings[spelling] for spelling in close))[:MOST_NEAREST]
