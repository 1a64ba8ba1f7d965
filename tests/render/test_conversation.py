"""What `show` and `tree` look like: snapshots that were read in review, lines that fit, and what is said in words."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from searchkit import Engine
from searchkit.render import conversation, html, markdown, outline, terminal
from searchkit.render.document import Document
from searchkit.render.lines import columns
from searchkit.render.terminal import Screen
from searchkit.render.wording import Asked
from tests.support import story
from tests.support.answers import OTHER, SESSION
from tests.support.story import Story
from tests.support.transcript import BEGIN, Home

DATA = Path(__file__).parent.parent / "data"
NOW = BEGIN.timestamp() + 3 * 86_400


class Told(NamedTuple):
    """The story, indexed, where it was written, and its records."""

    engine: Engine
    home: Home
    story: Story


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """The story, in a zone of its own."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    directory = tmp_path_factory.mktemp("story")
    home = Home(directory / "claude")
    records = story.write(home)
    try:
        with Engine(directory / "index", [home.root]) as engine:
            engine.index()
            yield Told(engine, home, records)
    finally:
        os.environ.pop("TZ")
        os.environ.update({"TZ": before} if before is not None else {})
        time.tzset()


def around(told: Told, uuid: str, turns: int = 1, is_full: bool = False, with_agents: bool = False) -> Document:
    """Tell the conversation around a record."""
    found = told.engine.show(uuid, turns, turns, is_full, with_agents)
    return conversation.document(found, Asked(before=turns, after=turns, has_agents=with_agents))


def whole(told: Told) -> Document:
    """Tell the session as an outline."""
    return outline.document(told.engine.outline(SESSION), Asked())


def plain(document: Document, width: int = 80, is_full: bool = False) -> str:
    """Write a document for a terminal, and leave its colours out."""
    lines = terminal.lines(document, Screen(width=width, now=NOW, is_full=is_full))
    return "".join(click.unstyle(line) + "\n" for line in lines)


def drawn(told: Told, width: int = 80, is_ascii: bool = False) -> str:
    """Draw the session."""
    lines = outline.tree(told.engine.outline(SESSION), Screen(width=width, now=NOW, is_ascii=is_ascii))
    return "".join(click.unstyle(line) + "\n" for line in lines)


SNAPSHOTS: dict[str, Callable[[Told], str]] = {
    "show-80.txt": lambda told: plain(around(told, told.story.failed)),
    "show-120.txt": lambda told: plain(around(told, told.story.failed), 120),
    "show-full-80.txt": lambda told: plain(around(told, told.story.again, 0, is_full=True), is_full=True),
    "show-agents-80.txt": lambda told: plain(around(told, told.story.asking, 0, with_agents=True)),
    "show.md": lambda told: "".join(f"{line}\n" for line in markdown.lines(around(told, told.story.failed), False)),
    "show.html": lambda told: "".join(f"{line}\n" for line in html.lines(around(told, told.story.failed), False)),
    "outline-80.txt": lambda told: plain(whole(told)),
    "outline.md": lambda told: "".join(f"{line}\n" for line in markdown.lines(whole(told), False)),
    "tree-80.txt": lambda told: drawn(told),
    "tree-120.txt": lambda told: drawn(told, 120),
    "tree-ascii.txt": lambda told: drawn(told, is_ascii=True),
}


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_conversation_looks_as_it_should(told: Told, name: str) -> None:
    """A failing test around what led to it, a session as an outline and as a tree, as they were read in review."""
    shown = SNAPSHOTS[name](told)

    assert (DATA / name).read_text(encoding="utf-8") == shown


@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize("width", [24, 80, 120])
def test_every_line_fits(told: Told, width: int, is_full: bool) -> None:
    """No line takes more columns than there are, wide characters counted twice, colours or not."""
    look = Screen(width=width, now=NOW, is_full=is_full, is_coloured=True)
    documents = [*(around(told, uuid, 9, is_full, with_agents=True) for uuid in told.story), whole(told)]

    lines = [line for document in documents for line in terminal.lines(document, look)]
    lines += outline.tree(told.engine.outline(SESSION), look)

    assert [] == [line for line in lines if columns(line) > width]


def test_colours_end_on_their_line(told: Told) -> None:
    """A line that begins a colour also ends it, so that nothing else on the terminal is coloured."""
    look = Screen(width=40, now=NOW, is_full=True, is_coloured=True)

    lines = list(terminal.lines(around(told, told.story.failed, 9, is_full=True), look))

    coloured = [line for line in lines if "\x1b" in line]
    assert coloured
    assert all(line.rpartition("\x1b")[2].startswith("[0m") for line in coloured)


def test_code_and_changes_are_coloured(told: Told) -> None:
    """Words of a language stand out in fenced code; what was removed is red, what was added green."""
    look = Screen(width=80, now=NOW, is_full=True, is_coloured=True)

    lines = "\n".join(terminal.lines(around(told, told.story.failed, 9, is_full=True), look))

    assert click.style("def", fg="blue") in lines
    assert click.style('- NAME = "sid"', fg="red") in lines
    assert click.style('+ NAME = "session"', fg="green") in lines


def test_abandoned_branch_says_where_the_conversation_went(told: Told) -> None:
    """What was taken back is shown as such, with the command for the way that was taken."""
    shown = plain(around(told, told.story.left))

    assert f"another way:\n  searchkit show {told.story.answer}" in shown
    assert "> you  10:04" in shown


def test_fork_shows_what_it_shares(told: Told) -> None:
    """A record of a fork stands after the prefix, which lives in both sessions."""
    shown = plain(around(told, told.story.fork, 9))

    assert "Why does the login fail?" in shown
    assert f"session {OTHER}" in shown
    assert f"also in {OTHER}" in plain(around(told, told.story.prompt))


def test_work_of_an_agent_names_its_callers(told: Told) -> None:
    """What a nested agent did leads back up, call by call."""
    about = plain(around(told, told.story.nested)).partition("> task")[0]

    assert ["Find readers (a1b2c3d)", "Look in tests (e4f5a6b)"] == [
        line.partition(": ")[2].partition(",")[0] for line in about.splitlines() if line.startswith("agent")
    ]
    assert 2 == about.count("  searchkit show ")


def test_transcripts_that_are_gone_change_nothing_else(told: Told, tmp_path: Path) -> None:
    """All that is shown comes from the index; that the transcripts are gone is said with the session."""
    home = tmp_path / "claude"
    shutil.copytree(told.home.root, home)
    with Engine(tmp_path / "index", [home]) as engine:
        engine.index()
        shutil.rmtree(home)
        (home / "projects").mkdir(parents=True)
        engine.index()
        gone = told._replace(engine=engine)

        shown = {name: take(gone) for name, take in SNAPSHOTS.items()}

    assert all("transcript gone" in shown[name] for name in shown if not name.startswith("tree"))
    assert {name: take(told) for name, take in SNAPSHOTS.items()} == {
        name: text.replace(" · transcript gone", "") for name, text in shown.items()
    }
