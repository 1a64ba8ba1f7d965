"""Files and directories that are the user's alone: checked, opened without following links, and written whole.

The client of the resident process imports this, so it imports almost nothing.
"""

import errno
import os
import stat
import sys

from searchkit.errors import NotPrivate

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    Path = str | os.PathLike[str]

PRIVATE_MODE = 0o600
# Another process may write the same file at the same moment; a third one at the very same moment is not believable.
MAX_ATTEMPTS = 3
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# Windows has neither users' numbers nor these flags; there the profile's access list keeps others out.
_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def check_owned(path: "Path", *, may_be_link: bool = False) -> None:
    """Raise NotPrivate unless a file or directory belongs to this user and nobody else can write it.

    A symbolic link must lead to something in its own directory, or below it. With `may_be_link` it may lead
    anywhere: for a directory that the user named, who may keep it on another disk. The link and what it leads to
    must be his in both cases. Parents are not looked at: another user's file here would be owned by that user.
    Raises OSError (FileNotFoundError, PermissionError) where the path cannot be looked at.
    """
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        _check_owner(path, found)
        real, parent = os.path.realpath(path), os.path.realpath(os.path.dirname(os.path.abspath(path)))
        if not may_be_link and os.path.commonpath([real, parent]) != parent:
            raise _link(path, f"that leads to {real}")
        found = os.stat(path)
    _check(path, found)


def open_private(path: "Path", flags: int) -> int:
    """Open a regular file of the user's own and return its descriptor; with O_CREAT it is made with mode 0600.

    No link is followed, nothing is waited for, and nothing is emptied (O_TRUNC) before it is checked. A file that
    others could read is closed to them when it is opened for writing. Raises NotPrivate for what is not the
    user's own, and OSError as `os.open` does.
    """
    truncates = flags & os.O_TRUNC
    try:
        descriptor = os.open(path, flags & ~os.O_TRUNC | _CAREFULLY | _BINARY, PRIVATE_MODE)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK) and os.path.islink(path):
            raise _link(path, "and is not followed") from error
        if error.errno == errno.ENXIO:
            # A pipe that nobody reads, or a socket.
            raise _no_file(path) from error
        raise
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _no_file(path)
        _check(path, found)
        if sys.platform != "win32" and flags & (os.O_WRONLY | os.O_RDWR) and found.st_mode & 0o077:
            os.fchmod(descriptor, PRIVATE_MODE)
        if truncates:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_private(path: "Path", max_bytes: int = 1 << 20) -> bytes:
    """Return the content of a small file of the user's own, at most so many bytes; raises as `open_private` does."""
    with open(open_private(path, os.O_RDONLY), "rb") as opened:
        return opened.read(max_bytes)


def write_private(path: "Path", content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all.

    It is written beside, with the suffix `.new` in place of its own, and renamed once it is on the disk.
    What is there under either name is replaced, never followed or written to.
    """
    beside = f"{os.path.splitext(path)[0]}.new"
    for attempt in range(1, MAX_ATTEMPTS + 1):
        remove(beside)
        try:
            descriptor = open_private(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except FileExistsError:
            if attempt == MAX_ATTEMPTS:
                raise
    try:
        with open(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(descriptor)
        os.replace(beside, path)
    except BaseException:
        remove(beside)
        raise


def remove(path: "Path") -> None:
    """Take a file, a link, a pipe or a socket away, where there is one."""
    try:  # noqa: SIM105  # `contextlib` takes a while to import
        os.unlink(path)
    except FileNotFoundError:
        pass


def _check(path: "Path", found: os.stat_result) -> None:
    _check_owner(path, found)
    if sys.platform != "win32" and found.st_mode & _OTHERS_WRITE:
        raise NotPrivate(
            f"{os.fspath(path)} can be written by other users",
            f"look whether what is in it is yours, then take that away from them: chmod go-w {_quoted(path)}",
        )


def _check_owner(path: "Path", found: os.stat_result) -> None:
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        raise NotPrivate(
            f"{os.fspath(path)} belongs to another user (number {found.st_uid})",
            "it may have been put there to read what you index, or to answer in your place; "
            "remove it, or name another place (--index for an index)",
        )


def _link(path: "Path", what: str) -> NotPrivate:
    return NotPrivate(
        f"{os.fspath(path)} is a symbolic link {what}",
        f"remove it if you did not make it: rm {_quoted(path)}",
    )


def _no_file(path: "Path") -> NotPrivate:
    return NotPrivate(f"{os.fspath(path)} is no regular file", f"remove it if you did not make it: rm {_quoted(path)}")


def _quoted(path: "Path") -> str:
    # Only who is refused waits for it.
    import shlex

    return shlex.quote(os.fspath(path))
