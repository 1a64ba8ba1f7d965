"""Drives the interface with Textual's pilot, and reads what is on its screen."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

from searchkit.tui.app import Outcome, SearchApp
from searchkit.tui.query_line import QueryLine

WIDE, NARROW, TINY = (120, 36), (60, 20), (20, 8)
_PAUSE_SECONDS = 0.02
_MOST_PAUSES, _QUIET_PAUSES = 2_000, 3
_NAMED = {" ": "space", ":": "colon", "-": "minus", '"': "quotation_mark", "/": "slash"}


class Screen:
    """The interface while a test drives it."""

    def __init__(self, app: SearchApp, pilot: Pilot[Outcome]) -> None:
        self.app, self.pilot = app, pilot

    async def ask(self, text: str) -> None:
        """Put a text into the query at once, and wait for the answer."""
        query = self.app.query_one(QueryLine)
        query.value = text
        query.cursor_position = len(text)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type a text, letter by letter, and wait for the answer."""
        await self.press(*(_NAMED.get(one, one) for one in text))

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until nothing is asked any more."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is asked any more."""
        quiet = 0
        for _ in range(_MOST_PAUSES):
            await self.pilot.pause(_PAUSE_SECONDS)
            # What is answered may lead to another question.
            quiet = 0 if any(worker.is_running for worker in self.app.workers) else quiet + 1
            if quiet == _QUIET_PAUSES:
                return
        raise AssertionError("it did not come to rest")

    @property
    def focused(self) -> str | None:
        """The pane that has the keys."""
        return self.app.focused.id if self.app.focused else None

    @property
    def rows(self) -> list[str]:
        """What is on the screen, row by row."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(self.rows)


def drive(
    index: Path | str,
    script: Callable[[Screen], Awaitable[None]],
    size: tuple[int, int] = WIDE,
    is_resident_wanted: bool = False,
) -> Outcome | None:
    """Run the interface, let a script use it, and return what it left with."""

    async def run() -> Outcome | None:
        app = SearchApp(str(index), is_resident_wanted)
        async with app.run_test(size=size, notifications=True) as pilot:
            screen = Screen(app, pilot)
            await screen.settle()
            await script(screen)
        return app.return_value

    return asyncio.run(run())
