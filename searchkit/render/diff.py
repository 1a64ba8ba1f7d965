"""What changed between two texts: lines added and removed, with some around them."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, takewhile

from searchkit.render.document import Row
from searchkit.text.format import count

# Unchanged lines that are shown around a change, as in `diff -u`.
CONTEXT = 3
# Comparing takes time with the product of the lengths, and in the worst case with more; beyond this all is replaced.
MOST_COMPARED = 40_000


def rows(old: str, new: str) -> list[Row]:
    """Compare two texts line by line; where nothing was before, all is added."""
    if new.endswith("\n") and (not old or old.endswith("\n")):
        # The end of the last line is no line of its own.
        old, new = old[:-1], new[:-1]
    before, after = (text.split("\n") if text else [] for text in (old, new))
    return list(_shortened(list(_compared(before, after))))


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    """Yield every line, unchanged ones too; what both begin and end with is cheap to tell."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    yield from (Row(sign=" ", text=line) for line in before[:head])
    yield from _middle(before[head : len(before) - tail], after[head : len(after) - tail])
    yield from (Row(sign=" ", text=line) for line in before[len(before) - tail :])


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """Count the lines that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _middle(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    if len(before) * len(after) > MOST_COMPARED:
        operations = [("replace", 0, len(before), 0, len(after))]
    else:
        operations = list(SequenceMatcher(None, before, after, autojunk=False).get_opcodes())
    for operation, start, end, new_start, new_end in operations:
        if operation == "equal":
            yield from (Row(sign=" ", text=line) for line in before[start:end])
            continue
        yield from (Row(sign="-", text=line) for line in before[start:end])
        yield from (Row(sign="+", text=line) for line in after[new_start:new_end])


def _shortened(found: Sequence[Row]) -> Iterator[Row]:
    """Put a word in place of unchanged lines that are far from a change."""
    changed = [number for number, row in enumerate(found) if row.sign != " "]
    near = {line for number in changed for line in range(number - CONTEXT, number + CONTEXT + 1)}
    for is_near, run in groupby(enumerate(found), lambda numbered: numbered[0] in near):
        several = [row for _, row in run]
        if is_near or len(several) == 1:
            yield from several
        else:
            yield Row(sign="@", text=f"{count(len(several), 'line')} unchanged")
