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
    """Lays texts side by side into chunks, which are compressed where they are written.

    Texts that other sessions are likely to hold, too, get chunks of their own: a chunk that brings nothing new is not
    written, and one that brings only new texts is written as it is.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._chunks: list[list[bytes]] = []
        # The number and the size of the open chunk: of texts that repeat, and of others.
        self._open: dict[bool, tuple[int, int]] = {}

    def add(self, text: str, is_repeating: bool = False) -> tuple[int, int, int]:
        """Take a text; return its chunk, where it starts there, and its length in bytes."""
        encoded = text.encode()
        chunk, start = self._open.get(is_repeating, (-1, 0))
        if chunk < 0 or (start and start + len(encoded) > CHUNK_BYTES):
            chunk, start = len(self._chunks), 0
            self._chunks.append([])
        self._chunks[chunk].append(encoded)
        self._open[is_repeating] = chunk, start + len(encoded)
        return chunk, start, len(encoded)

    def chunks(self) -> list[bytes]:
        """Return the chunks."""
        return [b"".join(texts) for texts in self._chunks]


def compress(chunk: bytes) -> bytes:
    """Compress a chunk, with a checksum."""
    return _COMPRESSING.submit(_COMPRESS, chunk).result()


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
# Each chunk carries a checksum of its texts, which is verified whenever it is unpacked.
_COMPRESS = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress
_COMPRESSING = ThreadPoolExecutor(max_workers=1, thread_name_prefix="searchkit-compress")
