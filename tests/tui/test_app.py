"""The interface as somebody uses it: typing, moving, reading, filtering, reopening, leaving."""

from pathlib import Path

import pytest

from searchkit.tui.app import Outcome
from searchkit.tui.preview import Preview
from searchkit.tui.query_line import QueryLine
from searchkit.tui.results import Results
from tests.tui.conftest import LEAK, SLOW
from tests.tui.screen import NARROW, TINY, Screen, drive


def test_sessions_are_listed_until_something_is_typed(history: Path) -> None:
    """The newest sessions stand there at first; typing searches, and an empty line lists them again."""

    async def script(screen: Screen) -> None:
        assert "2 sessions, newest first" in screen.rows[-1]

        await screen.type("unbounded")

        assert 1 == screen.text.count("1 match")
        assert [LEAK] == [item.session for item in screen.app.query_one(Results).items]
        await screen.press("ctrl+u")
        assert "2 sessions, newest first" in screen.rows[-1]

    assert drive(history, script) is None


def test_result_shows_what_answers_it_beside_the_conversation(history: Path) -> None:
    """A prompt that was found has its answer below it in the list, and the preview shows both in full."""

    async def script(screen: Screen) -> None:
        await screen.ask("checkout slow")

        left = [row.partition("│")[0] for row in screen.rows]
        right = "\n".join(row.partition("│")[2] for row in screen.rows)
        assert any("why is the checkout query slow?" in row for row in left)
        assert any("The checkout query scans all" in row for row in left)
        assert "> you" in right
        assert "an index on customer_id" in right

    drive(history, script)


def test_markup_in_a_transcript_is_text(history: Path) -> None:
    """Signs of Rich and Textual stand on the screen as they were written, and no control character does."""

    async def script(screen: Screen) -> None:
        await screen.ask("memory grows")

        assert "[link=https://bad.example]here[/link]" in screen.text.replace("\n", "")
        assert "\x1b" not in screen.text
        assert screen.app.query_one(Preview).reading is not None
        await screen.press("escape", "y", "f")

    drive(history, script)


def test_keys_move_through_the_list_and_back(history: Path) -> None:
    """Arrows move the list from within the query; j and k do in the list, and / goes back to the query."""

    async def script(screen: Screen) -> None:
        results = screen.app.query_one(Results)
        await screen.press("down")
        assert 1 == results.number
        assert "query" == screen.focused
        await screen.press("escape", "k")
        assert 0 == results.number
        assert "results" == screen.focused
        await screen.press("j", "j", "G", "g", "l")
        assert "preview" == screen.focused
        await screen.press("n", "N", "space", "b", "escape", "slash")
        assert "query" == screen.focused

    drive(history, script)


def test_enter_reopens_the_session(history: Path) -> None:
    """Enter leaves the screen with the session to reopen, from the query as well as from the list."""

    async def script(screen: Screen) -> None:
        await screen.ask("checkout")
        await screen.pilot.press("enter")

    assert Outcome(action="resume", session=SLOW) == drive(history, script)


def test_session_whose_directory_is_missing_is_not_reopened(history: Path) -> None:
    """What stands in the way is said, and the interface stays."""

    async def script(screen: Screen) -> None:
        await screen.ask("unbounded")
        await screen.press("escape", "enter")

        assert "does not exist" in screen.text

    assert drive(history, script) is None


def test_stale_list_is_not_acted_upon(history: Path) -> None:
    """Enter right after a letter does not reopen a session of the list before it."""

    async def script(screen: Screen) -> None:
        screen.app.query_one(QueryLine).value = "checkout"
        await screen.app.action_resume()

        assert screen.app.return_value is None

    drive(history, script)


def test_filters_are_completed(history: Path) -> None:
    """Tab completes the name of a filter, then its values one after the other, and moves on where there is nothing."""

    async def script(screen: Screen) -> None:
        query = screen.app.query_one(QueryLine)
        await screen.ask("memory proj")
        assert "Tab: project:" in screen.rows[1]
        await screen.press("tab")
        assert "memory project:" == query.value
        await screen.press("tab")
        first = query.value
        await screen.press("tab")
        assert {"memory project:shop", "memory project:driftlog"} == {first, query.value}
        await screen.press("space", "tab")
        assert "results" == screen.focused

    drive(history, script)


def test_facet_writes_its_filter_into_the_query(history: Path) -> None:
    """Enter on a value adds the filter, and Enter again takes it away."""

    async def script(screen: Screen) -> None:
        query = screen.app.query_one(QueryLine)
        await screen.ask("query OR memory")
        await screen.press("escape", "f")
        assert "facets" == screen.focused
        await screen.press("enter")
        chosen = query.value.removeprefix("query OR memory ")
        assert chosen in ("project:shop", "project:driftlog")
        assert f"[x] {chosen.removeprefix('project:')}" in screen.text
        await screen.press("enter")
        assert "query OR memory" == query.value
        await screen.press("f")
        assert "[x]" not in screen.text

    drive(history, script)


def test_mouse_chooses_and_reads(history: Path) -> None:
    """A click chooses a result, and a click on the chosen one reads it."""

    async def script(screen: Screen) -> None:
        results = screen.app.query_one(Results)
        await screen.pilot.click(Results, offset=(3, results._begins[1]))
        await screen.settle()
        assert 1 == results.number
        await screen.pilot.click(Results, offset=(3, results._begins[1]))
        await screen.settle()
        assert "preview" == screen.focused

    drive(history, script)


@pytest.mark.parametrize("size", [NARROW, TINY, (1, 1)])
def test_small_terminal_has_one_pane(history: Path, size: tuple[int, int]) -> None:
    """Below 80 columns the conversation takes the place of the list while it is read, and nothing is wider."""

    async def script(screen: Screen) -> None:
        await screen.ask("checkout")
        assert not screen.app.query_one(Preview).is_on_screen
        await screen.press("escape", "l")
        assert not screen.app.query_one(Results).is_on_screen
        assert all(len(row) <= size[0] for row in screen.rows)
        await screen.press("escape", "f", "escape", "question_mark", "x", "y", "s")

    drive(history, script, size)


def test_resize_lays_everything_out_again(history: Path) -> None:
    """A terminal that becomes narrow hides the preview, and shows it again when it is wide."""

    async def script(screen: Screen) -> None:
        await screen.ask("checkout")
        for size, is_shown in ((NARROW, False), ((100, 30), True), (TINY, False), ((120, 36), True)):
            await screen.pilot.resize_terminal(*size)
            await screen.settle()
            assert is_shown == screen.app.query_one(Preview).is_on_screen
        assert "The checkout query scans" in screen.text

    drive(history, script)


def test_empty_answer_says_why(history: Path) -> None:
    """What stands between the question and an answer is said in place of results."""

    async def script(screen: Screen) -> None:
        await screen.ask("checkout project:driftlog")
        assert "without them" in screen.text
        await screen.press("ctrl+u")
        await screen.ask("zzzzqqqq")
        assert "Nothing matches" in screen.text

    drive(history, script)


def test_order_is_changed_by_a_key(history: Path) -> None:
    """The list says which order it has."""

    async def script(screen: Screen) -> None:
        await screen.ask("query OR memory")
        await screen.press("escape", "s")
        assert "newest first" in screen.rows[-1]

    drive(history, script)


def test_index_is_offered_where_there_is_none(tmp_path: Path) -> None:
    """Without an index, a key makes one."""

    async def script(screen: Screen) -> None:
        assert "There is no index yet." in screen.text
        await screen.press("i")

    assert Outcome(action="index") == drive(tmp_path / "none", script)


@pytest.mark.parametrize("keys", [["escape", "q"], ["ctrl+c"]])
def test_interface_is_left(history: Path, keys: list[str]) -> None:
    """Ctrl-C leaves from anywhere, q from where nothing is typed."""

    async def script(screen: Screen) -> None:
        await screen.pilot.press(*keys)
        assert not screen.app.is_running or screen.app._exit

    assert drive(history, script) is None
