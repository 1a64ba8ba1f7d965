"""From key press to painted results, and the first screen of a long session, in a real browser.

As a program, python -m measure.page INDEX SESSION, it drives the browser and prints what it saw as JSON.
"""

import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

from measure.child import run_json
from measure.figures import Figure
from measure.subject import Subject

# The goal of issue 7, show 4: three times what the engine itself takes, and one frame.
PAINTED_RATIO = 3.0
FRAME_MS = 1000 / 60
# Common and rare words, as people type them, in one go and with a filter.
TYPED = ("database error", "timeout retry", "flaky test", "kind:prompt cache", "connection refused", "parser")
KEY_MS = 120
ROUNDS = 3
LONG_RECORDS = 10_000


def page(subject: Subject) -> list[Figure]:
    """Type into the page, and open the longest session."""
    from searchkit import Engine

    with Engine(subject.built()) as engine:
        longest = max(engine.sessions(), key=lambda session: min(session.records, LONG_RECORDS * 2))
    seen = run_json([sys.executable, "-m", "measure.page", str(subject.built()), longest.id])
    ratios = sorted(max(0.0, took - FRAME_MS) / max(engine_ms, 1.0) for took, engine_ms in seen["painted"])
    tenth = ratios[int(len(ratios) * 0.9)]
    took, own = (statistics.median(one[place] for one in seen["painted"]) for place in (0, 1))
    opened = f"{seen['rows']} of {seen['total']} rows loaded for {longest.records:,} records"
    return [
        Figure(
            name="key press to painted results, without a frame, to the engine's time",
            value=statistics.median(ratios),
            goal=PAINTED_RATIO,
            note=f"{took:.0f} ms to {own:.0f} ms, nine of ten below {tenth:.1f}; {len(ratios)} key presses",
        ),
        Figure(name="  first screen of the longest session", value=seen["opened"], unit="ms", note=opened),
    ]


def main() -> None:
    """Be the process that drives the browser."""
    # Imported here, because whoever measures memory must stay small.
    from playwright.sync_api import sync_playwright

    from searchkit.client import control

    index, session = Path(sys.argv[1]), sys.argv[2]
    executable = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    control.start(index, [])
    address = control.listen(index, 0)
    base = address.partition("/#")[0]
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=flags)
            shown = browser.new_page(viewport={"width": 1280, "height": 900})
            shown.goto(address)
            _type(shown)
            shown.evaluate("performance.clearMeasures()")
            for _ in range(ROUNDS):
                _type(shown)
            painted = shown.evaluate(
                "performance.getEntriesByName('searchkit:words').map((one) => [one.duration, one.detail.engine])"
            )
            opened = [_open(shown, f"{base}/session/{session}") for _ in range(ROUNDS)]
            browser.close()
    finally:
        control.stop(index)
    opened.sort(key=lambda one: one["opened"])
    print(json.dumps({"painted": painted, **opened[len(opened) // 2]}))


def _type(shown: Any) -> None:
    for words in TYPED:
        shown.locator("#words").select_text()
        shown.keyboard.type(words, delay=KEY_MS)
        shown.wait_for_load_state("networkidle")


def _open(shown: Any, address: str) -> dict[str, Any]:
    """Open a session, and say when its first screen was there and how much of it was loaded for that."""
    with shown.expect_response(lambda response: "/v1/readings/" in response.url) as answered:
        shown.goto(address)
    shown.locator(".row").first.wait_for()
    answer = answered.value.json()
    opened = shown.evaluate("performance.getEntriesByName('searchkit:conversation')[0].startTime")
    return {"opened": opened, "rows": len(answer["rows"]), "total": answer["total"]}


if __name__ == "__main__":
    main()
