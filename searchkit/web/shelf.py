"""Conversations that are being read, so that leafing through a long one lays it out only once."""

import threading
import zlib
from array import array
from collections import OrderedDict

import msgspec

from searchkit.conversation.pages import Reading

MOST_READINGS = 12
# Of all readings together: one of a million records takes 9 MB, one of the 16,480 of a long session 150 kB.
MOST_BYTES = 64 << 20
# What a reading takes beside its numbers, as tracemalloc counts it: itself, and each of what it names.
READING_BYTES, NAMED_BYTES = 4_000, 800


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """What is read, which words are marked in it, and when it was laid out.

    Whoever leafs on names that moment, so that rows keep their numbers while the session grows. An index that
    was rebuilt in the same place is another: its parts have other keys.
    """

    index: str
    identity: tuple[int, ...]
    id: str
    words: str
    as_of: str


class Shelf:
    """The readings that were used last; safe to use from several threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Begin empty."""
        self._most_bytes = most_bytes
        self._readings: OrderedDict[Key, Reading] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Reading | None:
        """Return a reading that is still there."""
        with self._lock:
            if key in self._readings:
                self._readings.move_to_end(key)
            return self._readings.get(key)

    def put(self, key: Key, reading: Reading) -> bool:
        """Keep a reading, and let go of those that were not used for longest; say whether there is room for it."""
        if size(reading) > self._most_bytes:
            return False
        with self._lock:
            self._readings[key] = reading
            while len(self._readings) > MOST_READINGS or self._bytes() > self._most_bytes:
                self._readings.popitem(last=False)
        return True

    def _bytes(self) -> int:
        return sum(size(reading) for reading in self._readings.values())


def size(reading: Reading) -> int:
    """Estimate the bytes that a reading takes."""
    thread = reading.thread
    named = (thread.branches, thread.above, thread.strays, reading.homes, reading.started, reading.hits, reading.apart)
    numbers = sum(len(one) * one.itemsize for one in _numbers(reading))
    return READING_BYTES + numbers + NAMED_BYTES * sum(len(several) for several in named)


def digest(reading: Reading) -> str:
    """Name what a conversation consists of: the same as long as it has neither grown nor changed."""
    digest = reading.total
    for one in _numbers(reading):
        digest = zlib.crc32(one, digest)
    return f"{digest:08x}"


def _numbers(reading: Reading) -> "tuple[array[int], ...]":
    return reading.keys, reading.turns, reading.begins, reading.prompts, reading.walked
