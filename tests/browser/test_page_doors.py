"""Who may open the page: nobody without the token, nobody by another name, no page and no port from elsewhere."""

import http.client
import http.server
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, Page, expect

from searchkit.client import control
from tests.browser.conftest import MOST_MILLISECONDS, Open
from tests.browser.site import SAMPLE, Site
from tests.server.residence import SECONDS_FOR_ANYTHING, wait_for

pytestmark = pytest.mark.slow

PATHS = ["/v1/search?q=webhook", "/v1/readings/x", "/v1/pictures/x", "/v1/health"]
OF_SAMPLE = "d7273ac5-1b02-4834-a656-c3bf97d16b5a"
NEEDED = "searchkit serve --open"


def asked(site: Site, path: str, **headers: str) -> int:
    """Ask for a path with headers of one's own, and return the status."""
    connection = http.client.HTTPConnection("127.0.0.1", urlparse(site.base).port or 0, timeout=30)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in ({"Host": site.base.removeprefix("http://")} | headers).items():
        connection.putheader(name, value)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


class Elsewhere(http.server.ThreadingHTTPServer):
    """Another program of this machine that listens on loopback, and writes down all that browsers send it."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        self.base = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Elsewhere

    def do_GET(self) -> None:
        """Answer with an empty page."""
        self.server.heard.append(f"{self.requestline}\n{self.headers}")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>elsewhere</title>")

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    """Another program that listens on loopback."""
    with Elsewhere() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    """Open an empty page of a browser that knows nothing yet, and in which things may go wrong."""
    with closing(browser.new_context()) as context:
        context.set_default_timeout(MOST_MILLISECONDS)
        yield context.new_page()


def expect_result(page: Page) -> None:
    """Expect that the page is answered."""
    expect(page.locator(".result, .row, .recent li").first).to_be_visible()


@pytest.mark.parametrize("path", PATHS)
def test_strangers_are_refused(sample: Site, path: str) -> None:
    """Without the token, with a foreign host, or for a page from elsewhere, nothing is answered."""
    bearer = f"Bearer {sample.address.partition('token=')[2]}"

    assert 401 == asked(sample, path)
    assert 401 == asked(sample, path, Authorization="Bearer wrong")
    assert 421 == asked(sample, path, Authorization=bearer, Host="evil.example")
    assert 403 == asked(sample, path, Authorization=bearer, Origin="http://evil.example")
    assert asked(sample, path, Authorization=bearer) in (200, 404)


def test_token_leaves_the_address(sample: Site, open_page: Open) -> None:
    """The token of the first address is taken out of it, also out of what one can go back to."""
    page = open_page(sample, "/?q=webhook")
    expect_result(page)
    seen = [page.url]
    page.go_back()
    seen.append(page.url)

    assert [f"{sample.base}/?q=webhook", f"{sample.base}/"] == seen
    assert [] == page.context.cookies()
    assert "" == page.evaluate("document.cookie")


def test_other_ports_get_nothing(sample: Site, open_page: Open, elsewhere: Elsewhere) -> None:
    """What the browser sends to another port of this host holds nothing that opens the page (issue 15)."""
    page = open_page(sample, "/?q=webhook")
    expect_result(page)
    token = sample.address.partition("token=")[2]
    other = page.context.new_page()

    other.goto(elsewhere.base)
    kept = other.evaluate("() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])")
    told = other.evaluate(
        """() => new Promise((resolve) => {
          const tabs = new BroadcastChannel("searchkit");
          tabs.onmessage = ({ data }) => resolve(JSON.stringify(data));
          tabs.postMessage({ isWanted: true });
          setTimeout(() => resolve("nothing"), 1000);
        })"""
    )
    answered = other.evaluate(
        "(address) => fetch(address, { credentials: 'include' }).then((answer) => answer.text(), () => 'refused')",
        f"{sample.base}/v1/search?q=webhook",
    )

    heard = "\n".join(elsewhere.heard)
    assert "GET / " in heard
    assert "cookie:" not in heard.lower()
    assert "authorization:" not in heard.lower()
    assert token not in heard + kept
    assert ("nothing", "refused") == (told, answered)
    # Whatever was heard there, sent back here, opens nothing.
    cookies = "; ".join(f"{one.get('name')}={one.get('value')}" for one in page.context.cookies())
    assert 401 == asked(sample, "/v1/search?q=webhook", Cookie=cookies or "searchkit=x")


def test_reload_and_steps_back_keep_the_token(sample: Site, open_page: Open) -> None:
    """Loading the page again, and going back and forward, is answered (issue 15)."""
    page = open_page(sample, f"/session/{OF_SAMPLE}")
    expect_result(page)

    page.reload()
    expect_result(page)
    page.goto(f"{sample.base}/?q=webhook")
    expect_result(page)
    page.go_back()
    expect_result(page)
    page.go_forward()
    expect_result(page)


def test_address_in_a_new_tab(sample: Site, open_page: Open) -> None:
    """A kept address, opened while the page is open in another tab, is answered (issue 15)."""
    page = open_page(sample)
    tab = page.context.new_page()

    tab.goto(f"{sample.base}/session/{OF_SAMPLE}?q=webhook")
    expect_result(tab)
    page.close()
    tab.reload()

    expect_result(tab)


@pytest.mark.parametrize("how", [{"button": "middle"}, {"modifiers": ["Control"]}, {"modifiers": ["Shift"]}])
def test_link_in_a_new_tab(sample: Site, open_page: Open, how: dict[str, object]) -> None:
    """A link that is opened in another tab or window leads to the same page as in this one (issue 15)."""
    page = open_page(sample)
    link = page.locator("a[href^='/session/']").first
    link.wait_for()

    with page.context.expect_page() as opening:
        link.click(**how)  # type: ignore[arg-type]  # whatever playwright takes

    expect_result(opening.value)
    assert "token" not in opening.value.url


def test_page_without_a_token_says_what_to_run(sample: Site, browser: Browser) -> None:
    """Who opens a kept address with no other tab open reads what to do, and nothing is told (issue 15)."""
    with opened(browser) as page:
        asked_for: list[str] = []
        page.on("request", lambda request: asked_for.append(urlparse(request.url).path))
        for path in ("/?q=webhook", "/overview", f"/session/{OF_SAMPLE}", "/"):
            page.goto(sample.base + path)

            expect(page.locator("main .error:visible")).to_contain_text(NEEDED)

        assert [] == [path for path in asked_for if path.startswith("/v1/")]


def test_address_opened_where_the_page_is_shown(sample: Site, browser: Browser) -> None:
    """The address with the token, opened in a tab that lacked it, lets that tab in (issue 15)."""
    with opened(browser) as page:
        page.goto(f"{sample.base}/")
        expect(page.locator("main .error:visible")).to_contain_text(NEEDED)

        page.evaluate("(address) => { location.href = address; }", sample.address)

        expect_result(page)
        assert f"{sample.base}/" == page.url


def test_token_of_a_process_that_is_gone(site: Site, browser: Browser) -> None:
    """A tab of an earlier process on the same port says what to do, and goes on once another is let in (issue 15)."""
    site.open(SAMPLE)
    port = urlparse(site.base).port
    with opened(browser) as page:
        page.goto(site.address)
        expect_result(page)
        site.processes[-1].terminate()
        site.processes[-1].wait(SECONDS_FOR_ANYTHING)
        site.serve("--port", str(port))
        address = str(wait_for(lambda: control.address(site.index)))

        page.goto(f"{site.base}/?q=webhook")
        expect(page.locator("main .error:visible")).to_contain_text(NEEDED)
        newer = page.context.new_page()
        newer.goto(address)
        expect_result(newer)
        page.reload()

        expect_result(page)


def test_page_from_elsewhere_learns_nothing(sample: Site, open_page: Open) -> None:
    """A page of another origin in the same browser gets no answer."""
    page = open_page(sample)
    other = page.context.new_page()
    other.route("http://elsewhere.localhost:1/", lambda route: route.fulfill(body="<p>elsewhere</p>"))
    other.goto("http://elsewhere.localhost:1/")

    said = other.evaluate(
        "(address) => fetch(address, { credentials: 'include' }).then((answer) => answer.text(), () => 'refused')",
        f"{sample.base}/v1/search?q=webhook",
    )

    assert "refused" == said
