"""The log of the process: a small file in the index that says why it ended, and never what a transcript says."""

import asyncio
import copy
import faulthandler
import io
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

from searchkit.client import address
from searchkit.system.files import open_private
from searchkit.text.sanitize import safe
from searchkit.text.secrets import mask

log = logging.getLogger(__name__)

# With the one before it, half a megabyte at most.
MOST_BYTES = 256 << 10
_APPENDED = os.O_CREAT | os.O_WRONLY | os.O_APPEND


@contextmanager
def kept(index: Path) -> Iterator[None]:
    """Write what is logged meanwhile into the index, and there too where the process crashes, and by which signal.

    Raises NotPrivate where the file there is not the user's alone.
    """
    handler = _Handler(address.log_path(index), maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8")
    handler.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # It tells of every start and every connection that ends early.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    sys.excepthook = _died
    threading.excepthook = _thread_died
    sys.unraisablehook = _unraisable
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook, sys.unraisablehook = before
        root.removeHandler(handler)
        handler.close()


def task_died(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what nobody handled in a loop; asyncio itself would write the error's message, which may quote a text."""
    error = context.get("exception")
    log.error("a task failed", exc_info=error if isinstance(error, BaseException) else None)


class _Handler(RotatingFileHandler):
    """Opens the log for its owner only, without following links, and hands it to what notices crashes."""

    _crashes: int | None = None

    def close(self) -> None:
        """Close the log; crashes are not noticed any more."""
        faulthandler.disable()
        super().close()
        if self._crashes is not None:
            os.close(self._crashes)
            self._crashes = None

    def _open(self) -> io.TextIOWrapper:
        opened = os.fdopen(open_private(self.baseFilename, _APPENDED), "a", encoding=self.encoding)
        # A descriptor of its own, closed only after the next one took its place: a crash while the log is changed
        # for a new one must not be written into whatever file has got the old number by then.
        crashes, before = os.dup(opened.fileno()), self._crashes
        faulthandler.enable(crashes, all_threads=True)
        self._crashes = crashes
        if before is not None:
            os.close(before)
        return opened


class _Formatter(logging.Formatter):
    """Writes where an error arose, and not its message, which may quote what was asked or found."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a line as text; what another handler has made of an error, with its message, is not used."""
        told = copy.copy(record)
        told.exc_text = None
        # Lines name files, whose names may be anything.
        return mask(safe(super().format(told)))

    def formatException(self, ei: object) -> str:  # noqa: N802  # logging names it so
        """Return the lines of code, and the kind of the error."""
        # Only a fault of the process's own comes here.
        import traceback

        assert isinstance(ei, tuple)
        return "".join([*traceback.format_tb(ei[2]), getattr(ei[0], "__name__", "")])


def _died(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    log.critical("process %d dies of a fault", os.getpid(), exc_info=(kind, error, trace))


def _thread_died(died: "threading.ExceptHookArgs") -> None:
    if died.exc_value is not None and died.exc_type is not SystemExit:
        name = died.thread.name if died.thread else "of no name"
        log.error("the thread %s died", name, exc_info=(died.exc_type, died.exc_value, died.exc_traceback))


def _unraisable(failed: "sys.UnraisableHookArgs") -> None:
    if failed.exc_value is not None:
        log.error("an error came too late", exc_info=(failed.exc_type, failed.exc_value, failed.exc_traceback))
