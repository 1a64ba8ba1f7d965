"""Which texts are embedded together: those of one length, up to so many tokens."""

from collections.abc import Iterator, Sequence
from itertools import groupby

# Measured from 256 to 8,192: the time is the same, and memory grows with it.
BATCH_TOKENS = 1024


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield numbers of texts, the longest first; a text without tokens is in no batch.

    Texts of a batch have exactly the same length. Padding shorter ones would fill batches better, which
    gains nothing, wastes what is padded, and needs a mask.
    """
    longest_first = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    for length, numbers in groupby(longest_first, key=lambda number: lengths[number]):
        if length:
            alike = list(numbers)
            size = max(1, BATCH_TOKENS // length)
            for begin in range(0, len(alike), size):
                yield alike[begin : begin + size]
