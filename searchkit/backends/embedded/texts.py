"""Finds texts again in the compressed chunks that `packing.py` makes."""

import sqlite3
from collections import OrderedDict

import zstandard

KEPT_CHUNKS = 32


class Unpacker:
    """Reads texts back, keeping the last few chunks open."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read through `connection`."""
        self._connection = connection
        self._decompress = zstandard.ZstdDecompressor().decompress
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def text(self, chunk: int, start: int, length: int) -> str:
        """Return the text that lies there."""
        return self.encoded(chunk, start, length).decode()

    def encoded(self, chunk: int, start: int, length: int) -> bytes:
        """Return the text that lies there as the chunk holds it."""
        data = self._kept.pop(chunk, None)
        if data is None:
            row = self._connection.execute("SELECT data FROM chunks WHERE id = ?", (chunk,)).fetchone()
            data = self._decompress(row[0])
        self._kept[chunk] = data
        if len(self._kept) > KEPT_CHUNKS:
            self._kept.popitem(last=False)
        return data[start : start + length]
