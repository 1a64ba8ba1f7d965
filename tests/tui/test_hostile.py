"""A history in which everything is hostile stays text on the screen: lists, previews, facets, offers, messages."""

from pathlib import Path

import pytest

from searchkit.tui.results import Results
from tests.support.hostile_history import harm, write
from tests.tui.screen import NARROW, WIDE, Screen, drive

QUESTIONS = ("", "lantern kind:tool_call", "lantern is:error", "tool:")
# Results of each question that are read.
MOST_ITEMS = 2


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of that history."""
    return write(tmp_path_factory.mktemp("hostile")).index


@pytest.mark.parametrize("size", [WIDE, pytest.param(NARROW, marks=pytest.mark.slow)])
def test_nothing_on_the_screen_is_more_than_text(hostile: Path, size: tuple[int, int]) -> None:
    """No row holds a hidden or a controlling character, whatever is listed, read, offered, counted or copied."""

    async def script(screen: Screen) -> None:
        seen: list[str] = []
        for question in QUESTIONS:
            await screen.ask(question)
            seen.append(screen.text)
            await screen.press("escape")
            for _ in range(min(MOST_ITEMS, len(screen.app.query_one(Results).items))):
                await screen.press("l", "y")
                seen.append(screen.text)
                await screen.press("escape", "j")
            await screen.press("f")
            seen.append(screen.text)
            await screen.press("escape", "slash")
        assert [] == [found for text in seen for found in harm(text)]
        assert any("touch ran" in text for text in seen)

    drive(hostile, script, size)
