"""What results, conversations, trees and plots are made of: one card for a call and its result, no tag, nothing cut."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Open
from tests.browser.site import Site

pytestmark = pytest.mark.slow

SESSION = "66666666-6666-4666-8666-666666666666"
OTHER_SESSION = "77777777-7777-4777-8777-777777777777"
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
WIDE = {"width": 1440, "height": 900}
WITH_AGENT = "/session/d7273ac5-1b02-4834-a656-c3bf97d16b5a"
LINES = "\n".join(f"{number:>6}\tline {number} of the lantern" for number in range(1, 31))
# Labels that lie on each other.
COLLIDING = """() => {
  const boxes = [...document.querySelectorAll(".axis span, .calendar .month, .legend, .plot h2")]
    .map((one) => [one.textContent, one.getBoundingClientRect(), one]).filter(([, box]) => box.width);
  const found = [];
  for (const [name, box, one] of boxes) for (const [other, beside, another] of boxes)
    if (one !== another && !one.contains(another) && !another.contains(one) && box.left < beside.right - 1 &&
      beside.left < box.right - 1 && box.top < beside.bottom - 1 && beside.top < box.bottom - 1)
      found.push(`${name} / ${other}`);
  return found;
}"""


def shown(page: Page) -> list[str]:
    """Return the parts of the results, in the order in which they are shown."""
    return [str(item.get_attribute("data-part")) for item in page.locator(".result").all()]


@pytest.fixture
def shaped(site: Site) -> Site:
    """Serve a session with tags, a file that was read, two calls at once, and a change."""
    told = site.home.session(SESSION)
    told.prompt("look at the **lantern**\n\n<system-reminder>\nkeep the lantern dry\n</system-reminder>")
    read = told.call("Read", {"file_path": "/src/lantern.py"})
    told.result(read, LINES)
    one = told.call("Bash", {"command": "light one", "description": "Light the first lantern"})
    two = told.call("Bash", {"command": "light two"}, parent=one["uuid"])
    told.result(one, "the first lantern burns")
    told.result(two, "<tool_use_error>the second lantern has no fuse</tool_use_error>", is_error=True)
    edit = told.call(
        "Edit", {"file_path": "/src/lantern.py", "old_string": "dim = 3", "new_string": "def glow(): return 9"}
    )
    told.result(edit, "The file was updated")
    told.text("## Done\n\nThe `lantern` burns:\n\n| which | how |\n|---|---|\n| first | bright |")
    for number in range(3):
        told.prompt(f"and lantern number {number}?")
        told.text(f"Lantern {number} burns, too.")
    site.open()
    return site


def test_results_are_in_the_order_of_the_command_line(sample: Site, open_page: Open) -> None:
    """What the page shows first is what everything else shows first."""
    page = open_page(sample, "/?q=charge+twice")
    expect(page.locator("#found")).to_contain_text("near in meaning")

    _, answer = sample.get("/v1/search?q=charge+twice&limit=7")

    assert [result["part"] for result in answer["results"]] == shown(page)[:7]


def test_what_is_read_is_not_reordered(sample: Site, open_page: Open) -> None:
    """Results that come while somebody walks through those there are wait for a press, and the page says so."""
    page = open_page(sample)
    held: list[Route] = []
    page.route(re.compile("mode=hybrid"), lambda route: held.append(route))
    page.locator("#words").fill("webhook")
    expect(page.locator(".result").nth(2)).to_be_visible()
    page.locator("#words").press("Enter")
    before = shown(page)
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(20)

    answer = held[0].fetch()
    told = answer.json()
    told["results"].reverse()
    held[0].fulfill(response=answer, json=told)
    expect(page.get_by_role("button", name="Better order found")).to_be_visible()

    assert before == shown(page)
    page.get_by_role("button", name="Better order found").click()
    expect(page.locator(".result").first).to_have_attribute("data-part", told["results"][0]["part"])


def test_markdown_of_a_passage_reads_as_it_does(shaped: Site, open_page: Open) -> None:
    """No sign of Markdown and no tag is left in a result, and what was asked for is marked."""
    page = open_page(shaped, "/?q=lantern+burns+kind%3Atext")
    passage = page.locator(".result .passage").first
    expect(passage.locator("mark").first).to_be_visible()

    text = page.locator(".results").inner_text()

    assert not re.search(r"[`|#]|\*\*|</?[a-z]", text)


def test_call_and_result_are_one_card(shaped: Site, open_page: Open) -> None:
    """A command that was found stands above what came of it, and a result below its command."""
    page = open_page(shaped, "/?q=%22light+one%22")
    card = page.locator(".result .calling")
    expect(card.locator(".did")).to_have_text("light one")
    expect(card.locator(".came")).to_have_text("the first lantern burns")

    page.goto(f"{shaped.base}/?q=fuse+is%3Aerror")
    expect(card.locator(".did")).to_have_text("light two")
    expect(card.locator(".came")).to_have_text("the second lantern has no fuse")

    page.goto(f"{shaped.base}/session/{SESSION}")
    page.locator(".fold > summary").first.click()
    steps = page.locator(".step")
    steps.nth(5).wait_for()
    kinds = steps.evaluate_all("(all) => all.map((one) => one.className)")
    joined = [place for place, kind in enumerate(kinds) if "joined" in kind]
    assert [kinds[place - 1].split()[1] for place in joined] == ["tool_call"] * len(joined)
    assert len(joined) == 4


def test_conversation_shows_no_tag_and_folds_files(shaped: Site, open_page: Open) -> None:
    """Tags of the client become notes and errors, a file that was only read is folded, changes are in colours."""
    page = open_page(shaped, f"/session/{SESSION}")
    page.locator(".fold > summary").first.click()
    page.locator(".step").nth(5).wait_for()

    expect(page.locator(".of-file summary")).to_have_text("30 lines of a file")
    expect(page.locator(".of-file pre")).to_be_hidden()
    expect(page.locator(".tool-error")).to_have_text("the second lantern has no fuse")
    expect(page.locator(".diff .added .k").first).to_have_text("def")
    assert not re.search("</?(system-reminder|tool_use_error)", page.locator("main").inner_text())


def test_prompts_stand_beside_a_conversation(shaped: Site, open_page: Open) -> None:
    """The prompts are listed, lead to their rows, and the one that is read is marked; totals stand above."""
    page = open_page(shaped, f"/session/{SESSION}", viewport=WIDE)
    prompts = page.locator(".prompts .go")
    expect(prompts).to_have_count(4)
    expect(page.locator(".totals")).to_contain_text("tokens read")
    expect(page.locator(".totals summary")).to_have_text("1 file changed, 0 read")

    prompts.last.click()

    expect(page.locator(".row.chosen")).to_contain_text("and lantern number 2?")
    expect(prompts.last).to_have_attribute("aria-current", "true")


def test_preview_follows_the_keyboard(sample: Site, open_page: Open) -> None:
    """Beside the list, on a wide screen, is the conversation around the result that the keyboard is at."""
    page = open_page(sample, "/?q=webhook", viewport=WIDE)
    preview = page.get_by_role("region", name="Preview")
    titles = page.locator(".result h2")
    titles.nth(1).wait_for()
    expect(preview.locator("h2")).to_have_text(titles.first.inner_text())

    page.locator("#words").press("Enter")
    page.keyboard.press("j")
    expect(preview.locator("h2")).to_have_text(titles.nth(1).inner_text())
    expect(preview.locator("mark").first).to_be_attached()
    page.locator(".result").nth(2).locator(".where").click(position={"x": 300, "y": 8})
    expect(preview.locator("h2")).to_have_text(titles.nth(2).inner_text())

    page.set_viewport_size({"width": 1000, "height": 800})
    expect(preview).to_be_hidden()


def test_filter_that_hides_everything_is_dropped(sample: Site, open_page: Open) -> None:
    """Where filters keep everything away, each can be dropped, and values that there are can be taken."""
    page = open_page(sample, "/?q=webhook+project%3Ateashopp+kind%3Atext")
    expect(page.locator(".hints")).to_contain_text("Nothing has project:teashopp. Did you mean")

    page.locator(".hints").get_by_role("button", name="teashop", exact=True).click()
    expect(page.locator("#words")).to_have_value("webhook project:teashop kind:text")
    expect(page.locator(".result").first).to_be_visible()
    page.go_back()
    page.locator(".hints").get_by_role("button", name="Drop project:teashopp").click()

    expect(page.locator("#words")).to_have_value("webhook kind:text")
    expect(page.locator(".result").first).to_be_visible()


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_tree_is_never_cut_off(sample: Site, open_page: Open, width: int) -> None:
    """Every line of the tree ends on the screen, with an ellipsis where it is cut, and has its time."""
    page = open_page(sample, f"{WITH_AGENT}?show=tree", viewport={"width": width, "height": 800})
    page.locator(".tree li").first.wait_for()

    beyond = page.locator(".tree li > *").evaluate_all(
        "(all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length"
    )

    assert beyond == 0
    expect(page.locator(".tree li a").first).to_have_css("text-overflow", "ellipsis")
    expect(page.locator(".tree li time").first).to_contain_text(re.compile(r"\d\d:\d\d"))


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_labels_never_collide(sample: Site, open_page: Open, width: int) -> None:
    """On no screen do two labels of the overview lie on each other."""
    page = open_page(sample, "/overview", viewport={"width": width, "height": 800})
    page.locator(".plot.list").last.wait_for()

    assert [] == page.evaluate(COLLIDING)


def test_overview_has_a_range_and_a_calendar(sample: Site, open_page: Open) -> None:
    """A range narrows every figure and stands in the address; a day of the calendar leads to its sessions."""
    page = open_page(sample, "/overview")
    sessions = page.locator(".facts div", has_text="sessions").locator("dd")
    expect(sessions).to_have_text("20")

    page.get_by_role("link", name="7 days").click()
    expect(page.locator(".overview .note")).to_have_text("Nothing was said in this time.")
    assert "range=7d" in page.url
    page.get_by_role("link", name="All").click()
    expect(sessions).to_have_text("20")
    page.locator(".calendar a").last.click()

    expect(page.locator(".recent > li h3")).to_have_text(["TLS certificate check was off since March"])


def test_phone_in_landscape_is_enough(sample: Site, open_page: Open) -> None:
    """On a phone that lies on its side nothing is wider than the screen, and most of it shows what was asked for."""
    page = open_page(sample, viewport={"width": 844, "height": 390})
    for path in ("/", "/?q=webhook", f"{WITH_AGENT}?q=charge", f"{WITH_AGENT}?show=tree", "/overview"):
        page.goto(sample.base + path)
        page.locator(".recent li, .result, .row, .tree li, .plot").first.wait_for()

        assert page.evaluate("document.documentElement.scrollWidth") <= 844, path
        assert page.locator(".top").bounding_box()["height"] < 390 / 4, path  # type: ignore[index]  # it is shown


def test_secrets_are_revealed_on_request(site: Site, open_page: Open) -> None:
    """A secret is masked in every view until the owner presses a button, which comes only where one was masked."""
    site.home.session(SESSION).prompt(f"light the lantern with {TOKEN}")
    site.home.session(OTHER_SESSION).prompt("where is the candle")
    site.open()
    page = open_page(site, "/?q=candle")
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator("#secrets")).to_be_hidden()

    page.locator("#words").fill("lantern")
    expect(page.locator(".result .passage")).to_contain_text("[masked: GitHub token")
    page.get_by_role("button", name="Reveal secrets").click()
    expect(page.locator(".result .passage")).to_contain_text(TOKEN)
    page.locator(".result a.open").click()
    expect(page.locator(".row.prompt")).to_contain_text(TOKEN)
    page.get_by_role("button", name="Mask secrets").click()

    expect(page.locator(".row.prompt")).to_contain_text("[masked: GitHub token")
    assert TOKEN not in page.locator("body").inner_text()
