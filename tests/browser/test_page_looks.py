"""How the page looks: light and dark, on a phone and on a wide screen, and to who cannot see it."""

import re
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.site import Site

pytestmark = pytest.mark.slow

VIEWS = ["/", "/?q=webhook", "/session/d7273ac5-1b02-4834-a656-c3bf97d16b5a?q=webhook",
         "/session/2a1ec627-f1c4-4f1e-a4b5-7cb2f2f58e92?show=tree", "/overview"]  # fmt: skip
# What the Web Content Accessibility Guidelines ask of text.
LEAST_CONTRAST = 4.5

FAINT = """(least) => {
  const light = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const luminance = ([red, green, blue]) => 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parts = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return parts("white");
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = new Set();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const isSeen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!texts.currentNode.data.trim() || !isSeen) continue;
    const style = getComputedStyle(element);
    const ink = parts(element instanceof SVGElement ? style.fill : style.color);
    if (ink[3] < 255) continue;
    const [one, other] = [luminance(ink), luminance(behind(element))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < least) faint.add(`${element.tagName}.${element.className}: ${contrast.toFixed(2)}`);
  }
  return [...faint];
}"""

NAMELESS = """() => [...document.querySelectorAll(
  "a[href], button, input, select, summary, [role=button], img, svg[role]")]
  .filter((one) => one.checkVisibility())
  .filter((one) => !(one.getAttribute("aria-label") || one.labels?.length || one.alt || one.textContent.trim()))
  .map((one) => one.outerHTML.slice(0, 120))"""


def shown(page: Page) -> None:
    """Wait until a view is there, facets included."""
    page.locator("main h1, main h2, .facet").first.wait_for()
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", VIEWS)
def test_everything_can_be_read(sample: Site, open_page: Open, path: str, scheme: Literal["light", "dark"]) -> None:
    """Every text stands out from what is behind it, and every control has a name."""
    page = open_page(sample, path, color_scheme=scheme)
    shown(page)

    assert [] == page.evaluate(FAINT, LEAST_CONTRAST)
    assert [] == page.evaluate(NAMELESS)


@pytest.mark.parametrize("width", [320, 390, 800, 1280, 2200])
@pytest.mark.parametrize("path", VIEWS)
def test_nothing_is_wider_than_the_screen(sample: Site, open_page: Open, path: str, width: int) -> None:
    """The page never scrolls sideways, from the smallest phone to a wide screen."""
    page = open_page(sample, path, viewport={"width": width, "height": 800})
    shown(page)

    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_theme_is_kept(sample: Site, open_page: Open) -> None:
    """The button changes between light and dark, and a reload keeps what was chosen."""
    page = open_page(sample, color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)

    page.get_by_role("button", name="Change between light and dark").click()
    dark = page.evaluate(paper)
    page.reload()

    assert light != dark == page.evaluate(paper)


def test_listeners_are_told(sample: Site, open_page: Open) -> None:
    """How many matches there are is said, and the focus is seen when the tab key moves it."""
    page = open_page(sample, "/?q=webhook")
    expect(page.get_by_role("status").filter(has_text="matches")).to_be_attached()

    page.locator("#words").focus()
    for _ in range(4):
        page.keyboard.press("Tab")

    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_cost_is_shown_with_its_tilde(sample: Site, open_page: Open) -> None:
    """What sessions cost stands in their list, above a conversation and in the overview; estimates are marked."""
    page = open_page(sample, "/")
    expect(page.locator(".where .cost").first).to_have_text(re.compile(r"^~\$\d+\.\d\d$"))

    page = open_page(sample, VIEWS[2])
    expect(page.locator("header.session .cost")).to_have_attribute("title", "An estimate from tokens by list prices")

    page = open_page(sample, "/overview")
    expect(page.locator(".facts div", has=page.get_by_text("cost", exact=True))).to_contain_text("~$")


def test_overview_shows_plots(sample: Site, open_page: Open) -> None:
    """Days, projects, tools and files are drawn; a tool leads to what was done with it."""
    page = open_page(sample, "/overview")
    expect(page.locator(".plot h2")).to_contain_text(["Prompts and responses", "Tokens written", "Tokens read",
        "Cost", "Sessions by project", "Tools used most", "Files touched most", "Models"])  # fmt: skip

    page.get_by_role("link", name="Bash").click()

    expect(page.locator("#words")).to_have_value("tool:Bash")
    expect(page.locator(".result").first).to_be_visible()
