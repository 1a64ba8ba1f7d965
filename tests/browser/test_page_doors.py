"""Who may open the page: nobody without the token, nobody by another name, no page from elsewhere."""

import http.client
from urllib.parse import urlparse

import pytest

from tests.browser.conftest import Open
from tests.browser.site import Site

pytestmark = pytest.mark.slow

PATHS = ["/", "/session/x", "/page/script/main.js", "/v1/search?q=webhook", "/v1/readings/x", "/v1/pictures/x"]


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
    """The token of the first address becomes a cookie that no script can read."""
    page = open_page(sample)

    assert "token" not in page.url
    assert "" == page.evaluate("document.cookie")


def test_page_from_elsewhere_learns_nothing(sample: Site, open_page: Open) -> None:
    """A page of another origin in the same browser gets no answer, though the browser has the cookie."""
    page = open_page(sample)
    other = page.context.new_page()
    other.route("http://elsewhere.localhost:1/", lambda route: route.fulfill(body="<p>elsewhere</p>"))
    other.goto("http://elsewhere.localhost:1/")

    said = other.evaluate(
        "(address) => fetch(address, { credentials: 'include' }).then((answer) => answer.text(), () => 'refused')",
        f"{sample.base}/v1/search?q=webhook",
    )

    assert "refused" == said
