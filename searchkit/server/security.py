"""Who may connect: the socket of its owner, a loopback port with a token, no foreign host or page."""

import hmac
import json
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searchkit.client import connect
from searchkit.client import connect as place
from searchkit.errors import Refused
from searchkit.server.app import refused
from searchkit.server.service import Service
from searchkit.system.files import write_private
from searchkit.web.files import is_public

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


# Who may ask: nobody from elsewhere, nobody without the token where one is needed, nobody too much or too often.

# Questions are short; the longest a client sends is a command with its arguments.
MOST_BODY_BYTES = 1 << 20
# 50 clients at once are served; what is beyond this would wait for longer than anybody does.
MOST_AT_ONCE = 128
# Of these the page may take half, so that commands and agents, who come by the socket, are always let in.
MOST_AT_ONCE_BY_PORT = MOST_AT_ONCE // 2
NAMES = ("localhost", "127.0.0.1", "[::1]")
READING = ("GET", "HEAD")
SECURITY: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; worker-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class Guard:
    """Stands at a door, before the application."""

    def __init__(self, application: ASGIApp, door: Door, service: Service) -> None:
        """Guard one door."""
        self._application = application
        self._door = door
        self._service = service
        self._running = 0
        self._most = MOST_AT_ONCE if door.port is None or not connect.HAS_SOCKETS else MOST_AT_ONCE_BY_PORT

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            return
        sender = _Sender(send)
        self._running += 1
        try:
            with self._service.answering():
                try:
                    await self._let_in(scope, receive, sender)
                except Refused as refusal:
                    if sender.has_begun:
                        raise
                    await _answer(refusal, Headers(scope=scope))(scope, receive, sender)
        finally:
            self._running -= 1

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._service.running > MOST_AT_ONCE or self._running > self._most:
            raise Refused(503, "too many requests at once", "try again in a moment")
        self._check_place(Headers(scope=scope))
        if self._door.token is not None:
            self._check_token(scope)
        await self._application(scope, _bounded(Headers(scope=scope), receive), send)

    def _check_place(self, headers: Headers) -> None:
        """Refuse a page from elsewhere, also one whose name was made to lead here."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts():
            raise Refused(421, f"this is not {', '.join(hosts) or 'a place without a name'}", "ask localhost")
        for origin in headers.getlist("origin"):
            if origin.lower() not in {f"http://{host}" for host in self._hosts()}:
                raise Refused(403, "pages from elsewhere may not ask", "ask without an Origin")

    def _hosts(self) -> tuple[str, ...]:
        if self._door.port is None:
            return ("localhost",)
        return tuple(f"{name}:{self._door.port}" for name in NAMES)

    def _check_token(self, scope: Scope) -> None:
        """Refuse who brings no token in a header, which no browser does by itself, as it does with cookies.

        The page and its files are anybody's. The page's own token reads, and changes nothing.
        """
        is_reading = scope["method"] in READING
        if is_reading and is_public(scope["path"]):
            return
        scheme, _, value = Headers(scope=scope).get("authorization", "").partition(" ")
        is_token = scheme.lower() == "bearer" and _is_same(value, self._door.token)
        is_page = scheme.lower() == "bearer" and _is_same(value, self._door.page_token)
        if not (is_token or (is_page and is_reading)):
            raise Refused(401, "a token is needed here", "searchkit serve --open opens the page with it")


def _is_same(value: str, token: str | None) -> bool:
    return token is not None and hmac.compare_digest(value.strip().encode("utf-8", "replace"), token.encode())


def _answer(refusal: Refused, headers: Headers) -> Response:
    """Refuse in the form that was asked for: people who follow an address see words."""
    if "text/html" not in headers.get("accept", ""):
        return refused(refusal)
    return PlainTextResponse(f"searchkit: {refusal.message}\n{refusal.hint}\n", refusal.status)


class _Sender:
    """Adds what every answer carries, and knows whether one has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY.items():
                headers.setdefault(name, value)
        await self._send(message)


def _bounded(headers: Headers, receive: Receive) -> Receive:
    """Refuse a body that is too large, by what it says it is, or as soon as it is."""
    told = headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > MOST_BODY_BYTES:
        raise _too_large()
    taken = 0

    async def receive_bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MOST_BODY_BYTES:
            raise _too_large()
        return message

    return receive_bounded


def _too_large() -> Refused:
    return Refused(413, f"a request may have {MOST_BODY_BYTES:,} bytes at most", "ask for less at once")
