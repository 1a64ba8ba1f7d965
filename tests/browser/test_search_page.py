"""Searching in the browser: as one types, by facets, by time, with the keyboard, and by address."""

import os
import re
from contextlib import suppress
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Error, Page, Route, expect

from tests.browser.conftest import Open
from tests.browser.site import Site

pytestmark = pytest.mark.slow


def words_of(page: Page) -> str:
    """Read the search out of the address."""
    return parse_qs(urlparse(page.url).query).get("q", [""])[0]


def matches(page: Page) -> int:
    """Read how many matches there are."""
    text = page.locator("#found").inner_text()
    return int(re.sub(r"\D", "", text.partition(" ")[0]))


def facet(page: Page, name: str, number: int = 0) -> str:
    """Return the value of a facet, once it is counted."""
    values = page.locator(f"[data-facet={name}] .value")
    values.nth(number).wait_for()
    return values.nth(number).get_attribute("data-value") or ""


def drag(page: Page, begin: float, end: float) -> None:
    """Drag over the histogram, between two shares of its width."""
    box = page.locator(".histogram svg").bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + begin * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], middle, steps=4)
    page.mouse.up()


def test_results_come_while_typing(sample: Site, open_page: Open) -> None:
    """Results are there without pressing enter, what was asked for is marked, and the address follows."""
    page = open_page(sample)

    page.locator("#words").press_sequentially("webhook")

    expect(page.locator(".result mark").first).to_have_text(re.compile("webhook", re.I))
    assert "webhook" == words_of(page)


def test_unfinished_word_is_a_beginning(sample: Site, open_page: Open) -> None:
    """While a word is being typed, what begins so is found, and facets go on from there."""
    page = open_page(sample)

    page.locator("#words").press_sequentially("webho")
    expect(page.locator(".result mark").first).to_have_text(re.compile("webho", re.I))
    facet(page, "kind")
    page.locator("[data-facet=kind] .value").first.click()

    expect(page.locator("#words")).to_have_value(re.compile(r"webho\* kind:\w+"))
    expect(page.locator(".result").first).to_be_visible()


def test_meaning_is_merged_in(sample: Site, open_page: Open) -> None:
    """Words answer first; what is only near in meaning comes after them and says so."""
    page = open_page(sample, "/?q=webhook")

    expect(page.locator("#found")).to_contain_text("near in meaning")
    expect(page.locator(".result .near").first).to_be_attached()


@pytest.mark.parametrize("without_meaning", ["test&sort=newest", "kind:text"])
def test_meaning_is_asked_again(sample: Site, open_page: Open, without_meaning: str) -> None:
    """A search by time, or by filters alone, which meaning says nothing to, does not keep it out of the next one."""
    page = open_page(sample, f"/?q={without_meaning}")
    expect(page.locator(".result").nth(7)).to_be_attached()

    page.get_by_label("Order").select_option("relevance")
    page.locator("#words").fill("webhook")

    expect(page.locator("#found")).to_contain_text("near in meaning")


def test_late_answer_is_dropped(sample: Site, open_page: Open) -> None:
    """An answer that comes after a newer question was asked is not shown."""
    page = open_page(sample)
    held: list[Route] = []
    page.route(re.compile(r"q=webhook&"), lambda route: held.append(route))

    page.locator("#words").fill("webhook")
    page.wait_for_timeout(50)
    page.locator("#words").fill("certificate")
    expect(page.locator(".result mark").first).to_have_text(re.compile("certificate", re.I))
    for route in held:
        # The page may have given the question up.
        with suppress(Error):
            route.continue_()
    page.wait_for_load_state("networkidle")

    expect(page.locator(".result mark").first).to_have_text(re.compile("certificate", re.I))
    assert held


def test_conversation_is_folded_in(sample: Site, open_page: Open) -> None:
    """Below a result is the conversation around it, which unfolds in place."""
    page = open_page(sample, "/?q=webhook")
    first = page.locator(".result").first

    first.locator("details.around summary").click()

    expect(first.locator(".thread .hit mark").first).to_be_visible()


def test_more_results_follow(site: Site, open_page: Open) -> None:
    """A page of results is shown, more of them when asked for, below those that are there, until there are no more."""
    for number in range(45):
        site.home.session(f"{number:08}-1111-4111-8111-111111111111").prompt(f"lantern {number}")
    site.open()
    page = open_page(site, "/?q=lantern")
    more, results = page.get_by_role("button", name="More results"), page.locator(".result")

    more.wait_for()
    expect(results).to_have_count(20)
    first = results.first.get_attribute("data-part")
    more.click()
    expect(results).to_have_count(40)
    more.click()

    expect(results).to_have_count(45)
    expect(more).to_be_hidden()
    assert first == results.first.get_attribute("data-part")


def test_language_is_shown_by_its_name(sample: Site, open_page: Open) -> None:
    """The facet says what people call a language, writes its code, and knows either when it was typed."""
    page = open_page(sample, "/?q=webhook")
    assert "en" == facet(page, "language")
    english = page.locator("[data-facet=language] .value")
    expect(english.locator(".label")).to_have_text("English")

    english.click()
    expect(page.locator("#words")).to_have_value("webhook language:en")
    page.locator("#words").fill("webhook lang:English")
    expect(page.locator("[data-facet=language] .value[aria-pressed=true] .label")).to_have_text("English")
    english.click()

    expect(page.locator("#words")).to_have_value("webhook")


@pytest.mark.parametrize(("name", "words"), [("sample", "test"), ("corpus", "error")])
def test_search_is_narrowed(name: str, words: str, request: pytest.FixtureRequest, open_page: Open) -> None:
    """A drag over the histogram and a facet write filters into the words, which give fewer matches each time."""
    page = open_page(request.getfixturevalue(name), f"/?q={words}")
    facet(page, "kind")
    everything = matches(page)

    drag(page, 0.05, 0.6)
    expect(page.get_by_role("button", name="Any time")).to_be_visible()
    kind = facet(page, "kind")
    narrowed = matches(page)
    page.locator("[data-facet=kind] .value").first.click()
    expect(page.locator("[data-facet=kind] .value[aria-pressed=true]")).to_have_text(re.compile(kind.replace("_", " ")))

    assert re.fullmatch(rf"{words} after:[-\d]+ before:[-\d]+ kind:{kind}", words_of(page))
    assert everything > narrowed > matches(page)


def test_facet_is_taken_back(sample: Site, open_page: Open) -> None:
    """Pressing a chosen value again takes its filter out of the words."""
    page = open_page(sample, "/?q=test")
    facet(page, "kind")
    page.locator("[data-facet=kind] .value").first.click()
    page.locator("[data-facet=kind] .value[aria-pressed=true]").click()

    expect(page.locator("#words")).to_have_value("test")


def test_address_is_the_search(sample: Site, open_page: Open) -> None:
    """Reloading, and opening the address elsewhere, show the same results; going back shows those before."""
    page = open_page(sample, "/?q=webhook+kind%3Atext&sort=newest")
    expect(page.locator(".result").first).to_be_visible()
    shown = page.locator(".result h2").all_inner_texts()

    page.reload()
    expect(page.locator(".result").first).to_be_visible()
    reloaded = page.locator(".result h2").all_inner_texts()
    elsewhere = open_page(sample, page.url.removeprefix(sample.base))
    expect(elsewhere.locator(".result").first).to_be_visible()
    page.locator(".result a.open").first.click()
    expect(page.locator(".session h1")).to_be_visible()
    page.go_back()

    assert shown == reloaded == elsewhere.locator(".result h2").all_inner_texts()
    expect(page.locator("#words")).to_have_value("webhook kind:text")
    expect(page.locator(".result").first).to_be_visible()


def test_results_keep_their_order(site: Site, open_page: Open) -> None:
    """From a conversation, reached by its tree and loaded again, the way back leads to results in the same order."""
    site.home.session("55555555-5555-4555-8555-555555555555").prompt("light the lantern")
    site.open()
    page = open_page(site, "/?q=lantern&sort=newest")
    page.locator(".result a.open").first.click()

    page.get_by_role("button", name="Tree").click()
    page.locator(".tree a").first.click()
    page.locator(".row").first.wait_for()
    page.reload()
    page.get_by_role("button", name="Results").click()

    expect(page.locator(".result").first).to_be_visible()
    expect(page.get_by_label("Order")).to_have_value("newest")


@pytest.mark.parametrize(("name", "words"), [("sample", "webhook"), ("corpus", "error")])
def test_keyboard_is_enough(name: str, words: str, request: pytest.FixtureRequest, open_page: Open) -> None:
    """From the field through the results into a conversation and back, without a mouse."""
    page = open_page(request.getfixturevalue(name), "/overview")
    page.locator(".facts").wait_for()

    page.keyboard.press("/")
    page.keyboard.type(words)
    expect(page.locator(".result").nth(1)).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_have_class(re.compile("chosen"))
    page.keyboard.press("j")
    expect(page.locator(".result").nth(1)).to_have_class(re.compile("chosen"))
    page.keyboard.press("k")
    expect(page.locator(".result").first).to_have_class(re.compile("chosen"))
    page.keyboard.press("Enter")
    expect(page.locator(".row.hit").first).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("Escape")

    expect(page.locator(".result").first).to_be_visible()
    assert words == words_of(page)


def test_keys_are_told_before_anything_is_typed(sample: Site, open_page: Open) -> None:
    """In the empty field a question mark asks for the keys; in a search it is a sign like any other."""
    page = open_page(sample)
    field = page.locator("#words")

    field.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    field.press_sequentially("why?")

    expect(field).to_have_value("why?")
    expect(page.locator("#keys")).to_be_hidden()


def test_empty_answer_says_why(sample: Site, open_page: Open) -> None:
    """A word that nothing holds is named, with one that is like it; one that filters keep away is said to be."""
    page = open_page(sample, "/?q=webhhook%20xyzzy")
    page.get_by_role("button", name="webhook", exact=True).click()
    expect(page.locator(".result").first).to_be_visible()

    page.locator("#words").fill("webhook project:nowhere")

    expect(page.locator(".trouble")).to_contain_text("kept away by filters")


def test_only_the_word_is_respelt(site: Site, open_page: Open) -> None:
    """What is meant instead of a word takes its place, not that of its letters inside another one."""
    site.home.session("55555555-5555-4555-8555-555555555555").prompt("a webhook for xwebhhooks")
    site.open()
    page = open_page(site, "/?q=xwebhhooks+Webhhook")

    page.get_by_role("button", name="webhook", exact=True).click()

    expect(page.locator("#words")).to_have_value("xwebhhooks webhook")


def test_misspelt_word_shows_what_was_meant(sample: Site, open_page: Open) -> None:
    """Where nothing holds a word that is like another one, that one is shown, and counted, and the page says so."""
    page = open_page(sample, "/?q=webhhook")

    expect(page.locator(".trouble")).to_contain_text("Nothing holds 'webhhook'; showing 'webhook'.")
    expect(page.locator(".result mark").first).to_have_text(re.compile("webhook", re.I))
    facet(page, "kind")


@pytest.mark.parametrize("broken", ["facets", "hybrid", "facets|hybrid"])
def test_results_stay_when_the_rest_fails(sample: Site, open_page: Open, broken: str) -> None:
    """Where facets cannot be counted, or meaning cannot be asked, that is said beside the results of words."""
    page = open_page(sample)
    page.evaluate(
        """(broken) => {
          const [real, fails] = [fetch, new RegExp(broken)];
          window.fetch = async (address, options) => {
            if (fails.test(address)) throw new TypeError();
            return real(address, options);
          };
        }""",
        broken,
    )

    page.locator("#words").fill("webhook kind:text after:2020-01-01")
    expect(page.locator(".trouble")).to_contain_text("does not answer")

    expect(page.locator(".result mark").first).to_have_text(re.compile("webhook", re.I))


@pytest.mark.parametrize(("days", "is_told"), [(3, True), (99_999, False)])
def test_what_is_deleted_is_told_where_one_begins(site: Site, open_page: Open, days: int, is_told: bool) -> None:
    """Below the latest sessions it is said what Claude Code deletes next, and nothing where it keeps all."""
    transcript = site.home.session("11111111-1111-4111-8111-111111111111")
    transcript.prompt("where is the lantern")
    os.utime(transcript.path, (1_500_000_000, 1_500_000_000))
    site.home.write(site.home.root / "settings.json", f'{{"cleanupPeriodDays": {days}}}')
    site.open()

    page = open_page(site)
    with page.expect_response("**/v1/status"):
        page.reload()

    if is_told:
        expect(page.locator("#deletion")).to_contain_text("after 3 days: 1 of 1 transcript is due when it next starts")
        expect(page.locator("#deletion")).to_contain_text("searchkit keep")
    else:
        expect(page.locator(".recent li")).to_have_count(1)
        expect(page.locator("#deletion")).to_be_empty()


def test_answer_is_read_without_opening(sample: Site, open_page: Open) -> None:
    """Below a prompt stand the steps on one line and three lines of the text that answers it, without Markdown."""
    page = open_page(sample, "/?q=%22CI is flaky again%22 kind:prompt")

    result = page.locator(".result").first
    expect(result.locator(".answer")).to_contain_text("the cache fixture calls FLUSHDB")
    expect(result.locator(".done")).to_contain_text("1 read")
    line, answer = (result.locator(name).bounding_box() for name in (".done", ".answer"))
    assert line
    assert answer
    assert answer["height"] < 5 * line["height"]
