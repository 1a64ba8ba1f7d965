"""Turns changes into batches, here or in a process of its own that this module is the program of.

The other process is given the roots and the checkpoints on its stdin and answers with batches
on its stdout, each behind its length. It ends when its stdout is closed.
"""

import gc
import importlib
import logging
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from searchkit.backends.base import Batch, Entry, Prepared
from searchkit.errors import SourceError
from searchkit.sources.base import Share, Source
from searchkit.sources.parts import split
from searchkit.sources.registry import open_sources
from searchkit.system.process import give_back
from searchkit.text.secrets import masked
from searchkit.types import Change, Record

log = logging.getLogger(__name__)

# A batch runs across files: 200 files of 50 lines took 30 s with one each, 1.3 s with this. It is measured
# by what it holds, not by what was read for it: the same bytes hold between a third and all of their texts.
BATCH_BYTES = 4 << 20
BATCH_CHANGES = 2_000
# The first batch is smaller and each next one at most twice as large, so that a first run can be searched early.
FIRST_BATCH_BYTES = 256 << 10
# What a record takes beside its texts, on its way from one process to the other.
RECORD_BYTES = 500
# More bring nothing: two read faster than one writes, which works two thirds of the time that reading takes.
MOST_READERS = 2
# Batches that may wait, each of some megabytes, while another is written.
AHEAD = 1
# How often it is looked whether a thread that received has ended, where all is given up.
DRAIN_SECONDS = 0.05
# -P and the path of this process: nothing that lies in the current directory may run, and what this
# process can import the other one can too.
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from searchkit.indexing.worker import main; main()"
_LENGTH = struct.Struct("<Q")
# What comes where a backend prepares nothing.
_NOTHING = msgspec.Raw(msgspec.msgpack.encode(None))


class Request(msgspec.Struct, frozen=True):
    """What the other process needs to know."""

    roots: list[str]
    seen: dict[str, bytes]
    preparation: str | None
    is_masking: bool = False
    share: Share | None = None


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """A batch as it comes from the other process; what was prepared of it only its backend understands."""

    entries: list[Entry]
    prepared: msgspec.Raw


def batches(changes: Iterable[Change], is_masking: bool = False) -> Iterator[list[Entry]]:
    """Group changes, across files, into what one transaction should hold, perhaps with their secrets masked."""
    batch: list[Entry] = []
    size, most = 0, FIRST_BATCH_BYTES
    for change in changes:
        parts = [split(record, is_masking) for record in change.records]
        change = _without_secrets(change) if is_masking else change
        batch.append(Entry(change=change, parts=parts))
        size += sum(RECORD_BYTES + sum(len(part.text) for part in told) for told in parts)
        if size >= most or len(batch) >= BATCH_CHANGES:
            yield batch
            batch, size, most = [], 0, min(2 * most, BATCH_BYTES)
    if batch:
        yield batch


def reader_count() -> int:
    """Say how many processes should read: two where they leave as many processors to who writes, else one."""
    processors = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return MOST_READERS if processors >= 2 * MOST_READERS else 1


def batches_from_elsewhere(
    source: Source,
    seen: Mapping[str, bytes],
    preparation: str | None = None,
    shares: Sequence[Share | None] = (None,),
    *,
    is_masking: bool = False,
) -> Iterator[list[Entry]]:
    """Let other processes read and prepare, one for each share, one batch ahead; where none can be had, read here."""
    command = [sys.executable, "-P", "-c", _PROGRAM, *filter(None, sys.path)]
    with ExitStack() as stack:
        processes: list[subprocess.Popen[bytes]] = []
        threads: list[threading.Thread] = []
        try:
            try:
                for _ in shares:
                    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                    processes.append(stack.enter_context(process))
            except OSError:
                _kill(processes)
                for share in shares:
                    yield from batches(source.changes(seen, share), is_masking)
                return
            for process, share in zip(processes, shares, strict=True):
                roots = [str(root) for root in source.roots]
                request = Request(
                    roots=roots, seen=dict(seen), preparation=preparation, is_masking=is_masking, share=share
                )
                requests = cast(BinaryIO, process.stdin)
                requests.write(msgspec.msgpack.encode(request))
                requests.close()
            answers: queue.Queue[bytes | Exception] = queue.Queue(maxsize=AHEAD)
            for process in processes:
                stream = cast(BinaryIO, process.stdout)
                thread = threading.Thread(
                    target=_receive, args=(stream, answers), name="searchkit-receiver", daemon=True
                )
                threads.append(thread)
                thread.start()
            yield from _received(answers, len(processes))
        except BaseException:
            # Given up, here or by the caller: the other processes must not read on, and no thread may wait for ever.
            _kill(processes)
            while any(thread.is_alive() for thread in threads):
                with suppress(queue.Empty):
                    answers.get(timeout=DRAIN_SECONDS)
            raise
    if any(process.returncode for process in processes):
        raise SourceError("the process that read the transcripts ended early", "run searchkit index again; it goes on")


def _without_secrets(change: Change) -> Change:
    """Mask what is known beside the texts: facts such as titles, branches, directories, files that were touched."""
    replace = msgspec.structs.replace
    facts = [replace(fact, value=masked(fact.value).text) for fact in change.facts]
    return replace(change, facts=facts, records=[_record_without_secrets(record) for record in change.records])


def _record_without_secrets(record: Record) -> Record:
    replace = msgspec.structs.replace
    context = record.context
    names = (context.cwd, context.branch, context.model)
    cwd, branch, model = (one and masked(one).text for one in names)
    if (cwd, branch, model) != names:
        record = replace(record, context=replace(context, cwd=cwd, branch=branch, model=model))
    if not record.touches:
        return record
    return replace(record, touches=[replace(touch, path=masked(touch.path).text) for touch in record.touches])


def _kill(processes: Iterable["subprocess.Popen[bytes]"]) -> None:
    for process in processes:
        process.kill()


def main() -> None:
    """Be the other process."""
    gc.disable()
    give_back()
    # Ctrl-C reaches both processes; the one that writes decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # Under PYTHONUNBUFFERED stdout writes only a part of an answer when a signal (Ctrl-Z, then fg) comes between.
        with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as answers:
            _serve(sys.stdin.buffer, answers)
    except BrokenPipeError:
        sys.stderr.close()


def _received(answers: "queue.Queue[bytes | Exception]", going: int) -> Iterator[list[Entry]]:
    """Decode what comes; a thread for each pipe takes it off, so that the other process need not wait."""
    decode = msgspec.msgpack.Decoder(Answer).decode
    while going:
        encoded = answers.get()
        if isinstance(encoded, Exception):
            raise encoded
        if not encoded:
            going -= 1
            continue
        answer = decode(encoded)
        yield answer.entries if answer.prepared == _NOTHING else Prepared(answer.entries, answer.prepared)


def _receive(stream: BinaryIO, answers: queue.Queue[bytes | Exception]) -> None:
    """Put every answer into the queue, and at the end an empty one or what went wrong."""
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
    except Exception as error:  # raised again where the next batch is awaited
        answers.put(error)
    answers.put(b"")


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    try:
        request = msgspec.msgpack.decode(requests.read(), type=Request)
    except msgspec.DecodeError:
        # The process that asks was killed before it had written the whole request. Where it lives, it sees the status.
        sys.exit(1)
    source = open_sources([Path(root) for root in request.roots])
    encode = msgspec.msgpack.Encoder().encode
    prepare = _named(request.preparation) if request.preparation else None
    for batch in batches(source.changes(request.seen, request.share), request.is_masking):
        prepared = None if prepare is None else prepare(batch)
        answer = encode((list(_light(batch, keeps_records=prepare is None)), prepared))
        answers.write(_LENGTH.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def _named(preparation: str) -> Callable[[Batch], object]:
    """Import the function that a backend names."""
    module, _, function = preparation.partition(":")
    return cast("Callable[[Batch], object]", getattr(importlib.import_module(module), function))


def _light(batch: Batch, keeps_records: bool) -> Iterator[Entry]:
    """Leave the blocks behind, whose texts the parts hold, or all records, where a backend has prepared them."""
    replace = msgspec.structs.replace
    for change, parts in ((entry.change, entry.parts) for entry in batch):
        if keeps_records:
            records = [replace(record, blocks=()) if record.blocks else record for record in change.records]
            yield Entry(change=replace(change, records=records), parts=parts)
        else:
            yield Entry(change=replace(change, records=(), facts=()), left_behind=len(change.records))
