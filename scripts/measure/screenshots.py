"""Pictures of the page over the sample, to be looked at; one of them is in the README."""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

# Debian's package; elsewhere the variable says where the browser is.
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
SAMPLE = Path(__file__).parent.parent.parent / "searchkit" / "sample"
# Sessions of the sample: one with a subagent, one with branches.
WITH_AGENT = "d7273ac5-1b02-4834-a656-c3bf97d16b5a"
VIEWS = {
    "home": "/",
    "search": "/?q=double+charge",
    "empty": "/?q=charge+project%3Anowhere",
    "calls": "/?q=tool%3ABash+pytest",
    "reading": f"/session/{WITH_AGENT}?q=charge",
    "tree": f"/session/{WITH_AGENT}?show=tree",
    "overview": "/overview",
}
SIZES = {"wide": (1440, 900), "phone": (390, 844), "landscape": (844, 390), "readme": (1360, 760)}
SCHEMES = ("light", "dark")
# The picture that is kept as docs/page.png.
README = ("search", "light")
# What moves when it is looked at has come to rest by then.
REST_MS = 700


def main() -> int:
    """Serve the sample, take every picture, and say where they are."""
    parser = argparse.ArgumentParser(prog="screenshots", description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, default=Path("screenshots"), metavar="DIR")
    directory = parser.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="searchkit-screenshots-") as scratch:
        for path in _taken(Path(scratch) / "index", directory):
            print(path)
    return 0


def _taken(index: Path, directory: Path) -> list[Path]:
    from playwright.sync_api import sync_playwright

    from searchkit import Engine
    from searchkit.client import control

    with Engine(index, [SAMPLE]) as engine:
        engine.index(with_vectors=True)
    control.start(index, [str(SAMPLE)])
    address = control.listen(index, 0)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            return [
                _picture(browser, address, view, size, scheme, directory)
                for view in VIEWS
                for size in SIZES
                for scheme in SCHEMES
                if size != "readme" or (view, scheme) == README
            ]
    finally:
        control.stop(index)


def _picture(browser: Any, address: str, view: str, size: str, scheme: str, directory: Path) -> Path:
    width, height = SIZES[size]
    viewport = {"width": width, "height": height}
    context = browser.new_context(viewport=viewport, color_scheme=scheme, locale="en-GB", device_scale_factor=1)
    page = context.new_page()
    page.goto(address)
    page.goto(address.partition("/#")[0] + VIEWS[view])
    page.locator("main h1:visible, main h2:visible").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(REST_MS)
    # The field has no cursor in a picture.
    page.evaluate("document.activeElement.blur()")
    path = directory / f"{view}-{size}-{scheme}.png"
    page.screenshot(path=path)
    context.close()
    return path
