"""Nobody may ask who is from elsewhere, has no token, or asks for too much."""

from contextlib import ExitStack

import pytest

from searchkit.client import connect as place
from searchkit.client import control
from searchkit.server.security import MOST_AT_ONCE, MOST_BODY_BYTES, SECURITY
from tests.server.residence import Reply, Residence, read, request, wait_for

HEALTH = "/v1/health"


def door(served: Residence) -> tuple[int, str]:
    """Return the port and the token."""
    found = place.door(served.index)
    assert found is not None
    return found["port"], found["token"]


def page_token_of(served: Residence) -> str:
    """Return the token that the page has."""
    return str((place.door(served.index) or {})["page_token"])


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
        {"Authorization": "Bearer {token}x"},
        {"Cookie": "searchkit-{port}={token}"},
        {"Cookie": "searchkit-{port}={page_token}; token={token}"},
        {"Cookie": '";=;searchkit-{port}'},
    ],
)
def test_no_token(served: Residence, headers: dict[str, str]) -> None:
    """Over the port nothing of any transcript is told without the token in its header, nor what is not there."""
    port, token = door(served)
    page_token = page_token_of(served)
    told = {name: value.format(port=port, token=token, page_token=page_token) for name, value in headers.items()}
    paths = (HEALTH, "/v1/search?q=webhook", "/v1/pictures/x", "/nowhere", f"{HEALTH}?token={token}", "/pages", "/mcp")

    replies = [served.send(request(path, headers=told, Host=f"127.0.0.1:{port}"), port) for path in paths]

    assert [401] * len(paths) == [reply.status for reply in replies]
    assert all(secret.encode() not in reply.body for reply in replies for secret in (token, page_token))


@pytest.mark.parametrize("path", ["/", "/overview", "/session/x", "/page/script/main.js", f"/?token={'x' * 43}"])
def test_page_itself_is_anybodys(served: Residence, path: str) -> None:
    """The files of the page are the same for everybody, so they want no token; foreign hosts and pages get none."""
    port, token = door(served)
    host = f"127.0.0.1:{port}"

    own = served.send(request(path, Host=host), port)
    foreign = served.send(request(path, Host="evil.example"), port)
    framing = served.send(request(path, Host=host, Origin="http://evil.example"), port)

    assert (200, 421, 403) == (own.status, foreign.status, framing.status)
    assert token.encode() not in own.body
    assert page_token_of(served).encode() not in own.body


@pytest.mark.parametrize(
    "path", ["/page/../v1/health", "/page/%2e%2e/v1/health", "/session/../v1/health", "//v1/health"]
)
def test_way_through_the_page_leads_nowhere(served: Residence, path: str) -> None:
    """No spelling of a path is that of the page for one and that of an answer for another (issue 15)."""
    port, _ = door(served)

    reply = served.send(request(path, Host=f"127.0.0.1:{port}"), port)

    assert reply.status in (401, 404)
    assert b'"pid"' not in reply.body


def test_address_has_the_token_of_the_page(served: Residence) -> None:
    """The address to open has it behind #, so that no request, and no log of one, ever holds it (issue 15)."""
    port, token = door(served)

    address = control.address(served.index)

    assert f"http://127.0.0.1:{port}/#token={page_token_of(served)}" == address
    assert token != page_token_of(served)


def test_no_cookie_is_ever_set(served: Residence) -> None:
    """Browsers send a cookie to every port of a host, where others may listen, so there is none (issue 15)."""
    port, token = door(served)
    host = f"127.0.0.1:{port}"
    paths = ("/", f"/?token={token}", "/overview", HEALTH, f"{HEALTH}?token={token}", "/nowhere", "/page/icon.svg")
    bearers = ("", f"Bearer {token}", f"Bearer {page_token_of(served)}", "Bearer wrong")

    replies = [
        served.send(request(path, method, Host=host, Authorization=bearer), port)
        for path in paths
        for bearer in bearers
        for method in ("GET", "HEAD", "POST")
    ]

    assert [] == [reply for reply in replies if "set-cookie" in reply.headers or reply.status in (301, 302, 303, 307)]


@pytest.mark.parametrize("path", ["/v1/stop", "/v1/run", "/v1/listen", "/mcp", "/", "/page/icon.svg"])
def test_token_of_the_page_changes_nothing(served: Residence, path: str) -> None:
    """With the page's token one can read; what is more than reading wants that of the programs (issue 15)."""
    port, _ = door(served)
    told = {"Host": f"127.0.0.1:{port}", "Authorization": f"Bearer {page_token_of(served)}"}

    assert 200 == served.send(request(HEALTH, headers=told), port).status
    assert 401 == served.send(request(path, "POST", headers=told), port).status


def test_browser_is_refused_in_words(served: Residence) -> None:
    """Whoever follows an address without the token reads what to do."""
    port, _ = door(served)

    reply = served.send(request(HEALTH, Host=f"127.0.0.1:{port}", Accept="text/html,*/*"), port)

    assert (401, True) == (reply.status, b"searchkit serve --open" in reply.body)
    assert reply.headers["content-type"].startswith("text/plain")


def test_policy_has_no_exceptions() -> None:
    """Nothing but the page's own files is loaded, and no string becomes code (issue 15)."""
    policy = dict(one.strip().partition(" ")[::2] for one in SECURITY["Content-Security-Policy"].split(";"))

    assert {"'none'", "'self'", "'script'"} == set(policy.values())
    assert ("'none'", "'script'", "'none'") == (
        policy["default-src"],
        policy["require-trusted-types-for"],
        policy["trusted-types"],
    )


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


def test_too_many_at_the_port(served: Residence) -> None:
    """However many ask over the port, those who ask over the socket are answered (issue 15)."""
    port, token = door(served)
    told = {"Host": f"127.0.0.1:{port}", "Authorization": f"Bearer {token}"}
    half = request("/v1/run", "POST", headers=told, Content_Length="5")
    with ExitStack() as held:
        for _ in range(MOST_AT_ONCE + 1):
            held.enter_context(connection := served.connected(port))
            connection.sendall(half)
        by_port = wait_for(
            lambda: reply if (reply := served.send(request(HEALTH, headers=told), port)).status != 200 else None
        )
        by_socket = [served.send(request(HEALTH)).status for _ in range(10)]

    assert (503, [200] * 10) == (by_port.status, by_socket)


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
