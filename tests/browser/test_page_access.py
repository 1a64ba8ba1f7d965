"""Whether everybody can use the page: axe-core over every view, motion, and a clipboard that is refused."""

import io
import json
import re
import shutil
import subprocess
import tarfile

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.site import Site

pytestmark = pytest.mark.slow

AXE = "axe-core@4.10.3"
READING = "/session/d7273ac5-1b02-4834-a656-c3bf97d16b5a"
VIEWS = {
    "home": "/",
    "home, filtered": "/?project=%2Fhome%2Fmira%2Fcode%2Fteashop",
    "results": "/?q=double+charge",
    "nothing found": "/?q=xyzzyq+project%3Anowhere",
    "calls": "/?q=tool%3ABash+pytest",
    "conversation": f"{READING}?q=charge",
    "tree": "/session/2a1ec627-f1c4-4f1e-a4b5-7cb2f2f58e92?show=tree",
    "overview": "/overview",
}
SIZES = ((1440, 900), (390, 844))
RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map((one) =>
  `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`)"""


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fetch axe-core from the registry of npm, for tests only."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm, which fetches axe-core")
    folder = tmp_path_factory.mktemp("axe")
    packed = subprocess.run([npm, "pack", AXE, "--silent"], cwd=folder, capture_output=True, timeout=120, check=False)
    found = list(folder.glob("*.tgz"))
    if packed.returncode or not found:
        pytest.skip("the registry of npm is not reached, so there is no axe-core")
    with tarfile.open(fileobj=io.BytesIO(found[0].read_bytes())) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script
        return script.read().decode()


def shown(page: Page) -> None:
    """Wait until a view is there with all that comes later, and everything unfolded."""
    page.locator("main h1:visible, main h2:visible, .trouble .note").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(400)
    page.evaluate("document.querySelectorAll('main details:not([open]) > summary').forEach((one) => one.click())")
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(sample: Site, open_page: Open, axe: str, scheme: str) -> None:
    """In no view, on a wide screen or a phone, unfolded, is there anything that axe-core calls a violation."""
    found: dict[str, list[str]] = {}
    for width, height in SIZES:
        viewport = {"width": width, "height": height}
        # The page's own policy would refuse the stylesheets that axe-core makes to look at.
        page = open_page(sample, viewport=viewport, color_scheme=scheme, bypass_csp=True)
        for name, path in VIEWS.items():
            page.goto(sample.base + path)
            shown(page)
            page.evaluate(axe)
            if violations := page.evaluate(RUN):
                found[f"{name}, {width} px"] = violations

    assert found == {}, json.dumps(found, indent=1)


def test_nothing_moves_where_motion_is_unwanted(sample: Site, open_page: Open) -> None:
    """Who asks for less motion gets no transition and no animation."""
    page = open_page(sample, "/?q=webhook", reduced_motion="reduce")
    page.locator(".result").first.wait_for()

    moving = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter((one) => {
          const style = getComputedStyle(one);
          const takesTime = style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0);
          return takesTime || style.animationName !== "none";
        }).length"""
    )

    assert moving == 0


def test_refused_clipboard_offers_the_text(sample: Site, open_page: Open) -> None:
    """Where the browser lets no page copy, the text is shown, selected, to be copied by hand."""
    page = open_page(sample, READING)
    prompt = page.locator(".row.prompt").first
    prompt.hover()
    page.evaluate(
        """() => {
          Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new Error()) } });
          document.execCommand = () => false;
        }"""
    )

    prompt.get_by_role("button", name="Copy", exact=True).click()

    expect(page.locator("dialog.offer textarea")).to_have_value(re.compile("^Double charges are back"))
    page.get_by_role("button", name="Close").click()
    expect(page.locator("dialog.offer")).to_have_count(0)


def test_focus_is_reached_by_the_tab_key_alone(sample: Site, open_page: Open) -> None:
    """On every view the tab key goes through the controls, and what it is at can be seen."""
    for path in ("/", "/?q=double+charge", READING, "/overview"):
        page = open_page(sample, path)
        shown(page)
        page.evaluate("document.activeElement.blur()")
        stops = []
        for _ in range(12):
            page.keyboard.press("Tab")
            stops.append(
                page.evaluate(
                    """() => {
                      const one = document.activeElement, style = getComputedStyle(one);
                      const isSeen = style.outlineStyle !== "none" || style.textDecorationLine !== "none" ||
                        [...one.children].some((child) => getComputedStyle(child).outlineStyle !== "none");
                      return one === document.body ? "body" : isSeen ? "" : one.outerHTML.slice(0, 80);
                    }"""
                )
            )
        assert [] == [stop for stop in stops if stop], path
