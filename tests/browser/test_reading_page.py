"""Reading in the browser: what stands out, what folds, where links lead, and how much is loaded."""

import base64
import re
import struct
import zlib

import pytest
from playwright.sync_api import Page, expect

from searchkit.web.conversation_api import MOST_READINGS
from tests.browser.conftest import Open
from tests.browser.site import Site
from tests.server.residence import wait_for
from tests.support.transcript import Home, Transcript, tool_id

pytestmark = pytest.mark.slow

SESSION = "22222222-2222-4222-8222-222222222222"
# Messages of the long session, as the issue has it.
MANY = 10_000
# A screen, what lies near it, and no more.
MOST_ROWS = 520


IS_SEEN = """[...document.querySelectorAll(".row")].some((row) => {
  const box = row.getBoundingClientRect();
  return box.top < innerHeight && box.bottom > 0;
})"""

NUMBERS_SEEN = """(rows) => rows
  .filter((row) => row.getBoundingClientRect().top < innerHeight && row.getBoundingClientRect().bottom > 0)
  .map((row) => Number(row.dataset.number))"""


def png(width: int = 40, height: int = 24) -> str:
    """Make a picture of one colour, in base64."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows = b"".join(b"\x00" + b"\x30\x70\xb0" * width for _ in range(height))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return base64.b64encode(
        b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    ).decode()


def conversation(home: Home) -> Transcript:
    """Write a session with one of everything."""
    told = home.session(SESSION)
    told.prompt("make the **lantern** brighter")
    told.thinking("the lantern has a dimmer, which is where I begin")
    edit = told.call("Edit", {"file_path": "/src/lantern.py", "old_string": "dim = 3", "new_string": "dim = 9"})
    told.result(edit, "The file was updated")
    shell = told.call("Bash", {"command": "make lantern", "description": "Build it"})
    told.result(shell, "make: *** no rule", is_error=True)
    look = told.call("Read", {"file_path": "/src/shot.png"})
    source = {"type": "base64", "media_type": "image/png", "data": png()}
    told.result(look, [{"type": "image", "source": source}])
    task = told.call(
        "Task", {"description": "Find the fuse", "prompt": "where is the fuse", "subagent_type": "Explore"}
    )
    told.result(task, "The fuse is in the **cellar**.", toolUseResult={"agentId": "abc123", "status": "completed"})
    told.text("```python\nlantern = Lantern(dim=9)  # brighter\n```")
    told.compact("The lantern was made brighter.")
    told.prompt("now the second lantern")
    told.text("It is bright, too.")
    agent = home.agent(SESSION, "abc123")
    agent.prompt("where is the fuse")
    agent.text("In the cellar, behind the lantern.")
    home.meta(SESSION, "abc123", agentType="Explore", description="Find the fuse", toolUseId=tool_id(task))
    return told


def rows(page: Page, kind: str) -> int:
    """Count the rows of a kind that are there."""
    return page.locator(f".row.{kind}").count()


def test_everything_reads_as_what_it_is(site: Site, open_page: Open) -> None:
    """Prompts, code, diffs, failures, pictures and compactions are shown as such; thinking and steps fold."""
    conversation(site.home)
    site.open()
    page = open_page(site, f"/session/{SESSION}")

    expect(page.locator(".row.prompt strong")).to_have_text("lantern")
    expect(page.locator(".row .k, .row .c").first).to_be_attached()
    expect(page.locator(".boundary")).to_have_text("The conversation was compacted here")
    page.locator(".row.steps summary").first.click()
    expect(page.locator(".step .diff .added").first).to_contain_text("dim = 9")
    expect(page.locator(".step .diff .removed").first).to_contain_text("dim = 3")
    expect(page.locator(".step.failed")).to_contain_text("no rule")
    expect(page.locator(".step .thought")).not_to_have_attribute("open", "")
    expect(page.locator(".pictures canvas")).to_have_js_property("width", 40)


def test_way_leads_into_a_subagent_and_back(site: Site, open_page: Open) -> None:
    """A call that started an agent leads to what it did, and that leads back to the call."""
    conversation(site.home)
    site.open()
    page = open_page(site, f"/session/{SESSION}")

    page.get_by_role("link", name="Open subagent: Explore: Find the fuse").click()
    expect(page.locator(".row.text")).to_contain_text("behind the lantern")
    page.get_by_role("navigation", name="Whose work this is").get_by_role("link", name="Session").click()

    expect(page.locator(".row.chosen")).to_contain_text("where is the fuse")
    expect(page.locator(".row.prompt").first).to_contain_text("brighter")


def test_hits_are_walked_through(site: Site, open_page: Open) -> None:
    """Opened from a search, a conversation shows the hit; n and p lead to the others, and the address follows."""
    conversation(site.home)
    site.open()
    page = open_page(site, "/?q=lantern")
    page.locator("a.open").first.click()
    expect(page.locator(".row.chosen mark").first).to_be_visible()
    first, output = page.url, page.locator(".hits output")
    number, total = (int(one) for one in re.findall(r"\d+", output.inner_text()))

    page.keyboard.press("n")
    expect(output).to_have_text(f"{number % total + 1} of {total}")
    page.wait_for_url(lambda url: url != first)
    page.keyboard.press("p")
    expect(output).to_have_text(f"{number} of {total}")

    assert total > 2
    page.wait_for_url(first)


def test_things_are_copied(site: Site, open_page: Open) -> None:
    """A message, a citation of it, and the command that reopens the session go to the clipboard."""
    conversation(site.home)
    site.open()
    page = open_page(site, f"/session/{SESSION}", permissions=["clipboard-read", "clipboard-write"])
    prompt = page.locator(".row.prompt").first
    copied = []

    for button in (
        prompt.get_by_role("button", name="Copy"),
        prompt.get_by_role("button", name="Cite"),
        page.get_by_role("button", name="Copy resume command"),
    ):
        prompt.hover()
        button.click()
        expect(page.get_by_text("Copied").first).to_be_visible()
        copied.append(page.evaluate("navigator.clipboard.readText()"))

    assert "make the **lantern** brighter" == copied[0]
    assert re.search(r"\(searchkit show [0-9a-f-]{36}\)$", copied[1])
    assert copied[2].endswith(f"claude --resume {SESSION}")


def test_tree_is_a_picture_that_leads_on(site: Site, open_page: Open) -> None:
    """Turns, a way that was left and an agent are drawn, and each leads to its place in the conversation."""
    told = conversation(site.home)
    prompt = told.prompt("a third lantern")
    told.text("done")
    told.prompt("no, a fourth lantern", parent=prompt["parentUuid"])
    told.text("done better")
    site.open()
    page = open_page(site, f"/session/{SESSION}")

    page.keyboard.press("t")
    expect(page.locator(".tree rect.agent")).to_have_count(1)
    expect(page.locator(".tree circle.left")).to_have_count(1)
    expect(page.locator(".tree path.compacted")).to_have_count(1)
    page.locator(".tree a", has_text="a third lantern").click()

    expect(page.locator(".session")).to_contain_text("This way was left")
    expect(page.locator(".row.chosen")).to_contain_text("a third lantern")


def test_tree_is_offered_only_of_a_session(site: Site, open_page: Open) -> None:
    """A plan lies beside all sessions: it has no button, no key and no address that draws a tree."""
    site.home.plan("brighter", "# Make the lantern brighter")
    site.open()
    page = open_page(site, "/?q=brighter")
    page.locator("a.open").first.click()
    expect(page.locator(".row.plan")).to_be_visible()
    address = page.url

    expect(page.get_by_role("button", name="Tree")).to_have_count(0)
    page.keyboard.press("t")
    assert address == page.url
    page.goto(f"{address}&show=tree")

    expect(page.locator(".row.plan")).to_contain_text("Make the lantern brighter")


def test_long_session_is_not_loaded_at_once(site: Site, open_page: Open) -> None:
    """Of 10,000 messages the first screen is painted from one answer, and what is far away is let go again."""
    told = site.home.session(SESSION)
    for number in range(MANY // 4):
        told.prompt(f"lantern number {number}")
        call = told.call("Bash", {"command": f"light {number}"})
        told.result(call, f"lit {number}")
        told.text(f"Lantern {number} is lit.")
    site.open()
    page = open_page(site)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.goto(f"{site.base}/session/{SESSION}")
    page.locator(".row.prompt").nth(5).wait_for()
    at_first = [url for url in asked if "/v1/readings/" in url]
    few = page.locator(".row").count()
    for share in range(1, 21):
        page.evaluate(f"scrollTo(0, document.body.scrollHeight * {share / 20})")
        wait_for(lambda: page.evaluate(IS_SEEN))
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.get_by_text(f"Lantern {MANY // 4 - 1} is lit.")).to_be_visible()

    assert len(at_first) <= 2
    assert few <= 120
    assert page.locator(".row").count() <= MOST_ROWS
    assert len([url for url in asked if "/v1/parts/" in url]) == 0


def test_conversation_that_was_let_go_is_laid_out_again(site: Site, open_page: Open) -> None:
    """Where the process keeps others instead and the session grew, the page shows all of it, at the same place."""
    told = site.home.session(SESSION)
    for number in range(MANY // 100):
        told.prompt(f"lantern number {number}")
        told.text(f"Lantern {number} is lit.")
    site.open()
    page = open_page(site, f"/session/{SESSION}")
    page.locator(".row").first.wait_for()
    for number in range(MOST_READINGS):
        site.get(f"/v1/readings/{SESSION}?q=other{number}")
    told.text("The newcomer is lit, too.")
    wait_for(lambda: site.found("newcomer"))

    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    wait_for(lambda: page.evaluate(IS_SEEN))
    middle = page.locator(".row").evaluate_all(NUMBERS_SEEN)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")

    expect(page.get_by_text("The newcomer is lit, too.")).to_be_attached()
    assert MANY // 200 < min(middle) < max(middle) < MANY // 50 - MANY // 200
