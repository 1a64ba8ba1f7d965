"""Nobody may ask who is from elsewhere, has no token, or asks for too much."""

from contextlib import ExitStack
from http.cookies import SimpleCookie

import pytest

from searchkit.resident import place
from searchkit.resident.guard import MOST_AT_ONCE, MOST_BODY_BYTES, SECURITY
from tests.resident.residence import Reply, Residence, read, request, wait_for

HEALTH = "/v1/health"


def door(served: Residence) -> tuple[int, str]:
    """Return the port and the token."""
    found = place.door(served.index)
    assert found is not None
    return found["port"], found["token"]


def refusal(reply: Reply) -> str:
    """Return the message of a refusal, which has the form that commands print."""
    error = reply.json["error"]
    assert {"kind", "message", "hint"} == error.keys()
    return str(error["message"])


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "localhost:80", "127.0.0.1", "", "[::1]"])
def test_foreign_host_on_the_socket(served: Residence, host: str) -> None:
    """Over the socket only localhost is meant."""
    reply = served.send(request(HEALTH, Host=host))

    # Without any host the request is no HTTP 1.1.
    assert (421 if host else 400) == reply.status


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "localhost", "127.0.0.1:1", "127.1:{port}"])
def test_foreign_host_on_the_port(served: Residence, host: str) -> None:
    """A name that was made to lead here is refused, also with the token."""
    port, token = door(served)

    reply = served.send(request(HEALTH, Host=host.format(port=port), Authorization=f"Bearer {token}"), port)

    assert 421 == reply.status
    assert refusal(reply)


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}"])
def test_own_hosts_on_the_port(served: Residence, host: str) -> None:
    """All names of this machine are ours."""
    port, token = door(served)

    reply = served.send(request(HEALTH, Host=host.format(port=port), Authorization=f"Bearer {token}"), port)

    assert 200 == reply.status


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost", "https://127.0.0.1:{port}"])
def test_foreign_origin(served: Residence, origin: str) -> None:
    """A page from elsewhere may not ask, whatever it brings."""
    port, token = door(served)
    headers = {"Host": f"127.0.0.1:{port}", "Origin": origin.format(port=port), "Authorization": f"Bearer {token}"}

    reply = served.send(request(HEALTH, headers=headers), port)

    assert 403 == reply.status
    assert refusal(reply)


def test_own_origin(served: Residence) -> None:
    """Our own page may ask."""
    port, token = door(served)
    headers = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}", "Authorization": f"Bearer {token}"}

    assert 200 == served.send(request(HEALTH, headers=headers), port).status


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic {token}"},
        {"Authorization": "Bearer "},
        {"Cookie": "searchkit-{port}=wrong"},
        {"Cookie": "searchkit={token}"},
        {"Cookie": '";=;searchkit-{port}'},
    ],
)
def test_no_token(served: Residence, headers: dict[str, str]) -> None:
    """Over the port nothing is answered without the token, not even what is not there."""
    port, token = door(served)
    told = {name: value.format(port=port, token=token) for name, value in headers.items()}

    replies = [
        served.send(request(path, headers=told, Host=f"127.0.0.1:{port}"), port)
        for path in (HEALTH, "/", "/nowhere", f"{HEALTH}?token=wrong", f"{HEALTH}?token=")
    ]

    assert [401] * 5 == [reply.status for reply in replies]
    assert all(token.encode() not in reply.body for reply in replies)


def test_first_address(served: Residence) -> None:
    """The first address sets a cookie that no script and no other site gets, and leads on without the token."""
    port, token = door(served)
    host = f"127.0.0.1:{port}"

    first = served.send(request(f"/v1/search?q=a%20b&token={token}&limit=1", Host=host), port)
    cookie = SimpleCookie(first.headers["set-cookie"])[f"searchkit-{port}"]
    then = served.send(request(first.headers["location"], Host=host, Cookie=f"{cookie.key}={cookie.value}"), port)

    assert (303, "/v1/search?q=a+b&limit=1") == (first.status, first.headers["location"])
    assert (True, "strict", "/") == (cookie["httponly"], cookie["samesite"], cookie["path"])
    assert 200 == then.status
    # A cookie goes to every port of a host, and the token opens more.
    assert token not in first.headers["set-cookie"]


def test_browser_is_refused_in_words(served: Residence) -> None:
    """Whoever follows an address without the token reads what to do."""
    port, _ = door(served)

    reply = served.send(request("/", Host=f"127.0.0.1:{port}", Accept="text/html,*/*"), port)

    assert (401, True) == (reply.status, b"searchkit serve --open" in reply.body)
    assert reply.headers["content-type"].startswith("text/plain")


def test_first_address_leads_nowhere_else(served: Residence) -> None:
    """A path that looks like another host stays a path."""
    port, token = door(served)

    reply = served.send(request(f"//evil.example/?token={token}", Host=f"127.0.0.1:{port}"), port)

    assert "/evil.example/" == reply.headers["location"]


@pytest.mark.parametrize("path", ["/v1/stop", "/v1/run", "/v1/listen"])
def test_cookie_changes_nothing(served: Residence, path: str) -> None:
    """What is more than reading wants the token itself; a cookie comes along with whatever a browser sends."""
    port, token = door(served)
    host = f"127.0.0.1:{port}"
    first = served.send(request(f"/?token={token}", Host=host), port)
    cookie = first.headers["set-cookie"].partition(";")[0]

    replies = [
        served.send(request(address, "POST", Host=host, Cookie=cookie), port)
        for address in (path, f"{path}?token={token}")
    ]

    assert [401, 401] == [reply.status for reply in replies]


@pytest.mark.parametrize("path", ["/v1/stop", "/v1/run", "/v1/listen"])
def test_no_get_changes_anything(served: Residence, path: str) -> None:
    """What does something is no GET."""
    status, _ = served.get(path)

    assert 405 == status
    assert 200 == served.get(HEALTH)[0]


def test_large_body(served: Residence) -> None:
    """A body that is said to be too large is refused before it is sent."""
    head = request("/v1/run", "POST", Content_Length=str(MOST_BODY_BYTES + 1))

    reply = served.send(head)

    assert 413 == reply.status
    assert refusal(reply)


def test_large_body_in_chunks(served: Residence) -> None:
    """A body that does not say how large it is is refused as soon as it is too large."""
    head = request("/v1/run", "POST", Content_Length="", Transfer_Encoding="chunked")
    chunk = b"%x\r\n%s\r\n" % (1 << 16, b"x" * (1 << 16))

    with served.connected() as connection:
        connection.sendall(head)
        for _ in range(MOST_BODY_BYTES // (1 << 16) + 1):
            connection.sendall(chunk)
        reply = read(connection)

    assert 413 == reply.status


def test_large_head(served: Residence) -> None:
    """A request with endless headers is refused."""
    reply = served.send(request(HEALTH, X_Long="x" * (1 << 20))[: 1 << 17])

    assert 400 == reply.status


def test_too_many_at_once(served: Residence) -> None:
    """Beyond a limit requests are refused with when to try again, and answered when others are done."""
    half = request("/v1/run", "POST", Content_Length="5")
    with ExitStack() as held:
        for _ in range(MOST_AT_ONCE):
            held.enter_context(connection := served.connected())
            connection.sendall(half)
        reply = wait_for(lambda: reply if (reply := served.send(request(HEALTH))).status != 200 else None)

    assert (503, "1") == (reply.status, reply.headers["retry-after"])
    assert refusal(reply)
    assert wait_for(lambda: 200 == served.send(request(HEALTH)).status)


@pytest.mark.parametrize("path", [HEALTH, "/nowhere", "/v1/search?limti=1", "/v1/messages/ffffffff", "/"])
def test_every_answer_is_locked_down(served: Residence, path: str) -> None:
    """Whatever is answered may be kept nowhere, framed by nobody, and runs nothing from elsewhere."""
    reply = served.send(request(path))

    assert SECURITY == {name: reply.headers[name.lower()] for name in SECURITY}
    assert "access-control-allow-origin" not in reply.headers


@pytest.mark.parametrize("sent", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nno header\r\n\r\n"])
def test_malformed_request(served: Residence, sent: bytes) -> None:
    """What is no HTTP gets HTTP's own error, and the next request is answered."""
    assert 400 == served.send(sent).status
    assert 200 == served.get(HEALTH)[0]
