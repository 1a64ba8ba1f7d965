"""Keeps the index fresh: takes in what is written below the roots, then makes missing vectors while nobody waits."""

import asyncio
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from searchkit.engine import Engine
from searchkit.errors import (
    IndexBusy,
    IndexDamaged,
    IndexMissing,
    IndexModel,
    ModelFault,
    Refused,
    SearchkitError,
    SourceSilent,
)
from searchkit.indexing.ingest import changes_below
from searchkit.query.types import Mode
from searchkit.system.deadlines import Patience

if TYPE_CHECKING:
    from searchkit.embed.base import Embedder


# Engines for threads: few of them on one index, which share a model, each asked by one thread at a time.


T = TypeVar("T")
# More would wait for each other: what is not spent in Tantivy, SQLite, Lance or the model holds Python's one lock.
ENGINES = 3
# What may read whole conversations has so many of them at most: the others are for searches.
ENGINES_THAT_WAIT = 1
# A search takes a tenth of a second, the first use of a reranker a minute; a client that waited longer has gone.
ANSWER_SECONDS = 120.0
# An index that is being rebuilt lacks a file for a moment.
ATTEMPTS = 5
PAUSE_SECONDS = 0.1
HINT = "ask for less, or end the process, which starts again by itself: searchkit serve --stop"


class Engines:
    """A pool of engines; an index that was replaced under them is opened again."""

    def __init__(self, index: Path, roots: Sequence[str] = ()) -> None:
        """Open nothing yet."""
        self._index = index
        self._roots = tuple(roots)
        self._models: dict[str, Embedder] = {}
        self._loading = threading.Lock()
        self._threads = ThreadPoolExecutor(ENGINES, thread_name_prefix="searchkit-engine")
        self._slow_threads = ThreadPoolExecutor(ENGINES_THAT_WAIT, thread_name_prefix="searchkit-slow-engine")
        self._free: queue.LifoQueue[Held] = queue.LifoQueue()
        for _ in range(ENGINES):
            self._free.put(Held(self.engine()))
        self._waiting: dict[Hashable, Waiting] = {}

    def engine(self, roots: Sequence[str | Path] | None = None) -> Engine:
        """Return another engine on the same index, with the same model."""
        return Engine(self._index, self._roots if roots is None else roots, embedder=self.embedder)

    async def ask(self, function: Callable[[Engine], T], may_wait: bool = False, same: Hashable = None) -> T:
        """Call a function with an engine in a thread; its turn comes when an engine is free.

        With `may_wait` it waits for all others that may, which leaves the other engines to those that may not.
        Calls of the same kind, by a value that names it, share one turn while they wait for it. One whose turn has
        begun is not joined: what was indexed before a question came is always in the answer.
        Raises Refused where there is no answer in time; what has begun goes on, but nobody waits for it.
        """
        waiting = self._waiting.get(same)
        if waiting is None or waiting.has_begun:
            waiting = Waiting()
            threads = self._slow_threads if may_wait else self._threads
            waiting.asked = asyncio.get_running_loop().run_in_executor(threads, self._asked, function, waiting)
            if same is not None:
                self._waiting[same] = waiting
        waiting.clients += 1
        asked: asyncio.Future[T] = waiting.asked
        try:
            done, _ = await asyncio.wait([asked], timeout=ANSWER_SECONDS)
            if not done:
                raise Refused(504, f"there was no answer within {ANSWER_SECONDS:.0f} s", HINT)
            return asked.result()
        finally:
            waiting.clients -= 1
            if not waiting.clients:
                # Nothing, where it is done; what waits for its turn still does not come to it any more.
                asked.cancel()
                if self._waiting.get(same) is waiting:
                    self._waiting.pop(same, None)

    def embedder(self, setting: str) -> "Embedder":
        """Return a model that all share, loaded once."""
        with self._loading:
            if setting not in self._models:
                # Brings numpy and a runtime.
                from searchkit.embed.load import choose

                settings = Engine(self._index).settings
                cores = max(1, (os.cpu_count() or 1) // 2)
                self._models[setting] = choose(setting, settings.models, cores=cores, is_background=True)
            return self._models[setting]

    def warm_up(self) -> None:
        """Load the model and what reads vectors, and ask for something once, where the index has vectors."""
        with self.engine() as engine:
            if engine.has_vectors():
                engine.search("hello", 1, mode=Mode.SEMANTIC)

    def close(self) -> None:
        """Close the engines that nobody uses any more."""
        for threads in (self._threads, self._slow_threads):
            threads.shutdown(wait=False, cancel_futures=True)
        while not self._free.empty():
            self._free.get_nowait().engine.close()

    def _asked(self, function: Callable[[Engine], T], waiting: "Waiting") -> T:
        held = self._free.get()
        # Its turn has come: who asks the same from now on waits for the next one.
        waiting.has_begun = True
        try:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    return function(held.renewed())
                except (IndexMissing, IndexDamaged):
                    # Somebody rebuilds it, or it is so indeed.
                    held.engine.close()
                    if attempt == ATTEMPTS:
                        raise
                    time.sleep(PAUSE_SECONDS)
            raise AssertionError
        finally:
            self._free.put(held)


class Waiting:
    """A call, whether its turn has come, and how many clients wait for it."""

    asked: "asyncio.Future[Any]"

    def __init__(self) -> None:
        """Begin with nobody."""
        self.has_begun = False
        self.clients = 0


class Held:
    """An engine, and what the index was when it was opened."""

    def __init__(self, engine: Engine) -> None:
        """Take an engine that has opened nothing yet."""
        self.engine = engine
        self._opened: tuple[int, ...] = ()

    def renewed(self) -> Engine:
        """Return the engine, without what it had opened of an index that is another by now."""
        now = self.engine.store.identity()
        if now != self._opened:
            self.engine.close()
            self._opened = now
        return self.engine


log = logging.getLogger(__name__)

# Another process that writes gets its turn, and this often it is looked whether it is done.
BUSY_SECONDS = 0.3
# After an error (a root that is gone, a full disk) it is tried again this much later, or when something changes.
TROUBLE_SECONDS = 60.0
# Vectors are made in slices. Between them the writers' lock is free for longer than a waiting writer sleeps.
SLICE_SECONDS = 3.0
GAP_SECONDS = 0.5
# So long nobody must have asked before vectors are made.
QUIET_SECONDS = 1.0
# Where somebody asks all the time, a slice is begun between two questions after so long.
PATIENCE_SECONDS = 10.0
# How often it is looked whether the index is made from other roots by now.
CHOOSING_SECONDS = 30.0
NO_VECTORS = "SEARCHKIT_NO_VECTORS"
# Looks at the roots, one at a time; a disk that sleeps wakes within these seconds.
_LOOKS = Patience(1, 10.0)

Roots = Callable[[], tuple[Path, ...]]
Open = Callable[[Sequence[Path]], Engine]


class Following:
    """Two threads: one waits for changes, the other writes."""

    def __init__(self, open_engine: Open, roots: Roots, quiet_since: Callable[[], float | None]) -> None:
        """Take what opens an engine on roots, what they are, and what tells since when nobody asks.

        That is None while somebody does.
        """
        self._open_engine = open_engine
        self._roots = roots
        self._quiet_since = quiet_since
        self._changed = threading.Event()
        self._leaving = threading.Event()
        self._wants_vectors = self._may_lack_vectors = not os.environ.get(NO_VECTORS)
        self._followed: tuple[Path, ...] = ()
        self._held = Held(open_engine(()))

    def start(self) -> None:
        """Begin; the threads end with the process."""
        threading.Thread(target=self._write, name="searchkit-writer", daemon=True).start()

    def stop(self) -> None:
        """Begin nothing any more; what is being written may be given up at any moment."""
        self._leaving.set()
        self._changed.set()

    def _watch(self, roots: Sequence[Path]) -> None:
        """Say when something changed, while the roots are followed; what cannot be watched now is tried again."""
        # The very same roots: those that are followed again later have another watcher.
        while not self._leaving.is_set() and roots is self._followed:
            try:
                _check_answering(roots)
                for _ in changes_below(roots):
                    if self._leaving.is_set() or roots is not self._followed:
                        return
                    self._changed.set()
            except (OSError, SourceSilent) as error:
                log.warning("cannot watch the roots: %s", error)
            self._leaving.wait(TROUBLE_SECONDS)

    def _write(self) -> None:
        while not self._leaving.is_set():
            try:
                if not self._choose():
                    self._leaving.wait(BUSY_SECONDS)
                    continue
                self._take_in()
                while self._may_lack_vectors and not self._changed.is_set():
                    self._may_lack_vectors = self._held.engine.has_vectors() and self._embed()
                self._changed.wait(CHOOSING_SECONDS)
            except IndexBusy:
                self._changed.set()
                self._leaving.wait(BUSY_SECONDS)
            except (IndexModel, ModelFault) as error:
                # Words are kept up to date all the same.
                log.warning("no vectors are made: %s", error.message)
                self._wants_vectors = self._may_lack_vectors = False
            except SearchkitError as error:
                log.warning("the index is not brought up to date: %s", error.message)
                self._changed.wait(TROUBLE_SECONDS)
                self._changed.set()
            except Exception:  # the outermost shell of this thread, without which the index would grow old unsaid
                log.exception("the index is not brought up to date")
                self._leaving.wait(TROUBLE_SECONDS)
                # What had changed is still to be taken in.
                self._changed.set()

    def _choose(self) -> bool:
        """Follow what the index was made from last; that changes when somebody indexes other roots.

        False where it says nothing of roots: it is being rebuilt, or gone. Those before are watched on.
        """
        roots = self._roots()
        if roots and roots != self._followed:
            self._followed = roots
            self._held.engine.close()
            self._held = Held(self._open_engine(roots))
            # Says that something changed as soon as it watches.
            threading.Thread(target=self._watch, args=(roots,), name="searchkit-watcher", daemon=True).start()
        return bool(roots)

    def _take_in(self) -> None:
        """Bring words up to date where something changed."""
        if self._changed.is_set():
            # Cleared first: what changes from now on is for the next time.
            self._changed.clear()
            # Before the writers' lock is taken: a root on a dead network would keep it from everybody else.
            _check_answering(self._followed)
            began = time.monotonic()
            done = self._held.engine.index(wait=False)
            self._may_lack_vectors = self._wants_vectors
            if done.files or done.gone:
                log.info("took in %d files in %.2f s", done.files, time.monotonic() - began)

    def _embed(self) -> bool:
        """Make vectors for a while, once it is quiet; say whether any are missing still."""
        waits_until = time.monotonic() + PATIENCE_SECONDS
        while not self._is_quiet(waits_until):
            if self._changed.wait(QUIET_SECONDS / 4):
                return True
        ends_at = time.monotonic() + SLICE_SECONDS

        def is_enough() -> bool:
            return self._changed.is_set() or self._quiet_since() is None or time.monotonic() > ends_at

        is_more = self._held.renewed().embed(is_enough, wait=False)
        self._changed.wait(GAP_SECONDS)
        return is_more

    def _is_quiet(self, waits_until: float) -> bool:
        since, now = self._quiet_since(), time.monotonic()
        return since is not None and (now - since >= QUIET_SECONDS or now > waits_until)


def _check_answering(roots: Sequence[Path]) -> None:
    """Raise SourceSilent unless the disks that the projects lie on answer in time."""
    _LOOKS.call(" and ".join(map(str, roots)), lambda: _look(roots))


def _look(roots: Sequence[Path]) -> None:
    """Look at the directories of all projects."""
    for root in roots:
        # A missing one is reported when it is read.
        with suppress(OSError), os.scandir(root / "projects") as entries:
            for entry in entries:
                entry.stat()
