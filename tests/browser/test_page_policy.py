"""What the browser refuses the page, should anything from a transcript ever get into it: code, and loading things."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Open
from tests.browser.site import Site
from tests.browser.test_page_doors import opened
from tests.server.residence import wait_for

pytestmark = pytest.mark.slow

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# Each does something that would run a string as code, or make elements of it.
STRINGS = [
    "document.body.innerHTML = '<b>x</b>'",
    "document.body.outerHTML = '<b>x</b>'",
    "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
    "document.write('<b>x</b>')",
    "new DOMParser().parseFromString('<b>x</b>', 'text/html')",
    "document.createElement('iframe').srcdoc = '<b>x</b>'",
    "document.createElement('script').src = '/page/script/main.js'",
    "document.createElement('script').text = 'window.attacked = true'",
    "document.body.setAttribute('onclick', 'window.attacked = true')",
    "document.createElement('object').data = '/page/icon.svg'",
    "document.createElement('embed').src = '/page/icon.svg'",
    "document.createRange().createContextualFragment('<b>x</b>')",
    "trustedTypes.createPolicy('default', { createHTML: (text) => text })",
    "trustedTypes.createPolicy('mine', { createHTML: (text) => text })",
    "new Worker('/page/script/main.js')",
]
# Each loads something, and says how that ended.
LOADS = {
    "img-src data": f"load('img', 'src', 'data:image/png;base64,{PIXEL}')",
    "img-src blob": f"""load('img', 'src', URL.createObjectURL(
        new Blob([Uint8Array.from(atob('{PIXEL}'), (one) => one.charCodeAt(0))], {{ type: 'image/png' }})))""",
    "img-src elsewhere": "load('img', 'src', 'http://127.0.0.1:1/x.png')",
    "frame-src": "load('iframe', 'src', '/')",
    "media-src": "load('video', 'src', '/page/icon.svg')",
    "style-src": "load('link', 'href', 'data:text/css,*{color:red}', { rel: 'stylesheet' })",
    "base-uri": "load('base', 'href', 'http://127.0.0.1:1/')",
    "connect-src": "fetch('http://127.0.0.1:1/').catch(() => null)",
    "connect-src socket": "Promise.resolve(new WebSocket('ws://127.0.0.1:1/')).catch(() => null)",
    "style attribute": "document.createRange && load('p', 'style', 'color: red')",
}
LOAD = """window.violations = [];
addEventListener("securitypolicyviolation", (event) => window.violations.push(event.effectiveDirective));
window.load = (tag, name, value, attributes = {}) => {
  const element = Object.assign(document.createElement(tag), attributes);
  element.setAttribute(name, value);
  document.body.append(element);
};"""


@pytest.mark.parametrize("code", STRINGS)
def test_no_string_becomes_code_or_elements(sample: Site, browser: Browser, code: str) -> None:
    """Trusted Types refuse every way from a string to an element or to code, and no policy can be made (issue 15)."""
    with opened(browser) as page:
        page.goto(sample.address)
        expect(page.locator(".recent li").first).to_be_visible()
        page.evaluate(LOAD)

        said = page.evaluate(
            f"""() => {{
              try {{ {code}; return "let through"; }} catch (error) {{ return error.constructor.name; }}
            }}"""
        )
        page.wait_for_timeout(50)

        # A worker that may not be loaded fails later, but is told at once.
        is_refused = said in ("TypeError", "EvalError", "SecurityError") or page.evaluate("window.violations.length")
        assert is_refused, said
        assert page.evaluate("window.attacked === undefined && !document.querySelector('body > b')")


@pytest.mark.parametrize("load", LOADS.values(), ids=LOADS.keys())
def test_nothing_else_is_loaded(sample: Site, browser: Browser, load: str) -> None:
    """Neither data: nor blob: nor any other place is an exception, for whatever kind of thing (issue 15)."""
    with opened(browser) as page:
        elsewhere: list[str] = []
        page.goto(sample.address)
        expect(page.locator(".recent li").first).to_be_visible()
        page.on("requestfinished", lambda request: elsewhere.append(request.url))
        page.evaluate(LOAD)

        page.evaluate(f"async () => {{ await ({load}); }}")
        wait_for(lambda: page.evaluate("window.violations.length"))

        # A busy browser may fetch the page's own icon only now.
        own = (f"{sample.base}/v1/", f"{sample.base}/page/icon.svg")
        assert [] == [address for address in elsewhere if not address.startswith(own)]


def test_page_itself_violates_nothing(sample: Site, open_page: Open) -> None:
    """Searching, reading, unfolding and plotting do nothing that the policy refuses: nothing is said of it."""
    page = open_page(sample, "/?q=webhook")
    page.evaluate(LOAD)

    page.locator(".result a").first.click()
    expect(page.locator(".row").first).to_be_visible()
    for summary in page.locator(".row.steps summary").all()[:3]:
        summary.click()
    page.locator("nav a[href='/overview']").click()
    expect(page.locator(".plot").first).to_be_visible()

    assert [] == page.evaluate("window.violations")
