"""Asks the resident process of an index, and starts it; nothing is imported here that takes time.

What it speaks is HTTP 1.0: an answer ends where the connection does, and one that was cut off is known by
its length, or by being no JSON.
"""

import os
import sys

from searchkit.errors import NotPrivate
from searchkit.system import files

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any, TypeVar

    # Clients have strings: to import what paths are made of takes as long as to ask.
    Place = TypeVar("Place", str, Path)


# An environment variable that says to do without the resident process.
SWITCH = "SEARCHKIT_NO_RESIDENT"
# A process that works on an answer says so several times as often: `mcp/http.py` derives it from this.
SILENCE_SECONDS = 1.0
_PIECE_BYTES = 65_536


class NobodyThere(Exception):
    """No process serves the index."""


class NoAnswer(Exception):
    """A process serves the index, but it does not answer, or died while it did."""


def ask(
    index: str, method: str, path: str, body: bytes = b"", headers: "Mapping[str, str] | None" = None
) -> tuple[int, bytes]:
    """Return the status and the body of the answer to a request."""
    connection, credentials = connected(index)
    fields = [*credentials, *(f"{name}: {value}" for name, value in (headers or {}).items())]
    try:
        with connection:
            connection.sendall(request(method, path, body, fields))
            answer = bytearray()
            while piece := connection.recv(_PIECE_BYTES):
                answer += piece
    except OSError as error:
        raise NoAnswer(f"it went silent: {error}") from error
    return taken_apart(bytes(answer))


def request(method: str, path: str, body: bytes, fields: "Sequence[str]") -> bytes:
    """Write a request; the fields are lines of its head."""
    lines = [f"{method} {path} HTTP/1.0", "Host: localhost", f"Content-Length: {len(body)}", *fields, "", ""]
    return "\r\n".join(lines).encode() + body


def start(index: str, options: "Sequence[str]" = ()) -> None:
    """Start the process that serves an index, which goes on by itself; where there is one already, that stays."""
    command = [sys.executable, "-P", "-m", "searchkit.server", "--index", index, *options]
    if hasattr(os, "posix_spawn"):
        # A fifth of the time that `subprocess` takes to import.
        nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        try:
            os.posix_spawn(sys.executable, command, os.environ, file_actions=nothing, setsid=True)
        except (NotImplementedError, OSError):
            pass
        else:
            return
    from subprocess import DEVNULL, Popen

    apart = {"creationflags": 0x00000008} if sys.platform == "win32" else {"start_new_session": True}
    Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, **apart)


def connected(index: str) -> "tuple[socket.socket, list[str]]":
    """Connect to the process; on Windows by a port, with the token that only the owner of the index can read."""
    import socket

    if HAS_SOCKETS:
        try:
            path = socket_path(index)
            check_socket(index, path)
        except (OSError, NotPrivate) as error:
            raise NoAnswer(str(error)) from error
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        address: str | tuple[str, int] = path
        credentials = []
    else:
        found = door(index)
        if found is None:
            raise NobodyThere
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        address, credentials = ("127.0.0.1", int(found["port"])), [f"Authorization: Bearer {found['token']}"]
    connection.settimeout(SILENCE_SECONDS)
    try:
        connection.connect(address)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        connection.close()
        raise NobodyThere from error
    except OSError as error:
        connection.close()
        raise NoAnswer(str(error)) from error
    return connection, credentials


def taken_apart(answer: bytes) -> tuple[int, bytes]:
    """Return status and body of an answer that is whole."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *fields = head.split(b"\r\n")
    try:
        status = int(first.split(b" ", 2)[1])
    except (IndexError, ValueError):
        raise NoAnswer("it died before it answered") from None
    lengths = [field.partition(b":")[2] for field in fields if field.lower().startswith(b"content-length:")]
    if lengths and len(body) != int(lengths[0]):
        raise NoAnswer("it died while it answered")
    return status, body


# Where the process is reached, for itself and for its clients, who must not wait for imports.


SOCKET = "resident.sock"
LOCK = "resident.lock"
LOG = "resident.log"
DOOR = "resident.json"
FIRST_PAGE = "resident.page.html"
# An address of a Unix socket has 108 bytes on Linux and 104 on macOS; while it is made, its name is longer by four.
MOST_ADDRESS_BYTES = 100
HAS_SOCKETS = sys.platform != "win32"
# What `stat.S_IFMT` leaves, and `stat.S_IFDIR`, without importing them.
_KIND_BITS, _DIRECTORY = 0o170000, 0o040000


def socket_path(index: "Place") -> "Place":
    """Return the socket of an index: in it, or, where that path is too long, in a directory of the user's own.

    Raises NotPrivate where such a directory is not the user's alone, and OSError where there can be none.
    """
    path = os.path.join(index, SOCKET)
    if len(os.fsencode(path)) <= MOST_ADDRESS_BYTES:
        return type(index)(path)
    # Almost nobody's path is that long.
    import hashlib

    name = hashlib.blake2b(os.fsencode(os.path.realpath(index)), digest_size=12).hexdigest()
    return type(index)(os.path.join(_runtime_directory(), f"{name}.sock"))


def check(index: "str | Path") -> None:
    """Raise NotPrivate where an index, or anything that leads to its process, is not the user's alone."""
    files.check_owned(index, may_be_link=True)
    for name in (SOCKET, LOCK, LOG, DOOR, FIRST_PAGE):
        _check_where_there_is(os.path.join(index, name))
    if HAS_SOCKETS:
        # It may lie elsewhere.
        _check_where_there_is(socket_path(os.fspath(index)))


def check_socket(index: "str | Path", path: str) -> None:
    """Raise NotPrivate where somebody else could answer at a socket in place of the process."""
    _check_where_there_is(index, may_be_link=True)
    _check_where_there_is(path)


def lock_path(index: "Path") -> "Path":
    """Return the file whose lock the process holds for as long as it lives."""
    return index / LOCK


def log_path(index: "Path") -> "Path":
    """Return the file that the process writes its log to."""
    return index / LOG


def door_path(index: "Path") -> "Path":
    """Return the file that names the loopback port and the token, where there is one; only its owner can read it."""
    return index / DOOR


def door(index: "str | Path") -> "dict[str, Any] | None":
    """Return `port`, `token`, `page_token` and `pid` of a process that listens on a loopback port, or None.

    Raises NotPrivate where somebody else could have written them.
    """
    # Only Windows, and commands that show the address, ask for it.
    import json

    try:
        read = json.loads(files.read_private(os.path.join(index, DOOR)))
    except (OSError, ValueError):
        return None
    return read if isinstance(read, dict) and {"port", "token", "page_token", "pid"} <= read.keys() else None


def address(port: int, page_token: str) -> str:
    """Return the first address to open in a browser; what stands behind # is for the page only, and is not sent."""
    return f"http://127.0.0.1:{port}/#token={page_token}"


def _check_where_there_is(path: "str | Path", may_be_link: bool = False) -> None:
    try:
        files.check_owned(path, may_be_link=may_be_link)
    except FileNotFoundError:
        return


def _runtime_directory() -> str:
    """Make a directory of the user's own below the one for sockets, or below that for temporary files."""
    parent = os.environ.get("XDG_RUNTIME_DIR")
    if not parent:
        # It looks for a directory that can be written.
        import tempfile

        parent = tempfile.gettempdir()
    user = os.getuid() if sys.platform != "win32" else os.getlogin()
    directory = os.path.join(parent, f"searchkit-{user}")
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        _check_runtime_directory(directory)
    return directory


def _check_runtime_directory(directory: str) -> None:
    """Refuse a directory that somebody else made before us: he could answer in our place."""
    # A link is no directory, wherever it leads.
    found = os.lstat(directory)
    if found.st_mode & _KIND_BITS != _DIRECTORY:
        raise NotPrivate(
            f"{directory} is not a directory", "remove it, or set XDG_RUNTIME_DIR to a directory of your own"
        )
    files.check_owned(directory)
    if sys.platform != "win32" and found.st_mode & 0o077:
        os.chmod(directory, 0o700)
