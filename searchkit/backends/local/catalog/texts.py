"""Finds texts again in the compressed chunks that `packing.py` makes."""

import sqlite3
from collections import OrderedDict

import zstandard

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
