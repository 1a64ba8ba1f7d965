"""Asks the resident process of an index, and starts it; nothing is imported here that takes time.

What it speaks is HTTP 1.0: an answer ends where the connection does, and one that was cut off is known by
its length, or by being no JSON.
"""

import os
import sys

from searchkit.client import address as place
from searchkit.errors import NotPrivate

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence

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

    if place.HAS_SOCKETS:
        try:
            path = place.socket_path(index)
            place.check_socket(index, path)
        except (OSError, NotPrivate) as error:
            raise NoAnswer(str(error)) from error
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        address: str | tuple[str, int] = path
        credentials = []
    else:
        door = place.door(index)
        if door is None:
            raise NobodyThere
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        address, credentials = ("127.0.0.1", int(door["port"])), [f"Authorization: Bearer {door['token']}"]
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
