"""Reads transcripts while answering: with a pool and a deadline of its own, and without holding an engine."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from searchkit.errors import SourceSilent
from searchkit.system.deadlines import Patience
from searchkit.web.endpoints import Unread

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
