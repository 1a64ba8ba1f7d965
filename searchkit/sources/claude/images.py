"""Finds the pictures in a transcript again: the index keeps their place, not their data."""

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import BinaryIO

import orjson

from searchkit.sources.jsonl import open_regular
from searchkit.types import Picture

# What a browser draws without running anything; SVG can hold scripts and links.
TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
# The longest line that is looked into: the largest picture that the API takes has five million bytes.
MOST_LINE_BYTES = 32 << 20
# Pictures that are told of one file, so that one made to have millions takes no memory for them.
MOST_PICTURES = 2_000
# Transcripts whose pictures are remembered to be counted: those that are being read.
MOST_FILES = 64
READ_BUFFER = 1 << 20
_SIGN = b'"image"'


def records_with_pictures(file: str) -> dict[str, int]:
    """Count the pictures of each record that has some, by uuid; a transcript that is gone has none."""
    try:
        state = os.stat(file)
    except OSError:
        return {}
    return _counted(file, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=MOST_FILES)
def _counted(file: str, size: int, changed: int) -> dict[str, int]:
    """Count once for every state that a file is in."""
    found: dict[str, int] = {}
    for record in _records(file):
        if isinstance(uuid := record.get("uuid"), str) and (several := list(_pictures(record))):
            found[uuid] = len(several)
            if len(found) == MOST_PICTURES:
                break
    return found


def pictures(file: str, uuid: str) -> list[Picture]:
    """Return the pictures of one record."""
    return next((list(_pictures(record)) for record in _records(file, uuid) if record.get("uuid") == uuid), [])


def _records(file: str, uuid: str | None = None) -> Iterator[dict[str, object]]:
    """Decode the lines that may hold a picture, and the uuid where one is given."""
    sign = _SIGN if uuid is None else f'"{uuid}"'.encode()
    try:
        with open_regular(file, READ_BUFFER) as opened:
            for line in _lines(opened):
                if sign in line and _SIGN in line:
                    yield from _decoded(line)
    except OSError:
        # It is gone, or no file: what was indexed of it can be read without its pictures.
        return


def _lines(opened: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, without those that are too long; one that shrinks meanwhile just ends.

    It is read and not mapped: reading a mapped file behind its new end kills the process.
    """
    is_rest = False
    while piece := opened.readline(MOST_LINE_BYTES):
        is_whole = len(piece) < MOST_LINE_BYTES or piece.endswith(b"\n")
        if is_whole and not is_rest:
            yield piece
        is_rest = not is_whole


def _decoded(line: bytes) -> Iterator[dict[str, object]]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return
    if isinstance(record, dict):
        yield record


def _pictures(record: dict[str, object]) -> Iterator[Picture]:
    """Yield what a message shows, and what the results in it show."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for item in content if isinstance(content, list) else ():
        if isinstance(item, dict):
            inner = item.get("content") if item.get("type") == "tool_result" else None
            for one in [item, *(inner if isinstance(inner, list) else ())]:
                yield from _picture(one)


def _picture(item: object) -> Iterator[Picture]:
    source = item.get("source") if isinstance(item, dict) and item.get("type") == "image" else None
    if isinstance(source, dict) and source.get("type") == "base64":
        type, data = source.get("media_type"), source.get("data")
        if isinstance(type, str) and type in TYPES and isinstance(data, str):
            yield Picture(type=type, data=data)
