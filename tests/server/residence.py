"""A root, its index, and the real process that serves it, which ends with the test."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from searchkit import Engine
from searchkit.client import connect, control
from tests.support.transcript import Home

T = TypeVar("T")

SESSION = "11111111-1111-4111-8111-111111111111"
# Far more than anything takes, also on a busy machine.
SECONDS_FOR_ANYTHING = 60.0
PAUSE_SECONDS = 0.02
# What the process is told, so that nothing of whoever runs the tests counts.
ENVIRONMENT = {"SEARCHKIT_MODEL": "fake", "SEARCHKIT_IDLE_SECONDS": "600"}


class Reply(NamedTuple):
    """What came back over a connection."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class Residence:
    """Starts processes for one index and ends them."""

    def __init__(self, directory: Path) -> None:
        self.home = Home(directory / "claude")
        self.index = directory / "index"
        self.processes: list[subprocess.Popen[bytes]] = []

    def build(self, with_vectors: bool = False) -> None:
        """Bring the index up to date, without the process."""
        with Engine(self.index, [self.home.root], "fake") as engine:
            engine.index(with_vectors=with_vectors)

    def start(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a process, which may find that there is one already."""
        command = [sys.executable, "-m", "searchkit.server", "--index", str(self.index), "--foreground", *options]
        process = subprocess.Popen(command, env={**os.environ, **ENVIRONMENT, **environment}, stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def serve(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a process and wait until it answers."""
        process = self.start(*options, **environment)
        wait_for(lambda: (said := control.health(self.index)) and said["pid"] == process.pid)
        return process

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
        """Ask over the socket; return the status and the decoded answer."""
        reply = self.send(request(path, headers=headers))
        return reply.status, reply.json

    def found(self, words: str, mode: str = "keyword") -> int:
        """Count what a search finds."""
        status, answer = self.get(f"/v1/search?q={words}&mode={mode}")
        assert 200 == status, answer
        return int(answer["total"])

    def send(self, request: bytes, port: int | None = None) -> Reply:
        """Send bytes as they are, over the socket or to a port, and read what comes until the end."""
        with self.connected(port) as connection:
            connection.sendall(request)
            return read(connection)

    def connected(self, port: int | None = None) -> socket.socket:
        """Connect to the socket or to a port."""
        if port is None:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.connect(str(connect.socket_path(self.index)))
        else:
            connection = socket.create_connection(("127.0.0.1", port))
        connection.settimeout(SECONDS_FOR_ANYTHING)
        return connection

    def close(self) -> None:
        """End whatever was started."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.communicate(timeout=SECONDS_FOR_ANYTHING)


def wait_for(condition: Callable[[], T | None]) -> T:
    """Ask again and again until something is so, and return what was said."""
    ends_at = time.monotonic() + SECONDS_FOR_ANYTHING
    while not (said := condition()):
        assert time.monotonic() < ends_at, "it did not come to be"
        time.sleep(PAUSE_SECONDS)
    return said


def request(
    path: str, method: str = "GET", body: bytes = b"", headers: Mapping[str, str] | None = None, **more: str
) -> bytes:
    """Write a request by hand; a header that is given as empty is left out."""
    told = {"Host": "localhost", "Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
    told |= {name.replace("_", "-"): value for name, value in more.items()}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read(connection: socket.socket) -> Reply:
    """Read an answer to its end; who refuses a request before he has read all of it may hang up behind the answer."""
    answer = bytearray()
    try:
        while piece := connection.recv(65_536):
            answer += piece
    except ConnectionResetError:
        if not answer:
            raise
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Reply(int(first.split(" ")[1]), headers, body)
