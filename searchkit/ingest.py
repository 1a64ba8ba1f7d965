"""Brings a backend up to date with a source: changes become parts, parts become batches."""

import logging
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from searchkit.backends.base import Backend, Entry
from searchkit.parts import split
from searchkit.sources.base import Source
from searchkit.types import Change

log = logging.getLogger(__name__)

# A batch runs across files: 200 files of 50 lines took 30 s with one each, 1.3 s with this.
BATCH_BYTES = 8 << 20
BATCH_CHANGES = 2_000


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far it is, after a batch that is safely kept."""

    bytes_read: int
    bytes_left: int
    files: int
    records: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What was read, and what could not be."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    gone: int = 0
    skipped: dict[str, int] = {}
    left_out: dict[str, int] = {}


def ingest(source: Source, backend: Backend, on_progress: Callable[[Progress], None] | None = None) -> Summary:
    """Read what is new and keep it; interrupted at any moment, the next call goes on from there.

    While one batch is written the next is read: compression and SQLite let Python go on.
    """
    summary = _Summary()
    with _Writer(backend) as writer:
        for batch in _batches(source.changes(backend.checkpoints())):
            writer.write(batch)
            summary.add(batch)
            if on_progress is not None:
                on_progress(summary.progress(batch))
    backend.settle()
    backend.follow()
    return summary.freeze()


def _batches(changes: Iterator[Change]) -> Iterator[list[Entry]]:
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


class _Writer:
    """Writes batches in a thread of its own, one behind the reader; an error reaches the reader."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._batches: queue.Queue[list[Entry] | None] = queue.Queue(maxsize=1)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="searchkit-writer", daemon=True)

    def __enter__(self) -> "_Writer":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._batches.put(None)
        self._thread.join()
        if error is None and self._error is not None:
            raise self._error

    def write(self, batch: list[Entry]) -> None:
        if self._error is not None:
            raise self._error
        self._batches.put(batch)

    def _run(self) -> None:
        while (batch := self._batches.get()) is not None:
            if self._error is None:
                try:
                    self._backend.write(batch)
                except BaseException as error:  # handed to the reader, which raises it
                    self._error = error


class _Summary:
    """Adds up what batches hold."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._bytes = self._records = self._gone = 0
        self._skipped: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()

    def add(self, batch: list[Entry]) -> None:
        for entry in batch:
            change = entry.change
            self._gone += change.is_gone
            self._bytes += change.bytes_read
            self._records += len(change.records)
            if not change.is_gone:
                self._files.add(change.file)
            self._skipped.update(problem.kind for problem in change.problems)
            self._left_out.update(change.tally.noise)

    def progress(self, batch: list[Entry]) -> Progress:
        left = batch[-1].change.bytes_left
        return Progress(bytes_read=self._bytes, bytes_left=left, files=len(self._files), records=self._records)

    def freeze(self) -> Summary:
        return Summary(
            files=len(self._files),
            bytes=self._bytes,
            records=self._records,
            gone=self._gone,
            skipped=dict(sorted(self._skipped.items())),
            left_out=dict(sorted(self._left_out.items())),
        )
