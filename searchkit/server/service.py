"""What the process serves: its index, by engines that answer and a follower that keeps it fresh."""

import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from searchkit import __version__
from searchkit.backends.registry import find_store
from searchkit.errors import SearchkitError
from searchkit.render.wire.health import Health
from searchkit.server.engine_pool import Engines
from searchkit.server.indexer_thread import Following
from searchkit.server.transcripts import Transcripts

if TYPE_CHECKING:
    from searchkit.server.server import Server

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
