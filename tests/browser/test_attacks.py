"""A transcript full of attacks: nothing runs, nothing is loaded from elsewhere, nothing breaks the layout."""

import re

import pytest
from playwright.sync_api import Page, expect

from searchkit.text import sanitize
from tests.browser.conftest import Open
from tests.browser.site import Site
from tests.support.hostile_history import EVIL
from tests.support.transcript import Home
from tests.text.test_sanitize import HIDDEN, PEOPLE_NEED

pytestmark = pytest.mark.slow

SESSION = "33333333-3333-4333-8333-333333333333"
RUN = "window.attacked = true"
ATTACKS = [
    f"<script>{RUN}</script>",
    f"<img src=x onerror='{RUN}'>",
    f"<svg onload='{RUN}'><animate onbegin='{RUN}' attributeName=x dur=1s></svg>",
    f"<iframe srcdoc='<script>parent.attacked = true</script>'></iframe><details open ontoggle='{RUN}'>",
    f"[press me](javascript:{RUN.replace(' ', '')})",
    f"[press me too](JaVaScRiPt&#58;{RUN.replace(' ', '')}) <javascript:{RUN.replace(' ', '')}>",
    "[data](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==) [file](file:///etc/passwd)",
    "[rel](//evil.example/x) [path](/session/x) [vb](vbscript:msgbox(1)) [blob](blob:x)",
    f'[title](https://example.com/" onmouseover="{RUN}) ![picture](https://evil.example/track.png)',
    f"![svg](data:image/svg+xml,<svg onload='{RUN}'/>)",
    "<style>* { display: none !important }</style><link rel=stylesheet href=https://evil.example/x.css>",
    "<base href=https://evil.example/><form action=https://evil.example><button>go</button></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "\u202eevil reversed\u202c and \u2066isolated\u2069 and \u200ftext, no\u200bwidth\u2060\u2064 \U000e0041\U000e007f",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b31m \x00\x08\x7f",
    "a" + "\u0301" * 400 + " zalgo " + "\u0e49" * 400,
    "lantern " + "W" * 5_000,
    "`" * 3_000 + "*" * 3_000 + "[" * 3_000 + "(" * 3_000 + "_" * 3_000,
    "> " * 500 + "deep", "- " * 500 + "deep", "|".join(["x"] * 2_000) + "\n" + "|".join(["-"] * 2_000),
    "{{constructor.constructor('window.attacked = true')()}} ${window.attacked = true}",
]  # fmt: skip
LONG = 2_000_000
# A little less than what is not shown as Markdown any more, each with an end that what it begins as cannot have.
LONG_RUNS = [
    "# " + " " * 59_000 + "x", "# x" + " " * 59_000 + "x", "# x" + "#" * 59_000 + "x", "- " + " " * 59_000 + "x\u2028x",
    "|\n" + " " * 59_000 + "|x", "|\n|-" + " " * 59_000 + "x", "|\n" + "-" * 59_000 + "|x", "x" + "`" * 59_000,
]  # fmt: skip
# Where time grows with the square of the length, each of them takes seconds.
MOST_MILLISECONDS = 500


def attacked(home: Home) -> None:
    """Write every attack as every kind of thing that is shown."""
    told = home.session(SESSION, cwd="/home/mira/<img src=x onerror=alert(1)>", branch="<script>alert(1)</script>")
    for number, attack in enumerate(ATTACKS):
        told.prompt(f"lantern {number}: {attack}")
        told.thinking(f"lantern {attack}")
        call = told.call("Bash", {"command": f"echo {attack}", "description": attack})
        told.result(call, f"lantern {attack}", is_error=bool(number % 2))
        edit = told.call("Edit", {"file_path": attack, "old_string": attack, "new_string": f"{attack} lantern"})
        told.result(edit, [{"type": "text", "text": attack}, _picture()])
        told.text(f"lantern {attack}\n\n```{attack}\n{attack}\n```\n\n| {attack} | b |\n|---|---|\n| c | {attack} |")
    told.line({"type": "summary", "summary": ATTACKS[1] + " lantern", "leafUuid": told.last})
    told.prompt("one line of two megabytes: lantern " + "<b>x</b> " * (LONG // 9))


def _picture() -> dict[str, object]:
    """Make what says that it is a picture and is none."""
    svg = "PHN2ZyBvbmxvYWQ9J2FsZXJ0KDEpJy8+"
    return {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": svg}}


@pytest.fixture
def hostile(site: Site) -> Site:
    """Serve the attacks."""
    attacked(site.home)
    site.open()
    return site


def harmed(page: Page) -> list[str]:
    """Return what went wrong: something ran, came from a transcript as an element, or is wider than the page."""
    found: list[str] = page.evaluate(
        """() => [
          window.attacked ? "a script ran" : "",
          ...["script:not([src])", "iframe", "object", "embed", "style", "base", "meta[http-equiv]", "[style*=url]"]
            .filter((selector) => document.querySelector(`main ${selector}`)),
          ...[...document.querySelectorAll("main *")].flatMap((element) => [...element.attributes]
            .filter((one) => one.name.startsWith("on")).map((one) => one.name)),
          ...[...document.querySelectorAll("main a[href], main img[src]")]
            .map((one) => one.getAttribute("href") ?? one.getAttribute("src"))
            .filter((address) => !/^(\\/|https:\\/\\/(example\\.com|evil\\.example))/.test(address)),
          document.documentElement.scrollWidth > innerWidth + 1 ? "wider than the page" : "",
        ].filter(Boolean)"""
    )
    return found


@pytest.mark.parametrize("width", [1280, 390])
def test_attacks_do_nothing(hostile: Site, open_page: Open, width: int) -> None:
    """Searched, unfolded, read to the end and drawn as a tree, hostile text stays text."""
    page = open_page(hostile, "/?q=lantern", viewport={"width": width, "height": 900})
    elsewhere: list[str] = []
    page.on("request", lambda asked: None if asked.url.startswith(hostile.base) else elsewhere.append(asked.url))
    expect(page.locator(".result mark").first).to_be_visible()
    for details in page.locator(".result details summary").all():
        details.click()
    troubles = harmed(page)

    for path in (f"/session/{SESSION}?q=lantern", f"/session/{SESSION}?show=tree", "/overview"):
        page.goto(hostile.base + path)
        page.locator(".row, .tree svg, .plot").first.wait_for()
        for share in range(1, 9):
            page.evaluate(f"scrollTo(0, document.body.scrollHeight * {share / 8})")
            page.evaluate("document.querySelectorAll('details:not([open]) > summary').forEach((one) => one.click())")
            page.wait_for_load_state("networkidle")
            page.evaluate("() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
            troubles += harmed(page)

    assert [] == troubles
    assert [] == elsewhere


def test_hidden_characters_are_seen(hostile: Site, open_page: Open) -> None:
    """What would turn a text around, command a terminal or not be seen at all is shown as what it is."""
    page = open_page(hostile, f"/session/{SESSION}")
    page.locator(".row").first.wait_for()
    shown = page.locator(".row.prompt", has_text="evil reversed")
    for share in range(1, 9):
        if shown.count():
            break
        page.evaluate(f"scrollTo(0, document.body.scrollHeight * {share / 8})")
        page.wait_for_load_state("networkidle")

    text = shown.inner_text()

    assert {"U+202E", "U+200B", "U+2064", "U+E0041"} <= set(re.findall(r"U\+\w+", text))
    assert not set("\u202e\u2066\x1b\u200b\u2060\u2064\U000e0041\U000e007f") & set(text)


def test_page_and_terminal_agree_on_what_is_hidden(sample: Site, open_page: Open) -> None:
    """Issue 15: what is copied may be pasted into a terminal, so it is what a terminal gets."""
    texts = [EVIL, *PEOPLE_NEED, *(f"a{chr(code)}b" for code in range(0x110000) if HIDDEN.match(chr(code)))]
    page = open_page(sample)

    copied = page.evaluate(
        """async (texts) => {
          const { stripped } = await import("/page/script/harmless.js");
          return texts.map(stripped);
        }""",
        texts,
    )

    assert [sanitize.safe(text) for text in texts] == copied


@pytest.mark.parametrize("uuid", ["$(touch x)", "--help", "a b", "a\nb", "a\u200bb"])
def test_citation_names_no_command_for_what_is_no_id(sample: Site, open_page: Open, uuid: str) -> None:
    """Issue 15: whoever cites a message may paste the end of it into a shell."""
    page = open_page(sample)

    cited = page.evaluate(
        """async (uuid) => {
          const { citation } = await import("/page/script/copy.js");
          return [uuid, "6733e3cb-52ef"].map((one) => citation({ title: "a\\nb", project: "/src/x", uuid: one }));
        }""",
        uuid,
    )

    assert ["a b, x", "a b, x (searchkit show 6733e3cb-52ef)"] == cited


def test_very_long_line_is_cut_and_can_be_had_whole(hostile: Site, open_page: Open) -> None:
    """Of two megabytes the beginning is shown, and the rest on request, without harm."""
    page = open_page(hostile, f"/session/{SESSION}?q=megabytes")
    rest = page.locator(".row.chosen").get_by_role("button", name="more characters")
    page.locator(".row").first.wait_for()
    page.keyboard.press("n")

    rest.click()
    expect(page.locator("pre.whole")).to_contain_text("<b>x</b>")

    assert [] == harmed(page)
    assert page.locator("pre.whole b").count() == 0


@pytest.mark.parametrize("text", LONG_RUNS)
def test_long_runs_do_not_freeze_the_page(sample: Site, open_page: Open, text: str) -> None:
    """A long run of one character is made into elements at once."""
    page = open_page(sample)

    milliseconds = page.evaluate(
        """async (text) => {
          const { markdown } = await import("/page/script/markdown.js");
          const began = performance.now();
          markdown(text);
          return performance.now() - began;
        }""",
        text,
    )

    assert milliseconds < MOST_MILLISECONDS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## A title ##", "<h4>A title</h4>"),
        ("# C# and F", "<h3>C# and F</h3>"),
        ("#   spaced  \r", "<h3>spaced</h3>"),
        ("#none", "<p>#none</p>"),
        ("a | b\n --- | :-: \nc | d", "<th>a</th><th>b</th>"),
        ("a | b\nc | d", "<p>a | b<br>c | d</p>"),
        ("some `code` and ``a`b``", "<code>code</code>"),
    ],
)
def test_markdown_is_shown(sample: Site, open_page: Open, text: str, shown: str) -> None:
    """Headings lose what closes them, and a table is one only with its divider."""
    page = open_page(sample)

    html = page.evaluate(
        """async (text) => {
          const { markdown } = await import("/page/script/markdown.js");
          return markdown(text).map((one) => one.outerHTML).join("");
        }""",
        text,
    )

    assert shown in html
