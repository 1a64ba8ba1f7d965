"""Packs the texts of parts into compressed chunks.

Texts that lie together in a transcript resemble each other: a chunk of 64 KB compresses about
twice as well as its texts one by one, and one part costs one small decompression.
"""

from concurrent.futures import Future, ThreadPoolExecutor

import zstandard

# 128 KB take a tenth less room and, with a search reading some forty of them, twice the time.
CHUNK_BYTES = 64 << 10
# Level 3 is where a higher level costs more time than it saves space on transcripts.
LEVEL = 3


class Gatherer:
    """Lays texts side by side into chunks, which are compressed where they are written."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._chunks: list[bytes] = []
        self._open: list[bytes] = []
        self._size = 0

    def add(self, text: str) -> tuple[int, int, int]:
        """Take a text; return its chunk, where it starts there, and its length in bytes."""
        encoded = text.encode()
        if self._size and self._size + len(encoded) > CHUNK_BYTES:
            self._close()
        start = self._size
        self._open.append(encoded)
        self._size += len(encoded)
        return len(self._chunks), start, len(encoded)

    def chunks(self) -> list[bytes]:
        """Return the chunks, the last one included."""
        if self._open:
            self._close()
        return self._chunks

    def _close(self) -> None:
        self._chunks.append(b"".join(self._open))
        self._open, self._size = [], 0


class Packer:
    """Numbers and compresses the chunks of a batch."""

    def __init__(self, first_chunk: int) -> None:
        """Begin with the number `first_chunk`."""
        self._first = self._next = first_chunk
        self._open: list[bytes] = []
        self._size = 0
        self._parts: list[list[int]] = []
        self._data: list[Future[bytes]] = []

    def keep(self, chunk: bytes) -> int:
        """Take a chunk as it is and return its number; its parts are told by `holds`."""
        self.flush()
        self._parts.append([])
        self._compress(chunk)
        return self._next - 1

    def holds(self, chunk: int, part: int) -> None:
        """Note that the text of a part lies in a chunk; parts come in the order of their numbers."""
        self._parts[chunk - self._first].append(part)

    def add(self, part: int, text: bytes) -> tuple[int, int, int]:
        """Take the text of a part; return its chunk, where it starts there, and its length."""
        if self._size and self._size + len(text) > CHUNK_BYTES:
            self.flush()
        if not self._open:
            self._parts.append([])
        start = self._size
        self.holds(self._next, part)
        self._open.append(text)
        self._size += len(text)
        return self._next, start, len(text)

    def flush(self) -> None:
        """Close the open chunk."""
        if self._open:
            chunk = b"".join(self._open)
            self._open, self._size = [], 0
            self._compress(chunk)

    def chunks(self) -> list[tuple[int, int, int, bytes]]:
        """Close the open chunk and return the rows of all: number, first and last part, data."""
        self.flush()
        rows = enumerate(zip(self._parts, self._data, strict=True), self._first)
        return [(number, parts[0], parts[-1], data.result()) for number, (parts, data) in rows]

    @property
    def last_chunk(self) -> int:
        """The highest number given so far, that of the open chunk included."""
        return self._next if self._open else self._next - 1

    def _compress(self, chunk: bytes) -> None:
        """Compress while other work goes on."""
        self._data.append(_COMPRESSING.submit(_COMPRESS, chunk))
        self._next += 1


# One for all batches: each holds megabytes that the allocator does not give back one by one. It runs in
# one thread of its own, so it is never used twice at a time, and lets go of the interpreter meanwhile.
_COMPRESS = zstandard.ZstdCompressor(level=LEVEL).compress
_COMPRESSING = ThreadPoolExecutor(max_workers=1, thread_name_prefix="searchkit-compress")
