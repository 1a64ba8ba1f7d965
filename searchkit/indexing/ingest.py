"""Brings a backend up to date with a source: changes become parts, parts become batches."""

import gc
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from searchkit.backends.base import Backend, Catalog, Entry
from searchkit.indexing.worker import batches, batches_from_elsewhere, reader_count
from searchkit.sources import registry
from searchkit.sources.base import Share, Source
from searchkit.sources.registry import by_app
from searchkit.system.process import give_back_now

log = logging.getLogger(__name__)

# Problems that kept a whole file or directory from being read.
FAILURES = frozenset({"unreadable", "not JSON"})
# From here on a second process pays for its start, which takes about 0.2 s.
ELSEWHERE_BYTES = 16 << 20


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far it is, in bytes while reading and in parts while words are indexed."""

    phase: str
    done: int
    left: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What was read, and what could not be; how many parts were given vectors, or why none could be."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    gone: int = 0
    # Files that were read, by the program that wrote them.
    apps: dict[str, int] = {}
    skipped: dict[str, int] = {}
    left_out: dict[str, int] = {}
    failures: list[str] = []
    # Whether some of the index was read by an earlier version, which understood less.
    is_outdated: bool = False
    embedded: int = 0
    without_meaning: str = ""


def ingest(
    source: Source,
    backend: Backend,
    on_progress: Callable[[Progress], None] | None = None,
    is_rebuild: bool = False,
    is_masking: bool = False,
) -> Summary:
    """Read what is new, or everything, and keep it, perhaps without its secrets.

    Interrupted at any moment, the next call goes on from there.

    Much of it is read in processes of their own, so that reading and writing use several cores.
    """
    summary = _Summary(source.roots)
    seen = backend.catalog.checkpoints()
    if is_rebuild:
        seen = {file: source.unread(checkpoint) for file, checkpoint in seen.items()}
    behind = source.behind(seen).bytes
    with _no_collection():
        for batch in _batches(source, backend.catalog, seen, behind >= ELSEWHERE_BYTES, is_masking):
            backend.catalog.write(batch)
            backend.keep_up()
            summary.add(batch)
            if on_progress is not None:
                on_progress(summary.progress(batch, behind))
        backend.catalog.settle()
    # So that indexing words begins as small as a new process.
    give_back_now()
    backend.follow(_reported(on_progress))
    return summary.freeze()


def _batches(
    source: Source, catalog: Catalog, seen: Mapping[str, bytes], is_much: bool, is_masking: bool
) -> Iterator[list[Entry]]:
    """Read here, or in other processes: all in one, or first the transcripts in several, and then what they name."""
    elsewhere = partial(batches_from_elsewhere, source, preparation=catalog.preparation, is_masking=is_masking)
    count = reader_count()
    if not is_much:
        yield from batches(source.changes(seen), is_masking)
    elif count == 1:
        yield from elsewhere(seen)
    else:
        read: set[str] = set()
        shares = [Share(number=number, count=count) for number in range(count)]
        for batch in elsewhere(seen, shares=shares):
            yield batch
            read.update(entry.change.file for entry in batch)
        left = {file: mark if file in read else seen.get(file, mark) for file, mark in catalog.checkpoints().items()}
        rest = Share(number=count, count=count)
        yield from elsewhere(left, shares=[rest])


def _reported(on_progress: Callable[[Progress], None] | None) -> Callable[[int, int], None]:
    def report(done: int, left: int) -> None:
        if on_progress is not None:
            on_progress(Progress(phase="words", done=done, left=left))

    return report


@contextmanager
def _no_collection() -> Iterator[None]:
    """Let no garbage collection walk the values under way: they form no cycles, and it costs a tenth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Summary:
    """Adds up what batches hold."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = {str(root) + os.sep: app for app, own in by_app(roots).items() for root in own}
        self._files: set[str] = set()
        self._bytes = self._records = self._gone = 0
        self._skipped: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._failures: list[str] = []

    def add(self, batch: list[Entry]) -> None:
        for entry in batch:
            change = entry.change
            self._gone += change.is_gone
            self._bytes += change.bytes_read
            self._records += len(change.records) + entry.left_behind
            if not change.is_gone and change.checkpoint is not None:
                self._files.add(change.file)
            self._skipped.update(problem.kind for problem in change.problems)
            self._left_out.update(change.left_out)
            self._failures += [
                f"{change.file}: {problem.detail}" for problem in change.problems if problem.kind in FAILURES
            ]
            if change.tally.lines and change.tally.torn == change.tally.lines:
                self._failures.append(f"{change.file}: not JSON lines, none of its lines is a record")

    def _app(self, file: str) -> str:
        """Return the program that wrote a file, by the innermost root above it."""
        return self._roots[max((root for root in self._roots if file.startswith(root)), key=len)]

    def progress(self, batch: list[Entry], behind: int) -> Progress:
        """Return how far it is; of several processes each knows only what it has left itself."""
        left = batch[-1].change.bytes_left if reader_count() == 1 else max(0, behind - self._bytes)
        return Progress(phase="reading", done=self._bytes, left=left)

    def freeze(self) -> Summary:
        return Summary(
            files=len(self._files),
            bytes=self._bytes,
            records=self._records,
            gone=self._gone,
            apps=dict(sorted(Counter(map(self._app, self._files)).items())),
            skipped=dict(sorted(self._skipped.items())),
            left_out=dict(sorted(self._left_out.items())),
            failures=sorted(set(self._failures)),
        )


# Waits for changes below the roots through the operating system's notifications.


# A run of writes is answered once: after this much quiet, or at the latest after the second figure.
QUIET_MILLISECONDS = 200
LATEST_MILLISECONDS = 1600
# The watcher sleeps in the kernel; it wakes this often only to see whether Python was interrupted.
WAKE_MILLISECONDS = 60_000


def changes_below(roots: Sequence[Path]) -> Iterator[None]:
    """Yield once as soon as nothing can be missed any more, then for every run of changes; ends when interrupted."""
    # Takes 60 ms to import, and only --watch needs it. The class rather than watchfiles.watch(), which
    # begins to watch only after its caller has asked for the first change.
    from watchfiles._rust_notify import RustNotify

    # Beside them lie logs and snapshots that change all the time, and perhaps the index itself.
    watched = tuple(path for root in roots for path in registry.watched(root))
    directories = [str(root) for root in roots]
    # The watcher lists all of them, too, but holds Python's one lock meanwhile: one on a dead network mount would
    # stop every thread, where this stops only the thread that watches.
    _list_directories(directories)
    with RustNotify(directories, False, False, 0, True, True) as watcher:
        yield
        while True:
            found = watcher.watch(LATEST_MILLISECONDS, QUIET_MILLISECONDS, WAKE_MILLISECONDS, None)
            if isinstance(found, set):
                if any(path.startswith(watched) for _, path in found):
                    yield
            elif found != "timeout":
                return


def _list_directories(directories: Sequence[str]) -> None:
    """List directories and all below them, each once, through links as the watcher does; return when all answered."""
    waiting, seen = list(directories), set[tuple[int, int]]()
    while waiting:
        directory = waiting.pop()
        try:
            found = os.stat(directory)
            if (found.st_dev, found.st_ino) in seen:
                continue
            seen.add((found.st_dev, found.st_ino))
            with os.scandir(directory) as entries:
                waiting += [entry.path for entry in entries if entry.is_dir()]
        except OSError:
            # Missing or not to be listed: the watcher says so, or passes it over.
            continue
