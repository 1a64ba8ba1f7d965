"""A browser for all tests, the pages they open, and sites of the sample and of a generated corpus."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect, sync_playwright

from tests.browser.site import CHROMIUM, FLAGS, SAMPLE, Site, must_have_a_browser

CORPUS_MEGABYTES = 3
# Far more than anything takes, also on a busy machine.
MOST_MILLISECONDS = 30_000

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start a browser, which takes a second."""
    must_have_a_browser()
    expect.set_options(timeout=MOST_MILLISECONDS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve the bundled sample."""
    with closing(Site(tmp_path_factory.mktemp("sample"))) as site:
        site.open(SAMPLE)
        yield site


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve a generated corpus."""
    directory = tmp_path_factory.mktemp("corpus")
    command = [sys.executable, "-m", "tests.corpus", str(directory / "root"), "--mb", str(CORPUS_MEGABYTES)]
    subprocess.run(command, check=True, capture_output=True)
    with closing(Site(directory)) as site:
        site.open(directory / "root")
        yield site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Give a site whose transcripts the test writes before it opens it."""
    with closing(Site(tmp_path)) as made:
        yield made


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Give a function that opens a page of a site; nothing may go wrong in any of them."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def asked(dialog: Dialog) -> None:
        troubles.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def open_one(site: Site, path: str = "/", **settings: object) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})  # type: ignore[arg-type]  # whatever playwright takes
        context.set_default_timeout(MOST_MILLISECONDS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None)
        page.on("dialog", asked)
        page.goto(site.address)
        if path != "/":
            page.goto(site.base + path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [] == troubles
