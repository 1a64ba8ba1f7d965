"""Where the resident process of an index is reached, for itself and for its clients, who must not wait for imports."""

import errno
import os
import sys

from searchkit.system import files

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, TypeVar

    # Clients have strings: to import what paths are made of takes as long as to ask.
    Place = TypeVar("Place", str, Path)

SOCKET = "resident.sock"
LOCK = "resident.lock"
LOG = "resident.log"
DOOR = "resident.json"
FIRST_PAGE = "resident.page.html"
# An address of a Unix socket has 108 bytes on Linux and 104 on macOS; while it is made, its name is longer by four.
MOST_ADDRESS_BYTES = 100
HAS_SOCKETS = sys.platform != "win32"


def socket_path(index: "Place") -> "Place":
    """Return the socket of an index: in it, or, where that path is too long, in a directory of the user's own.

    Raises OSError where there can be no such directory.
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
    # Only Windows and whoever shows the address asks for it.
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
        found = os.lstat(directory)
        if sys.platform != "win32" and (found.st_uid != user or found.st_mode & 0o170077 != 0o040000):
            # Whoever made it before us could answer in our place.
            raise PermissionError(errno.EPERM, "is not a directory of your own", directory) from None
    return directory
