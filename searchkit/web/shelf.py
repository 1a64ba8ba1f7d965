"""Conversations that are being read, so that leafing through a long one lays it out only once."""

import threading
from collections import OrderedDict

import msgspec

from searchkit.leafing import Reading

# Each takes some megabytes where a session has 10,000 messages.
MOST_READINGS = 12


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """What is read, which words are marked in it, and when it was laid out.

    Whoever leafs on names that moment, so that rows keep their numbers while the session grows. An index that
    was made anew in the same place is another: its parts have other keys.
    """

    index: str
    identity: tuple[int, ...]
    id: str
    words: str
    as_of: str


class Shelf:
    """The readings that were used last; safe to use from several threads."""

    def __init__(self) -> None:
        """Begin empty."""
        self._readings: OrderedDict[Key, Reading] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Reading | None:
        """Return a reading that is still there."""
        with self._lock:
            if key in self._readings:
                self._readings.move_to_end(key)
            return self._readings.get(key)

    def put(self, key: Key, reading: Reading) -> None:
        """Keep a reading, and let go of the one that was not used for longest."""
        with self._lock:
            self._readings[key] = reading
            while len(self._readings) > MOST_READINGS:
                self._readings.popitem(last=False)
