"""Calls that may never return, such as a look at a file on a dead network mount: in threads, given up in time."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Generic, TypeVar

from searchkit.errors import SourceSilent

T = TypeVar("T")


class Patience:
    """A few threads for calls that may hang; one that does keeps its thread until it returns, and nobody waits for it.

    Meanwhile the same subject is not asked again, and once all threads hang, nothing is.
    """

    def __init__(self, max_threads: int, seconds: float) -> None:
        """Take how many calls may be under way, and how long each is waited for."""
        self._max_threads = max_threads
        self._seconds = seconds
        self._running = 0
        self._silent: Counter[str] = Counter()
        self._changed = threading.Condition()

    def call(self, subject: str, function: Callable[[], T]) -> T:
        """Return what a function returns, or raise what it raises.

        Raises SourceSilent where that takes too long, or an earlier call about the same subject still hangs.
        """
        ends_at = time.monotonic() + self._seconds
        call = _Call(subject, function)
        with self._changed:
            while self._running >= self._max_threads:
                is_hopeless = self._silent.total() >= self._max_threads or subject in self._silent
                if is_hopeless or not self._changed.wait(ends_at - time.monotonic()):
                    raise _silent(subject)
            if subject in self._silent:
                raise _silent(subject)
            # A daemon: no end of a process waits for it.
            threading.Thread(target=self._run, args=(call,), name="searchkit-patience", daemon=True).start()
            self._running += 1
            while not call.is_done:
                if not self._changed.wait(ends_at - time.monotonic()) and not call.is_done:
                    call.is_given_up = True
                    self._silent[subject] += 1
                    self._changed.notify_all()
                    raise _silent(subject)
        return call.result()

    def _run(self, call: "_Call[T]") -> None:
        call.run()
        with self._changed:
            call.is_done = True
            self._running -= 1
            if call.is_given_up:
                self._silent[call.subject] -= 1
                self._silent += Counter()
            self._changed.notify_all()


class _Call(Generic[T]):
    """One call, and what came of it."""

    def __init__(self, subject: str, function: Callable[[], T]) -> None:
        self.subject = subject
        self.is_done = False
        self.is_given_up = False
        self._function = function
        self._values: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._values.append(self._function())
        except BaseException as error:  # raised again where it is awaited
            self._error = error

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._values[0]


def _silent(subject: str) -> SourceSilent:
    return SourceSilent(
        f"{subject} does not answer", "look whether the disk or the network that it lies on is there, and try again"
    )
