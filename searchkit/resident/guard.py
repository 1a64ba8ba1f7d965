"""Who may ask: nobody from elsewhere, nobody without the token where one is needed, nobody too much or too often."""

import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searchkit.errors import Refused
from searchkit.resident.doors import Door
from searchkit.resident.refusing import refused
from searchkit.resident.service import Service

# Questions are short; the longest a client sends is a command with its arguments.
MOST_BODY_BYTES = 1 << 20
# 50 clients at once are served; what is beyond this would wait for longer than anybody does.
MOST_AT_ONCE = 128
NAMES = ("localhost", "127.0.0.1", "[::1]")
READING = ("GET", "HEAD")
SECURITY: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
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
        self._cookie = f"searchkit-{door.port}"
        # Browsers send a cookie to every port of a host, so it is not the token itself, which opens more.
        self._pass = hmac.new((door.token or "").encode(), b"reading", "sha256").hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            return
        sender = _Sender(send)
        with self._service.answering():
            try:
                await self._let_in(scope, receive, sender)
            except Refused as refusal:
                if sender.has_begun:
                    raise
                await _answer(refusal, Headers(scope=scope))(scope, receive, sender)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._service.running > MOST_AT_ONCE:
            raise Refused(503, "too many requests at once", "try again in a moment")
        self._check_place(Headers(scope=scope))
        first = self._check_token(scope) if self._door.token is not None else None
        await (first or self._application)(scope, _bounded(Headers(scope=scope), receive), send)

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

    def _check_token(self, scope: Scope) -> RedirectResponse | None:
        """Refuse who brings no token; who brings it in the first address is sent on with a cookie."""
        headers = Headers(scope=scope)
        is_reading = scope["method"] in READING
        scheme, _, value = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(value.strip()):
            return None
        # A cookie comes along with whatever a browser asks, so it opens nothing that changes anything.
        if is_reading and hmac.compare_digest(_cookie(headers, self._cookie).encode(), self._pass.encode()):
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in asked if name == "token"]
        if is_reading and tokens and self._is_token(tokens[0]):
            return self._sent_on(scope["path"], [pair for pair in asked if pair[0] != "token"])
        raise Refused(401, "a token is needed here", "searchkit serve --open opens the address that has it")

    def _sent_on(self, path: str, asked: list[tuple[str, str]]) -> RedirectResponse:
        # Only a path: what begins with two slashes would lead to another host.
        address = "/" + path.lstrip("/") + (f"?{urlencode(asked)}" if asked else "")
        response = RedirectResponse(address, 303)
        response.set_cookie(self._cookie, self._pass, httponly=True, samesite="strict", path="/")
        return response

    def _is_token(self, value: str) -> bool:
        return hmac.compare_digest(value.encode("utf-8", "replace"), (self._door.token or "").encode())


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


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
