"""Packs the texts of parts into compressed chunks, and finds them again.

Texts that lie together in a transcript resemble each other: a chunk of 128 KB compresses more
than twice as well as its texts one by one, and one part costs one small decompression.
"""

import sqlite3
from collections import OrderedDict

import zstandard

CHUNK_BYTES = 128 << 10
# Level 3 is where a higher level costs more time than it saves space on transcripts.
LEVEL = 3
KEPT_CHUNKS = 32


def last_number(connection: sqlite3.Connection, table: str) -> int:
    """Return the highest number that was ever given in a table."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return int(row[0]) if row else 0


class Packer:
    """Gathers texts into chunks while a batch is written."""

    def __init__(self, first_chunk: int) -> None:
        """Begin with the number `first_chunk`."""
        self._next = first_chunk
        self._open: list[bytes] = []
        self._size = 0
        self._parts = (0, 0)
        self.chunks: list[tuple[int, int, int, bytes]] = []

    def add(self, part: int, text: str) -> tuple[int, int, int]:
        """Take the text of a part; return its chunk, where it starts there, and its length in bytes."""
        encoded = text.encode()
        if self._size and self._size + len(encoded) > CHUNK_BYTES:
            self.flush()
        start = self._size
        self._parts = (self._parts[0] if self._open else part, part)
        self._open.append(encoded)
        self._size += len(encoded)
        return self._next, start, len(encoded)

    def flush(self) -> None:
        """Close the open chunk; `chunks` then holds its row: number, first and last part, data."""
        if self._open:
            self.chunks.append((self._next, *self._parts, _COMPRESS(b"".join(self._open))))
            self._open, self._size, self._next = [], 0, self._next + 1


class Unpacker:
    """Reads texts back, keeping the last few chunks open."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read through `connection`."""
        self._connection = connection
        self._decompress = zstandard.ZstdDecompressor().decompress
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def text(self, chunk: int, start: int, length: int) -> str:
        """Return the text that `Packer.add` put there."""
        data = self._kept.pop(chunk, None)
        if data is None:
            row = self._connection.execute("SELECT data FROM chunks WHERE id = ?", (chunk,)).fetchone()
            data = self._decompress(row[0])
        self._kept[chunk] = data
        if len(self._kept) > KEPT_CHUNKS:
            self._kept.popitem(last=False)
        return data[start : start + length].decode()


# One for all batches: each holds megabytes that the allocator does not give back one by one.
_COMPRESS = zstandard.ZstdCompressor(level=LEVEL).compress
