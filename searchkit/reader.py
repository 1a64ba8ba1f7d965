"""Turns changes into batches, here or in a process of its own that this module is the program of.

The other process is given the roots and the checkpoints on its stdin and answers with batches
on its stdout, each behind its length. It ends when its stdout is closed.
"""

import gc
import logging
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from searchkit.backends.base import Entry
from searchkit.errors import SourceError
from searchkit.parts import split
from searchkit.sources.base import Source
from searchkit.sources.claude import ClaudeSource
from searchkit.types import Change

log = logging.getLogger(__name__)

# A batch runs across files: 200 files of 50 lines took 30 s with one each, 1.3 s with this.
BATCH_BYTES = 8 << 20
BATCH_CHANGES = 2_000
# Batches that may wait, each of some megabytes, while another is written.
AHEAD = 1
# -P and the path of this process: nothing that lies in the current directory may run, and what this
# process can import the other one can too.
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from searchkit.reader import main; main()"
_LENGTH = struct.Struct("<Q")


class Request(msgspec.Struct, frozen=True):
    """What the other process needs to know."""

    roots: list[str]
    seen: dict[str, bytes]


def batches(changes: Iterable[Change]) -> Iterator[list[Entry]]:
    """Group changes, across files, into what one transaction should hold."""
    batch: list[Entry] = []
    size = 0
    for change in changes:
        batch.append(Entry(change=change, parts=[split(record) for record in change.records]))
        size += change.bytes_read
        if size >= BATCH_BYTES or len(batch) >= BATCH_CHANGES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def batches_from_elsewhere(source: Source, seen: Mapping[str, bytes]) -> Iterator[list[Entry]]:
    """Let another process read, one batch ahead; where none can be had, read here."""
    request = Request(roots=[str(root) for root in source.roots], seen=dict(seen))
    command = [sys.executable, "-P", "-c", _PROGRAM, *filter(None, sys.path)]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError:
        yield from batches(source.changes(seen))
        return
    with process:
        requests, answers = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
        try:
            requests.write(msgspec.msgpack.encode(request))
            requests.close()
            yield from _received(answers)
        except BaseException:
            # Given up, here or by whoever asked: the other process must not read on.
            process.kill()
            raise
    if process.returncode:
        raise SourceError("the process that read the transcripts ended early", "run searchkit index again; it goes on")


def main() -> None:
    """Be the other process."""
    gc.disable()
    # Ctrl-C reaches both processes; the one that writes decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # Under PYTHONUNBUFFERED stdout writes only a part of an answer when a signal (Ctrl-Z, then fg) comes between.
        with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as answers:
            _serve(sys.stdin.buffer, answers)
    except BrokenPipeError:
        sys.stderr.close()


def _received(stream: BinaryIO) -> Iterator[list[Entry]]:
    """Decode what comes; a thread takes it off the pipe, so that the other process need not wait."""
    decode = msgspec.msgpack.Decoder(list[Entry]).decode
    answers: queue.Queue[bytes] = queue.Queue(maxsize=AHEAD)
    threading.Thread(target=_receive, args=(stream, answers), name="searchkit-receiver", daemon=True).start()
    while answer := answers.get():
        yield decode(answer)


def _receive(stream: BinaryIO, answers: queue.Queue[bytes]) -> None:
    """Put every answer into the queue, and an empty one at the end."""
    try:
        while len(head := stream.read(_LENGTH.size)) == _LENGTH.size:
            (length,) = _LENGTH.unpack(head)
            answer = stream.read(length)
            if len(answer) < length:
                # It was killed in the middle of a batch; its status will tell.
                break
            answers.put(answer)
    except ValueError:
        log.debug("the reader's pipe was closed")
    answers.put(b"")


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    request = msgspec.msgpack.decode(requests.read(), type=Request)
    source = ClaudeSource([Path(root) for root in request.roots])
    encode = msgspec.msgpack.Encoder().encode
    for batch in batches(source.changes(request.seen)):
        answer = encode([_without_blocks(entry) for entry in batch])
        answers.write(_LENGTH.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def _without_blocks(entry: Entry) -> Entry:
    """Leave the blocks behind, whose texts the parts hold."""
    replace = msgspec.structs.replace
    records = [replace(record, blocks=()) if record.blocks else record for record in entry.change.records]
    return Entry(change=replace(entry.change, records=records), parts=entry.parts)
