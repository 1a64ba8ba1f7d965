"""When the process does not answer: it is said where somebody waits for it, and going there again asks again."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.site import Site
from tests.browser.test_reading_page import png
from tests.server.blocking import Blocking
from tests.server.residence import wait_for

pytestmark = pytest.mark.slow

SESSION = "44444444-4444-4444-8444-444444444444"
# More than is shown of one text at first.
LONG = 20_000
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
    """Go to another address without loading the page again."""
    page.evaluate("(path) => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')); }", path)


@pytest.mark.parametrize(
    ("path", "asked", "shown"),
    [
        ("/overview", "/v1/stats", ".plot"),
        (f"/session/{OF_SAMPLE}", "/v1/readings", ".row"),
        ("/?q=webhook", "/v1/search", ".result"),
        ("/", "/v1/cards", ".recent"),
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


def test_button_says_that_it_failed(site: Site, open_page: Open) -> None:
    """A long text that cannot be had is neither copied nor shown whole, and both buttons say so and can be pressed."""
    site.home.session(SESSION).prompt("lantern " + "x " * LONG)
    site.open()
    page = open_page(site, f"/session/{SESSION}")
    row = page.locator(".row.prompt")
    more = row.get_by_role("button", name="more characters")
    more.wait_for()
    fail(page, "/v1/parts")

    row.hover()
    row.get_by_role("button", name="Copy").click()
    expect(row.get_by_role("button", name="Could not copy")).to_be_visible()
    more.click()
    expect(row.locator(".error")).to_contain_text("does not answer")
    mend(page)
    more.click()

    expect(row.locator("pre.whole")).to_be_visible()
    expect(row.locator(".error")).to_have_count(0)


def test_steps_that_failed_are_asked_again(site: Site, open_page: Open) -> None:
    """Steps that could not be unfolded say so, and are there when they are unfolded again."""
    told = site.home.session(SESSION)
    told.prompt("light the lantern")
    told.result(told.call("Bash", {"command": "light"}), "it burns")
    told.text("It burns.")
    site.open()
    page = open_page(site, f"/session/{SESSION}")
    summary = page.locator(".row.steps summary")
    summary.wait_for()
    fail(page, "/fold")
    summary.click()
    expect(page.locator(".row.steps .error")).to_contain_text("does not answer")

    mend(page)
    summary.click()
    summary.click()

    expect(page.locator(".step").first).to_be_visible()
    expect(page.locator(".row.steps .error")).to_have_count(0)


def test_pictures_on_a_disk_that_does_not_answer(site: Site, open_page: Open, tmp_path: Path) -> None:
    """A conversation is shown without them, says why, and shows them once they can be read again (issue 15)."""
    told = site.home.session(SESSION)
    source = {"type": "base64", "media_type": "image/png", "data": png()}
    told.prompt([{"type": "text", "text": "look at the lantern"}, {"type": "image", "source": source}])
    blocking = Blocking(tmp_path / "blocking", told.path.name)
    site.open(None, **blocking.environment)
    blocking.begin()

    page = open_page(site, f"/session/{SESSION}")
    expect(page.locator(".row.prompt")).to_contain_text("look at the lantern")
    expect(page.locator("header.session .note")).to_contain_text("does not answer")
    blocking.end()
    wait_for(lambda: site.get(f"/v1/readings/{SESSION}")[1]["without_pictures"] is None)
    page.reload()

    expect(page.locator(".pictures canvas")).to_have_js_property("width", 40)
