"""The doors of the process: the socket that only its owner can reach, and a loopback port that wants a token."""

import json
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from searchkit.server import address as place
from searchkit.system.files import write_private

# 32 bytes from the operating system: not to be guessed.
TOKEN_BYTES = 32


class Door:
    """Where requests come in; on a port they must bring a token, that of the page only to read."""

    def __init__(self, listening: socket.socket) -> None:
        """Take a socket that listens already."""
        self.listening = listening
        is_port = listening.family in (socket.AF_INET, socket.AF_INET6)
        self.port: int | None = listening.getsockname()[1] if is_port else None
        self.token = secrets.token_urlsafe(TOKEN_BYTES) if is_port else None
        self.page_token = secrets.token_urlsafe(TOKEN_BYTES) if is_port else None

    @property
    def address(self) -> str:
        """The first address to open in a browser, which holds the token of the page."""
        assert self.port is not None
        assert self.page_token is not None
        return place.address(self.port, self.page_token)


class Doors:
    """All doors that are open, of which at most one is a port."""

    def __init__(self, index: Path, listening: socket.socket) -> None:
        """Begin with the first door; a port that an earlier process had is no longer told."""
        self._path = place.door_path(index)
        self._path.unlink(missing_ok=True)
        self._doors: list[Door] = []
        self._add(Door(listening))

    def __iter__(self) -> Iterator[Door]:
        """Go through the doors."""
        return iter(self._doors)

    @property
    def port(self) -> Door | None:
        """The door that is a port, where there is one."""
        return next((door for door in self._doors if door.port is not None), None)

    def add_port(self, port: int) -> Door:
        """Listen on a loopback port, any free one for 0; raises OSError where it is taken."""
        listening = loopback(port)
        listening.setblocking(False)
        return self._add(Door(listening))

    def forget(self) -> None:
        """Tell nobody of a port any more."""
        self._path.unlink(missing_ok=True)

    def _add(self, door: Door) -> Door:
        self._doors.append(door)
        if door.port is not None:
            told = {"pid": os.getpid(), "port": door.port, "token": door.token, "page_token": door.page_token}
            write_private(self._path, json.dumps(told).encode())
        return door


def loopback(port: int, backlog: int | None = None) -> socket.socket:
    """Listen on a loopback port, any free one for 0; raises OSError where it is taken."""
    listening = socket.create_server(("127.0.0.1", port), backlog=backlog)
    # What connects has it from here. Else an answer in two pieces waits 40 ms for the first to be acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
