"""Which texts are embedded together: those of one length, up to so many tokens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice

# The tokens of a text.
Row = Sequence[int]

# What so many tokens become inside a layer just stays in the cache of a core: 1,024 take a tenth more time, and fewer
# than 256 more again.
BATCH_TOKENS = 512
# Rows that batches are chosen from. The first batch waits for all of these, and the others are made meanwhile.
CHOICE_ROWS = 256


def batches(rows: Iterable[tuple[int, Row]]) -> Iterator[Mapping[int, Row]]:
    """Yield rows by their numbers, reading no further than is needed; a row without tokens is in no batch.

    Rows of a batch have exactly the same length. Padding shorter ones would fill batches better, which
    gains nothing, wastes what is padded, and needs a mask. They fill best where rows of like length come together.
    """
    left = iter(rows)
    while choice := sorted(islice(left, CHOICE_ROWS), key=lambda numbered: -len(numbered[1])):
        for length, alike in groupby(choice, key=lambda numbered: len(numbered[1])):
            size = max(1, BATCH_TOKENS // max(1, length))
            while length and (batch := dict(islice(alike, size))):
                yield batch
