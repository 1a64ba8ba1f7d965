"""Packs the texts of parts into compressed chunks, and finds them again.

Texts that lie together in a transcript resemble each other: a chunk of 64 KB compresses about
twice as well as its texts one by one, and one part costs one small decompression.
"""

import sqlite3
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor

import zstandard

# 128 KB take a tenth less room and, with a search reading some forty of them, twice the time.
CHUNK_BYTES = 64 << 10
# Level 3 is where a higher level costs more time than it saves space on transcripts.
LEVEL = 3
KEPT_CHUNKS = 32


class Packer:
    """Gathers texts into chunks while a batch is written."""

    def __init__(self, first_chunk: int) -> None:
        """Begin with the number `first_chunk`."""
        self._next = first_chunk
        self._open: list[bytes] = []
        self._size = 0
        self._parts = (0, 0)
        self._chunks: list[tuple[int, int, int, Future[bytes]]] = []

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
        """Close the open chunk; it is compressed while other work goes on."""
        if self._open:
            data = _COMPRESSING.submit(_COMPRESS, b"".join(self._open))
            self._chunks.append((self._next, *self._parts, data))
            self._open, self._size, self._next = [], 0, self._next + 1

    def chunks(self) -> list[tuple[int, int, int, bytes]]:
        """Close the open chunk and return the rows of all: number, first and last part, data."""
        self.flush()
        return [(number, first, last, data.result()) for number, first, last, data in self._chunks]

    @property
    def last_chunk(self) -> int:
        """The highest number given so far, that of the open chunk included."""
        return self._next if self._open else self._next - 1


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


# One for all batches: each holds megabytes that the allocator does not give back one by one. It runs in
# one thread of its own, so it is never used twice at a time, and lets go of the interpreter meanwhile.
_COMPRESS = zstandard.ZstdCompressor(level=LEVEL).compress
_COMPRESSING = ThreadPoolExecutor(max_workers=1, thread_name_prefix="searchkit-compress")
