"""Engines for threads: few of them on one index, which share a model, each asked by one thread at a time."""

import asyncio
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from searchkit.engine import Engine
from searchkit.errors import IndexDamaged, IndexMissing, Refused
from searchkit.query.types import Mode

if TYPE_CHECKING:
    from searchkit.embed.base import Embedder

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

    def engine(self, roots: Sequence[str | Path] | None = None) -> Engine:
        """Return another engine on the same index, with the same model."""
        return Engine(self._index, self._roots if roots is None else roots, embedder=self.embedder)

    async def ask(self, function: Callable[[Engine], T], may_wait: bool = False) -> T:
        """Call a function with an engine in a thread; its turn comes when an engine is free.

        With `may_wait` it waits for all others that may, which leaves the other engines to those that may not.
        Raises Refused where there is no answer in time; what has begun goes on, but nobody waits for it.
        """
        threads = self._slow_threads if may_wait else self._threads
        asked = asyncio.get_running_loop().run_in_executor(threads, self._asked, function)
        try:
            done, _ = await asyncio.wait([asked], timeout=ANSWER_SECONDS)
            if not done:
                raise Refused(504, f"there was no answer within {ANSWER_SECONDS:.0f} s", HINT)
            return asked.result()
        finally:
            # Nothing, where it is done; what waits for its turn still does not come to it any more.
            asked.cancel()

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

    def _asked(self, function: Callable[[Engine], T]) -> T:
        held = self._free.get()
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
