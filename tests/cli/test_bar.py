"""What somebody sees while an index is made for the first time."""

import pytest

from searchkit.cli.commands.index import drawn
from searchkit.indexing.ingest import Progress
from tests.cli.test_pager import on_terminal
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


@pytest.mark.parametrize(
    ("progress", "seconds", "columns", "line"),
    [
        (Progress(phase="reading", done=5_600_000, left=400_000_000), 0.001, 100, "reading 5.6 MB of 405.6 MB, 0:00"),
        (Progress(phase="reading", done=40_000_000, left=80_000_000), 10, 100, "of 120.0 MB, 4.0 MB/s, 0:20 left"),
        (Progress(phase="meaning", done=0, left=1_024), 5, 100, "embedding 0 of 1,024, 0:05"),
        (Progress(phase="words", done=10, left=0), 61, 100, "indexing 10 of 10, finishing, 1:01"),
        (Progress(phase="meaning", done=512, left=512), 64, 40, "meaning 512 of 1,024, 8/s, 1:04 left"),
    ],
)
def test_bar_says_how_long_only_once_it_knows(progress: Progress, seconds: float, columns: int, line: str) -> None:
    """A rate is what was done since the work began; within the first second, and before anything is done, none is."""
    assert drawn(progress, seconds, columns).endswith(line)


def test_first_index_says_what_was_found_and_what_to_try(home: Home, run: Run) -> None:
    """The first run names sessions, projects and since when, and searches that find something; the next does not."""
    transcript = home.session(SESSION)
    transcript.prompt("giraffes beside the northern lighthouse")
    transcript.call("Edit", {"file_path": "/src/lamp.py", "old_string": "dark", "new_string": "bright"})

    first, second = run("index"), run("index")

    assert "Found 1 session of 1 project, since 2026-03-01." in first.err
    assert "Found" not in second.err
    tried = [line.split("searchkit ", 1)[1].split("  #")[0].strip() for line in first.err.splitlines() if "  #" in line]
    assert 3 == len(tried)
    assert [0, 0, 0] == [run(*one.replace('"', "").split()).status for one in tried]


def test_words_can_be_searched_while_meaning_is_made(home: Home, run: Run) -> None:
    """Between the two bars, a line says that one can search."""
    transcript = home.session(SESSION)
    for number in range(300):
        transcript.prompt(f"giraffe number {number}")

    seen = on_terminal("index", SEARCHKIT_NO_VECTORS="", SEARCHKIT_MODEL="fake")

    assert seen.index("words") < seen.index("You can search now") < seen.index("meaning")
