"""When the process does not answer: it is said where somebody waits for it, and going there again asks again."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.site import Site

pytestmark = pytest.mark.slow

OF_SAMPLE = "d7273ac5-1b02-4834-a656-c3bf97d16b5a"

# In the page, since the browser itself would report a failed request as trouble.
FAIL = """(pattern) => {
  const [real, fails] = [window.real ?? fetch, new RegExp(pattern)];
  window.real = real;
  window.late = [];
  window.fetch = (address, options) => fails.test(address)
    ? new Promise((resolve, reject) => window.late.push(() => reject(new TypeError())))
    : real(address, options);
}"""
NOW = "setInterval(() => window.late.splice(0).forEach((fail) => fail()), 20)"


def fail(page: Page, pattern: str) -> None:
    """Let questions fail whose address matches."""
    page.evaluate(FAIL, pattern)
    page.evaluate(NOW)


def mend(page: Page) -> None:
    """Let everything be answered again."""
    page.evaluate("() => void (window.fetch = window.real)")


def lead(page: Page, path: str) -> None:
    """Go to another address without loading the page anew."""
    page.evaluate("(path) => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')); }", path)


@pytest.mark.parametrize(
    ("path", "asked", "shown"),
    [
        ("/overview", "/v1/stats", ".plot"),
        (f"/session/{OF_SAMPLE}", "/v1/readings", ".row"),
        ("/?q=webhook", "/v1/search", ".result"),
        ("/", "/v1/sessions", ".recent"),
    ],
)
def test_view_that_failed_is_asked_again(sample: Site, open_page: Open, path: str, asked: str, shown: str) -> None:
    """A view that could not be had says so, and is there when one comes back to it."""
    page = open_page(sample, "/?q=certificate")
    page.locator(".result").first.wait_for()
    fail(page, asked)
    lead(page, path)
    expect(page.locator("main .error:visible")).to_contain_text("does not answer")

    mend(page)
    lead(page, "/" if path == "/overview" else "/overview")
    lead(page, path)

    expect(page.locator(f"main {shown}").first).to_be_visible()
    expect(page.locator("main .error:visible")).to_have_count(0)


@pytest.mark.parametrize(
    ("late", "asked", "newer", "shown"),
    [
        ("/overview?q=webhook", "/v1/stats", "/overview", ".plot"),
        (f"/session/{OF_SAMPLE}?q=webhook", "/v1/readings", f"/session/{OF_SAMPLE}", ".row"),
    ],
)
def test_late_failure_is_dropped(sample: Site, open_page: Open, late: str, asked: str, newer: str, shown: str) -> None:
    """What fails after something newer was asked for does not take its place."""
    page = open_page(sample, "/?q=certificate")
    page.evaluate(FAIL, f"{asked}.*q=webhook")
    lead(page, late)
    lead(page, newer)
    page.locator(f"main {shown}").first.wait_for()

    page.evaluate("window.late.splice(0).forEach((fail) => fail())")
    # A failure is heard before the next task begins.
    page.evaluate("() => new Promise((resolve) => setTimeout(resolve))")

    expect(page.locator(f"main {shown}").first).to_be_visible()
    expect(page.locator("main .error:visible")).to_have_count(0)
