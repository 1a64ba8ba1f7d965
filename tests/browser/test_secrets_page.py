"""Secrets are masked on the page until its owner presses a button."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.site import Site
from tests.support.answers import SESSION
from tests.support.transcript import Home

pytestmark = pytest.mark.slow
# A key of the form that tokens have; nobody was given it.
KEY = "ghp_" + "a1B2c3D4e5F6" * 3


def test_secrets_are_shown_when_that_is_asked_for(site: Site, open_page: Open, home: Home) -> None:
    """Results and conversations have masks, and a button that shows secrets until the page is loaded again."""
    home.session(SESSION).prompt(f"the lantern needs {KEY} to burn")
    site.open(home.root)
    page = open_page(site, "/?q=lantern")
    button = page.get_by_role("button", name="Reveal secrets")

    expect(page.get_by_text("[masked: GitHub token")).not_to_have_count(0)
    assert KEY not in page.content()
    button.click()
    expect(page.get_by_text(KEY)).not_to_have_count(0)
    expect(page.get_by_role("button", name="Mask secrets")).to_be_visible()
    page.reload()
    expect(page.get_by_text("[masked: GitHub token")).not_to_have_count(0)
    assert KEY not in page.content()
