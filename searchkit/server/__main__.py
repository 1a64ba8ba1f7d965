"""The program of the resident process: alone on its index, reachable before slow imports, gone when idle."""

import argparse
import os
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from searchkit.client import connect
from searchkit.errors import NotPrivate
from searchkit.system.locks import hold, leave

# Connections that wait while everything is imported, and while 50 clients ask at once.
BACKLOG = 512
# A process that leaves finishes its answers first, but no longer than this; see `server.GRACE_SECONDS`.
LEAVING_SECONDS = 5.0
RETRY_SECONDS = 0.05
# A fifth of what is usual.
SWITCH_SECONDS = 0.001
WENT_WRONG = 2


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Serve an index until nobody asks any more; where that is done already, leave quietly."""
    chosen = _parser().parse_args(arguments)
    # Everything that is made from here on is its owner's only.
    os.umask(0o077)
    index = Path(os.path.abspath(chosen.index))
    if not index.is_dir():
        _fail(f"there is no index in {index}")
    try:
        connect.check(index)
        lock = _take_lock(index)
        if lock is None:
            sys.exit(0)
        listening = listen(index)
    except NotPrivate as error:
        _fail(f"{error.message}\n{error.hint}")
    except OSError as error:
        _fail(f"cannot listen beside {index}: {error}")
    if not chosen.foreground:
        _detach()
    # Takes a third of a second; clients can connect meanwhile, and wait.
    from searchkit.server.server import serve
    from searchkit.system.process import give_back, spare

    give_back()
    spare()
    # Threads that answer should not wait long for threads that compute: each keeps Python's one lock for so long.
    sys.setswitchinterval(SWITCH_SECONDS)
    status = WENT_WRONG
    try:
        status = serve(index, tuple(chosen.root), listening, chosen.port)
    except NotPrivate as error:
        sys.stderr.write(f"searchkit: {error.message}\n{error.hint}\n")
    else:
        with suppress(OSError):
            leave(lock)
    # Threads that follow changes or load a model are not waited for: nothing they do is lost by a kill.
    os._exit(status)


def listen(index: Path) -> socket.socket:
    """Listen on the socket of an index, in place of one that a killed process left; on Windows on a loopback port."""
    if sys.platform == "win32":
        from searchkit.server.security import loopback

        listening = loopback(0, BACKLOG)
    else:
        path = connect.socket_path(index)
        # Renamed once it listens, so that a client that finds it is answered.
        beside = path.with_name(f"{path.name}.new")
        beside.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(str(beside))
        beside.chmod(0o600)
        listening.listen(BACKLOG)
        beside.replace(path)
    listening.setblocking(False)
    return listening


def _take_lock(index: Path) -> int | None:
    """Take the lock for life, waiting for one that is leaving: it has the lock still, but answers no more."""
    ends_at = time.monotonic() + LEAVING_SECONDS
    while (lock := hold(connect.lock_path(index))) is None:
        if _is_answered(index) or time.monotonic() > ends_at:
            return None
        time.sleep(RETRY_SECONDS)
    return lock


def _is_answered(index: Path) -> bool:
    if sys.platform == "win32":
        return connect.door(index) is not None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        try:
            asking.connect(str(connect.socket_path(index)))
        except OSError:
            return False
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="searchkit.server", description=__doc__)
    parser.add_argument("--index", required=True, metavar="DIR", help="the index to serve")
    parser.add_argument("--root", action="append", default=[], metavar="DIR", help="follow this root instead")
    parser.add_argument("--port", type=int, metavar="N", help="listen on this loopback port, too; 0 is any free one")
    parser.add_argument("--foreground", action="store_true", help="keep the terminal of the process that started it")
    return parser


def _detach() -> None:
    """Hold on to nothing of the process that started it: no terminal, no pipe, no directory."""
    if sys.platform != "win32":
        # The leader of a process group, as a job of a shell is, cannot leave its session.
        with suppress(OSError):
            os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    os.chdir(os.path.abspath(os.sep))


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"searchkit: {message}\n")
    sys.exit(WENT_WRONG)


if __name__ == "__main__":
    main()
