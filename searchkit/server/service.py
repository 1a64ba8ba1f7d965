"""What the process serves: its index, by engines that answer and a follower that keeps it fresh."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from searchkit import __version__
from searchkit.backends.registry import find_store
from searchkit.errors import SearchkitError, SourceSilent
from searchkit.render.wire.health import Health
from searchkit.server.indexer_thread import Engines, Following
from searchkit.system.deadlines import Patience
from searchkit.web.endpoints import Unread

if TYPE_CHECKING:
    from searchkit.server.server import Server


T = TypeVar("T")

# Pictures of a screen are read at once; a disk gets no faster with more.
MAX_THREADS = 4
# A disk that sleeps wakes within this; to read 100 MB takes a tenth of a second.
READ_SECONDS = 5.0


class Transcripts:
    """Threads that read transcripts; those that hang are given up."""

    def __init__(self) -> None:
        """Begin with none."""
        self._patience = Patience(MAX_THREADS, READ_SECONDS)
        # Each waits for one reading thread, never longer than the deadline.
        self._waiting = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="searchkit-transcripts")

    async def finish(self, unread: Unread, write: Callable[[object], T]) -> T:
        """Read what is missing of an answer, and write the answer, in a thread; what is given up never begins."""
        return await asyncio.get_running_loop().run_in_executor(self._waiting, self._finished, unread, write)

    def close(self) -> None:
        """Begin nothing any more."""
        self._waiting.shutdown(wait=False, cancel_futures=True)

    def _finished(self, unread: Unread, write: Callable[[object], T]) -> T:
        try:
            return self._patience.call(unread.subject, lambda: write(unread.read()))
        except SourceSilent as silent:
            if unread.otherwise is None:
                raise
            return write(unread.otherwise(silent))


log = logging.getLogger(__name__)


class Service:
    """What all requests share."""

    def __init__(self, index: Path, roots: Sequence[str], server: "Server") -> None:
        """Open nothing yet."""
        self.index = index
        self._store = find_store(index)
        self._roots = [os.path.abspath(root) for root in roots]
        self.server = server
        # Requests that came, and those that are being answered.
        self.asked = 0
        self.running = 0
        self.engines = Engines(index, roots)
        self.transcripts = Transcripts()
        self._closing: list[Callable[[], Awaitable[None]]] = []
        self._since = time.time()
        self._answered_at = time.monotonic()
        self._state: Literal["loading", "ready"] = "loading"
        self._following = Following(self.engines.engine, self._followed, self.quiet_since)

    def start(self) -> None:
        """Begin with what goes on beside answering."""
        self._following.start()
        threading.Thread(target=self._warm_up, name="searchkit-warm-up", daemon=True).start()

    def quiet_since(self) -> float | None:
        """Say since when nobody has asked, on the monotonic clock; None while somebody waits for an answer."""
        return None if self.running else self._answered_at

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request, and those that are being answered."""
        self.asked += 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._answered_at = time.monotonic()

    def health(self) -> Health:
        """Say who answers, without looking at the index."""
        port = self.server.doors.port
        return Health(
            version=__version__,
            format=self._store.format,
            pid=os.getpid(),
            index=str(self.index),
            roots=list(self._roots),
            state=self._state,
            since=round(self._since, 3),
            requests=self.asked,
            running=self.running,
            port=port.port if port else None,
        )

    def on_leaving(self, close: Callable[[], Awaitable[None]]) -> None:
        """Remember what is to be closed when the process leaves."""
        self._closing.append(close)

    async def close(self) -> None:
        """Release what is held."""
        for close in self._closing:
            await close()
        self._following.stop()
        self.transcripts.close()
        self.engines.close()

    def _followed(self) -> tuple[Path, ...]:
        """Return the roots to follow: those that were named, or those of the index, and no others.

        What is configured where the process was started is for indexing, and need not be of this index.
        """
        return tuple(map(Path, self._roots)) or self._store.roots()

    def _warm_up(self) -> None:
        """Load what a search by meaning needs, so that the first one does not wait for it."""
        try:
            self.engines.warm_up()
        except SearchkitError as error:
            # A request for it reports that.
            log.warning("cannot load everything: %s", error.message)
        self._state = "ready"
