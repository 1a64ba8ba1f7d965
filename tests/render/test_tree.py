"""`searchkit tree`: branches, compactions and agents of a session, drawn."""

import sys

import click
import orjson
import pytest

from searchkit.conversation.types import Agent, Outline, Strand, Turn, Work
from searchkit.render.lines import columns
from searchkit.render.outline import tree
from searchkit.render.terminal import Screen
from searchkit.render.wire.base import encode
from searchkit.render.wire.conversation import outline
from searchkit.types import Session
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
DEPTH = 1_500


@pytest.fixture
def rewound(home: Home, run: Run) -> None:
    """An indexed session whose second prompt was edited."""
    transcript = home.session(SESSION)
    transcript.prompt("one giraffe")
    answer = transcript.text("seen")
    transcript.prompt("two giraffes")
    transcript.text("not seen")
    transcript.prompt("three giraffes", parent=answer["uuid"])
    transcript.text("seen")
    run("index")


@pytest.mark.usefixtures("rewound")
@pytest.mark.parametrize("asked", [SESSION, SESSION[:5], "one giraffe", "1"])
def test_session_is_drawn_by_whatever_means_it(run: Run, asked: str) -> None:
    """An id, its beginning, a title or a result's number; the way that was left is marked and said to be."""
    run("search", "giraffe")

    drawn = run("tree", asked)

    signs = [line.strip("│├└─ ")[:1] for line in drawn.out.splitlines()[1:]]
    assert (0, "") == (drawn.status, drawn.err)
    assert ["●", "a", "○", "●"] == signs
    assert "another way, abandoned" in drawn.out


@pytest.mark.usefixtures("rewound")
def test_tree_for_programs(run: Run) -> None:
    """Ways come side by side, each with the turn that it leaves from."""
    main, left = run("tree", SESSION, "--json").json["ways"]

    assert (None, False, 2) == (main["at"], main["abandoned"], len(main["turns"]))
    assert (main["turns"][0]["uuid"], True) == (left["at"], left["abandoned"])
    assert ["two giraffes"] == [turn["asked"]["text"] for turn in left["turns"]]


@pytest.mark.usefixtures("rewound")
def test_boxes_are_drawn_only_where_they_can_be_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --ascii, or an encoding that lacks them, other characters stand in for boxes."""
    asked = run("tree", SESSION, "--ascii").out
    monkeypatch.setattr(type(sys.stdout), "encoding", "latin-1", raising=False)

    lacking = run("tree", SESSION).out

    assert asked.isascii()
    assert asked == lacking


def test_unknown_session_is_told(home: Home, run: Run) -> None:
    """Status 2, and what to do."""
    home.session(SESSION).prompt("hello")
    run("index")

    answer = run("tree", "zzz")

    assert (2, "") == (answer.status, answer.out)
    assert "nothing has an id that begins with 'zzz', and no session such a title" in answer.err


def nested() -> Outline:
    """Make a session of agents and abandoned ways inside each other, deeper than functions can call each other."""
    strand = Strand(turns=[Turn(record="last", time=None)])
    for number in range(DEPTH):
        agent = Agent(name=f"a{number}", session=SESSION, type="Explore", description="深い" * 40)
        turn = Turn(record=f"turn{number}", time=number, agents=[Work(agent=agent, strands=[strand])])
        above = Turn(record=f"above{number}", time=None, branches=[Strand(turns=[turn], is_abandoned=True)])
        strand = Strand(turns=[above], is_abandoned=number % 2 == 0)
    session = Session(
        id=SESSION,
        project=None,
        title="深" * 100,
        branch=None,
        ended=None,
        is_gone=False,
        started=None,
        records=0,
        prompts=0,
        agents=0,
    )
    return Outline(session=session, strands=[strand])


@pytest.mark.parametrize("is_ascii", [False, True])
@pytest.mark.parametrize("width", [20, 80])
def test_deep_tree_fits(width: int, is_ascii: bool) -> None:
    """However deep ways and agents are nested, every line fits and says what it is about."""
    lines = list(tree(nested(), Screen(width=width, now=0, is_ascii=is_ascii)))

    assert 4 * DEPTH + 2 == len(lines)
    assert [] == [line for line in lines if columns(line) > width]
    assert all(line.rpartition("\x1b")[2].startswith("[0m") for line in lines if "\x1b" in line[:-4])
    assert click.unstyle(lines[-1]).strip(" »>└─`-")


def test_deep_tree_can_be_printed_for_programs() -> None:
    """Ways are listed, not nested, so that any depth can be written."""
    written = encode(outline(nested(), is_full=False))

    ways = orjson.loads(written)["ways"]
    assert 2 * DEPTH + 1 == len(ways)
    assert {"at", "depth", "agent", "session", "abandoned", "broken", "turns"} == set(ways[0])
