"""The first screen: every session by its day, filters, searches to try, and how it leads on."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from searchkit import Engine
from tests.browser.conftest import Open
from tests.browser.site import Site
from tests.browser.test_page_doors import opened

pytestmark = pytest.mark.slow

# Several leaves of the list, and more than it keeps there at once.
MANY = 260
A_DAY = 3
FIRST_DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)
# Nothing that is on the screen is still to come.
IS_FILLED = """() => [...document.querySelectorAll(".leaf")].every((leaf) => {
  const { top, bottom } = leaf.getBoundingClientRect();
  return leaf.firstChild || bottom < 0 || top > innerHeight;
})"""


def session_id(number: int) -> str:
    """Name a session by its number."""
    return f"{number:08}-1111-4111-8111-111111111111"


def test_every_session_is_reached(site: Site, open_page: Open) -> None:
    """All sessions are there by scrolling, a day is named once, and only what is near the screen is kept."""
    for number in range(MANY):
        when = FIRST_DAY + timedelta(days=number // A_DAY, minutes=number)
        told = site.home.session(session_id(number))
        told.prompt(f"lantern number {number}", timestamp=when.strftime("%Y-%m-%dT%H:%M:%S.000Z"))
    site.open()
    page = open_page(site)
    expect(page.get_by_role("heading", name=f"{MANY} sessions")).to_be_visible()
    seen: dict[str, None] = {}
    days: list[str] = []

    for _ in range(80):
        seen |= dict.fromkeys(page.locator(".recent h3").all_inner_texts())
        days += [day for day in page.locator(".day h2").all_inner_texts() if day not in days]
        if f"lantern number {0}" in seen:
            break
        page.mouse.wheel(0, 1_200)
        page.wait_for_timeout(30)
        page.wait_for_function(IS_FILLED)

    assert [f"lantern number {number}" for number in reversed(range(MANY))] == list(seen)
    assert len(days) == -(-MANY // A_DAY)


def test_card_tells_what_a_session_was(sample: Site, open_page: Open) -> None:
    """A card has the project, what was asked first, how it ended in Markdown, the changed files and the cost."""
    page = open_page(sample)
    card = page.locator(".recent > li", has_text="TLS certificate check was off since March")

    expect(card.locator(".project")).to_have_text("driftlog")
    expect(card.locator(".first")).to_contain_text("A customer's audit says")
    expect(card.locator(".outcome code").first).to_have_text("extra_ca_file")
    expect(card.locator(".changed")).to_contain_text("tls.rs, clippy.toml")
    expect(card.locator(".cost")).to_contain_text("$")


def test_sessions_are_filtered(sample: Site, open_page: Open) -> None:
    """Project, branch, model and day narrow the list, stand in the address, and are taken back one by one."""
    page = open_page(sample)
    total = page.locator(".home .total")
    expect(total).to_have_text("20 sessions")

    page.locator(".home .value", has_text="teashop").click()
    expect(total).to_have_text("9 sessions of these")
    page.get_by_label("Branch").select_option("perf/products")
    expect(total).to_have_text("2 sessions of these")
    assert "project=" in page.url
    page.reload()
    expect(total).to_have_text("2 sessions of these")
    page.get_by_label("On a day").fill("2026-05-13")
    expect(page.locator(".recent > li")).to_have_count(1)
    for _ in range(3):
        page.locator(".chosen-filters .chip").first.click()

    expect(total).to_have_text("20 sessions")
    page.get_by_label("Model").select_option(index=1)
    expect(total).to_contain_text("of these")
    page.go_back()
    expect(total).to_have_text("20 sessions")


def test_filters_that_nothing_has_say_so(sample: Site, open_page: Open) -> None:
    """A day without sessions is no error, and leads back."""
    page = open_page(sample, "/?on=2001-01-01")

    expect(page.locator(".days .note")).to_contain_text("No session has all of this")
    page.get_by_role("button", name="Do not filter by on").click()

    expect(page.locator(".recent > li").first).to_be_visible()


def test_examples_find_something(sample: Site, open_page: Open) -> None:
    """Every search that is offered finds something in this index."""
    page = open_page(sample)
    examples = page.locator(".examples .example")
    examples.first.wait_for()
    queries = examples.all_inner_texts()

    for query in queries:
        page.locator(".examples .example", has_text=query).first.click()
        expect(page.locator("#words")).to_have_value(query)
        expect(page.locator(".result").first).to_be_visible()
        page.go_back()

    assert len(queries) == 4


def test_keys_walk_over_sessions(sample: Site, open_page: Open) -> None:
    """Enter in the empty field goes to the first session, j and k move, Enter opens."""
    page = open_page(sample)
    sessions = page.locator(".recent > li")
    sessions.nth(2).wait_for()

    page.locator("#words").press("Enter")
    expect(sessions.first).to_have_class(re.compile("chosen"))
    page.keyboard.press("j")
    expect(sessions.nth(1)).to_have_class(re.compile("chosen"))
    title = sessions.nth(1).locator("h3").inner_text()
    page.keyboard.press("Enter")

    expect(page.locator(".session h1")).to_have_text(title)


def test_index_that_is_rebuilt_or_removed(site: Site, browser: Browser) -> None:
    """A page stays open: a rebuilt index answers as before, and of one that was removed it says what to do."""
    site.home.session(session_id(1)).prompt("where is the lantern")
    site.open()
    with opened(browser) as page:
        page.goto(site.address)
        expect(page.locator(".recent > li")).to_have_count(1)

        with Engine(site.index, [site.home.root], "fake") as engine:
            engine.index(is_rebuild=True)
        page.locator("#words").fill("lantern")
        expect(page.locator(".result mark").first).to_have_text("lantern")
        site.index.rename(site.index.with_name("away"))
        page.locator("#words").fill("the lantern")

        expect(page.locator(".trouble .error")).to_contain_text("searchkit")
        expect(page.locator("#words")).to_have_value("the lantern")
