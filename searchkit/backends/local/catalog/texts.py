"""The texts of parts in compressed chunks: packed by the writer, found and verified by readers."""

import sqlite3
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING

import zstandard

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# Packs the texts of parts into compressed chunks.
#
# Texts that lie together in a transcript resemble each other: a chunk of 64 KB compresses about
# twice as well as its texts one by one, and one part costs one small decompression.

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

    def add(self, encoded: bytes, is_repeating: bool = False) -> tuple[int, int]:
        """Take a text in UTF-8; return its chunk, and where it starts there."""
        chunk, start = self._open.get(is_repeating, (-1, 0))
        if chunk < 0 or (start and start + len(encoded) > CHUNK_BYTES):
            chunk, start = len(self._chunks), 0
            self._chunks.append([])
        self._chunks[chunk].append(encoded)
        self._open[is_repeating] = chunk, start + len(encoded)
        return chunk, start

    def chunks(self) -> list[bytes]:
        """Return the chunks."""
        return [b"".join(texts) for texts in self._chunks]


def compress(chunk: bytes) -> bytes:
    """Compress a chunk, with a checksum."""
    return _compressing().submit(_COMPRESS, chunk).result()


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
        self._data.append(_compressing().submit(_COMPRESS, chunk))
        self._next += 1


# One for all batches: each holds megabytes that the allocator does not give back one by one. It runs in
# one thread of its own, so it is never used twice at a time, and lets go of the interpreter meanwhile.
# Each chunk carries a checksum of its texts, which is verified whenever it is unpacked.
_COMPRESS = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress


@cache
def _compressing() -> "ThreadPoolExecutor":
    # Not imported by a search.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="searchkit-compress")


# Finds texts again in the compressed chunks that `Gatherer` makes.

KEPT_CHUNKS = 32
# What stands for a text of which nothing can be read.
DAMAGED = "[damaged in the index: nothing of this text can be read]"
# The largest text is a line of 64 MB (`jsonl.LINE_LIMIT`); a damaged chunk that promises more is not believed.
MAX_CHUNK_BYTES = 256 << 20
# The byte of a frame that says which fields it has, and the bit in it that says that a checksum follows.
_DESCRIPTOR, _HAS_CHECKSUM, _CHECKSUM_BYTES = 4, 4, 4


class Unpacker:
    """Reads texts back, keeping the last few chunks open; `damaged` names the chunks that are not as they were."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read through `connection`."""
        self._connection = connection
        # Not one for all: it must not be used by two threads at a time.
        self._decompressor = zstandard.ZstdDecompressor()
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self.damaged: set[int] = set()

    def text(self, chunk: int, start: int, length: int) -> str:
        """Return the text that lies there; of a damaged one what can be read."""
        encoded = self.encoded(chunk, start, length)
        if len(encoded) != length:
            self.damaged.add(chunk)
            return encoded.decode(errors="replace") or DAMAGED
        return encoded.decode(errors="replace") if chunk in self.damaged else encoded.decode()

    def encoded(self, chunk: int, start: int, length: int) -> bytes:
        """Return the text that lies there as the chunk holds it; of a damaged one what can be read."""
        data = self._kept.pop(chunk, None)
        if data is None:
            data = self._read(chunk)
        self._kept[chunk] = data
        if len(self._kept) > KEPT_CHUNKS:
            self._kept.popitem(last=False)
        return data[start : start + length]

    def _read(self, chunk: int) -> bytes:
        row = self._connection.execute("SELECT data FROM chunks WHERE id = ?", (chunk,)).fetchone()
        packed = row[0] if row is not None and isinstance(row[0], bytes) else b""
        try:
            return unpack(packed, self._decompressor)
        except zstandard.ZstdError:
            self.damaged.add(chunk)
            return unpack_unchecked(packed, self._decompressor)


def unpack(packed: bytes, decompressor: zstandard.ZstdDecompressor) -> bytes:
    """Return what a chunk holds; raises ZstdError where its checksum is not that of its texts."""
    if zstandard.frame_content_size(packed) > MAX_CHUNK_BYTES:
        raise zstandard.ZstdError("the chunk promises more than any has")
    return decompressor.decompress(packed)


def unpack_unchecked(packed: bytes, decompressor: zstandard.ZstdDecompressor) -> bytes:
    """Return what can be read of a damaged chunk, nothing where it cannot be unpacked at all."""
    if len(packed) <= _DESCRIPTOR + _CHECKSUM_BYTES or not packed[_DESCRIPTOR] & _HAS_CHECKSUM:
        return b""
    fields = packed[_DESCRIPTOR] & ~_HAS_CHECKSUM
    bare = packed[:_DESCRIPTOR] + bytes([fields]) + packed[_DESCRIPTOR + 1 : -_CHECKSUM_BYTES]
    try:
        return unpack(bare, decompressor)
    except zstandard.ZstdError:
        return b""
