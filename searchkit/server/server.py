"""The uvicorn server: answers on the open sockets, notices when it is time to leave, and keeps a log."""

import asyncio
import copy
import faulthandler
import io
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from searchkit.backends.registry import find_store
from searchkit.client import connect
from searchkit.errors import IndexMissing, Refused, SearchkitError
from searchkit.server.app import application
from searchkit.server.run_command import is_outdated
from searchkit.server.security import Door, Doors, Guard
from searchkit.server.service import Service
from searchkit.system import locks
from searchkit.system.files import open_private
from searchkit.text.sanitize import safe
from searchkit.text.secrets import mask

# The log of the process: a small file in the index that says why it ended, and never what a transcript says.


# With the one before it, half a megabyte at most.
MOST_BYTES = 256 << 10
_APPENDED = os.O_CREAT | os.O_WRONLY | os.O_APPEND


@contextmanager
def kept(index: Path) -> Iterator[None]:
    """Write what is logged meanwhile into the index, and there too where the process crashes, and by which signal.

    Raises NotPrivate where the file there is not the user's alone.
    """
    handler = _Handler(connect.log_path(index), maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8")
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


# An upgrade under the process is noticed with the next command anyhow.
OUTDATED_SECONDS = 20.0


class Presence:
    """The files by which the process is found; those of a successor are never touched."""

    def __init__(self, index: Path, doors: Doors) -> None:
        """Remember what is there now."""
        self._index = index
        self._store = find_store(index)
        self._doors = doors
        self._directory = _identity(index)
        self._path = connect.socket_path(index) if connect.HAS_SOCKETS else connect.door_path(index)
        self._file = _identity(self._path)
        is_outdated()
        self._is_missing = False

    def lost(self) -> str | None:
        """Say what is gone or became another, or None while all is as it was."""
        if _identity(self._index) != self._directory:
            return "the directory of the index is gone"
        if connect.HAS_SOCKETS and _identity(self._path) != self._file:
            return "its socket is gone"
        if is_outdated(OUTDATED_SECONDS):
            return "searchkit was changed or removed"
        try:
            self._store.check()
        except IndexMissing as error:
            # A rebuild of an unreadable index moves it aside first, which takes a moment.
            was_missing, self._is_missing = self._is_missing, True
            return error.message if was_missing else None
        except SearchkitError as error:
            return error.message
        self._is_missing = False
        return None

    def leave(self) -> None:
        """Take away what leads here, so that the next client starts another process at once."""
        if _identity(self._index) == self._directory:
            self._doors.forget()
        if connect.HAS_SOCKETS and _identity(self._path) == self._file:
            self._path.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


# The server: answers on the doors that are open, and notices when it is time to leave.

log = logging.getLogger(__name__)

# After so long without a question it leaves; the next client starts it again, which takes about a second.
IDLE_SECONDS = 900.0
IDLE_VARIABLE = "SEARCHKIT_IDLE_SECONDS"
# Answers that are under way when it leaves get so long to end.
GRACE_SECONDS = 3
# Whether the index is still there and still of our format is looked at this often.
LOOK_SECONDS = 2.0
# A client that keeps its connection asks again within this, or connects again.
KEEP_ALIVE_SECONDS = 75
WENT_WRONG = 2


def serve(index: Path, roots: Sequence[str], listening: socket.socket, port: int | None) -> int:
    """Serve until it is time to leave; return the status to leave with."""
    with kept(index):
        if died := locks.died_before(connect.lock_path(index)):
            log.warning(
                "process %d before this one did not leave by itself: it crashed, as told above, or was killed", died
            )
        try:
            find_store(index).check()
            server = Server(index, roots, listening, port)
        except (SearchkitError, OSError) as error:
            log.error("cannot serve %s: %s", index, error)
            return WENT_WRONG
        log.info("process %d serves %s", os.getpid(), index)
        try:
            asyncio.run(server.serve())
        except BaseException:
            log.critical("process %d dies of a fault", os.getpid(), exc_info=True)
            raise
        log.info("process %d leaves: %s", os.getpid(), server.reason)
    return 0


class Server(uvicorn.Server):
    """Uvicorn's server, which wakes ten times a second to look whether it should end; this one is woken."""

    def __init__(self, index: Path, roots: Sequence[str], listening: socket.socket, port: int | None) -> None:
        """Open the doors; raises where the port is taken."""
        self.reason = "nothing was asked of it"
        self._doors = Doors(index, listening)
        if port is not None:
            self._doors.add_port(port)
        self._presence = Presence(index, self._doors)
        self._service = Service(index, roots, self)
        self._application = application(self._service)
        super().__init__(self._config(self._application))

    @property
    def doors(self) -> Doors:
        """Where it is reached."""
        return self._doors

    def leave(self, reason: str) -> None:
        """Leave as soon as the answers under way have been given."""
        self.reason = reason
        self.should_exit = True
        self._leaving.set()

    async def open_port(self, port: int) -> Door:
        """Listen on a loopback port, too, and return its door; one that is open already stays the only one."""
        door = self._doors.port
        if door is None:
            door = self._doors.add_port(port)
            await self._open(door)
        elif port not in (0, door.port):
            raise Refused(409, f"it listens on port {door.port} already", "searchkit serve --stop ends that")
        return door

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer at every door."""
        asyncio.get_running_loop().set_exception_handler(task_died)
        self._leaving = asyncio.Event()
        self.servers = []
        for door in self._doors:
            await self._open(door)
        self._service.start()
        self.started = True

    async def main_loop(self) -> None:
        """Wait until somebody says to leave, or there is nobody and nothing left to serve."""
        idle_seconds = float(os.environ.get(IDLE_VARIABLE) or IDLE_SECONDS)
        loop = asyncio.get_running_loop()
        asked, since = -1, loop.time()
        while not self.should_exit:
            try:
                await asyncio.wait_for(self._leaving.wait(), min(LOOK_SECONDS, idle_seconds))
            except TimeoutError:
                if gone := self._presence.lost():
                    self.leave(gone)
            total = self._service.asked
            if self.server_state.tasks or total != asked:
                asked, since = total, loop.time()
            elif loop.time() - since >= idle_seconds:
                self.leave(f"nobody asked for {idle_seconds:g} s")
        self._presence.leave()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish the answers under way, and close what is open."""
        await super().shutdown(sockets)
        await self._service.close()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave when told to, with status 0; uvicorn would end by the signal itself."""
        for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK"):
            if number := getattr(signal, name, None):
                signal.signal(number, self._told)
        yield

    def _told(self, number: int, frame: FrameType | None) -> None:
        asyncio.get_running_loop().call_soon_threadsafe(self.leave, signal.Signals(number).name)

    async def _open(self, door: Door) -> None:
        config = self._config(Guard(self._application, door, self._service))
        config.load()
        server = await asyncio.get_running_loop().create_server(
            lambda: H11Protocol(config=config, server_state=self.server_state, app_state={}), sock=door.listening
        )
        self.servers.append(server)

    def _config(self, application: object) -> uvicorn.Config:
        return uvicorn.Config(
            application,  # type: ignore[arg-type]  # an ASGI application, of which uvicorn has types of its own
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            # Nothing stands before it, so nobody may say where a request came from.
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
