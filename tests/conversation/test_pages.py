"""A conversation to leaf through: which rows there are, and that pages are all of it."""

from collections.abc import Callable

from searchkit.backends.base import Backend
from searchkit.conversation.pages import agent_id, first_record, leaf, page, steps_in, told, unfolded
from searchkit.conversation.types import Break, Folded, Said
from tests.support.transcript import Home, tool_id

SESSION = "44444444-4444-4444-8444-444444444444"


def written(home: Home) -> str:
    """Write a session with steps, an agent and a compaction; return its first record."""
    session = home.session(SESSION)
    first = session.prompt("light the lantern")
    for number in range(3):
        call = session.call("Bash", {"command": f"light {number}"})
        session.result(call, f"lit {number}")
    task = session.call("Task", {"description": "Look", "prompt": "look", "subagent_type": "Explore"})
    session.result(task, "seen")
    session.text("All are lit.")
    session.compact("Lanterns were lit.")
    session.prompt("and now?")
    session.text("Nothing.")
    agent = home.agent(SESSION, "abc123")
    agent.prompt("look")
    agent.text("It is bright.")
    home.meta(SESSION, "abc123", agentType="Explore", description="Look", toolUseId=tool_id(task))
    return str(first["uuid"])


def test_rows_are_what_was_said(home: Home, indexed: Callable[[], Backend]) -> None:
    """Steps and a summary are folded, calls that start agents are not; a compaction is a row of its own."""
    first = written(home)
    backend = indexed()

    reading = leaf(backend.catalog, first)

    assert reading is not None
    kinds = [
        "steps" if isinstance(row, Folded) else "break" if isinstance(row, Break) else row.kind.value
        for row in page(backend.catalog, reading, 0, reading.total).rows
    ]
    assert ["prompt", "steps", "tool_call", "tool_result", "text", "break", "steps", "prompt", "text"] == kinds
    assert [0] == sorted({reading.homes[first]})


def test_hit_is_not_folded(home: Home, indexed: Callable[[], Backend]) -> None:
    """A step that was found stands in a row of its own, with the result of its call, and is a hit."""
    first = written(home)
    backend = indexed()
    folded = leaf(backend.catalog, first)
    assert folded is not None
    steps = steps_in(backend.catalog, folded, 1)

    reading = leaf(backend.catalog, first, {steps[2].key})

    assert reading is not None
    assert folded.total + 3 == reading.total
    shown = [entry for entry in told(backend.catalog, reading, 0, 4) if isinstance(entry, Said)]
    assert ["command: light 1"] == [entry.stored.part.text for entry in shown if entry.is_hit]


def test_pages_are_all_of_it(home: Home, indexed: Callable[[], Backend]) -> None:
    """Page by page, the rows and the folded steps are the same as all at once."""
    first = written(home)
    backend = indexed()
    reading = leaf(backend.catalog, first)
    assert reading is not None

    pages = [entry for begin in range(0, 10, 2) for entry in told(backend.catalog, reading, begin, begin + 2)]
    steps = [entry for begin in range(0, 6, 4) for entry in unfolded(backend.catalog, reading, 1, begin, begin + 4)]

    assert told(backend.catalog, reading, 0, reading.total) == pages
    assert ["light 0", "lit 0", "light 1", "lit 1", "light 2", "lit 2"] == [
        entry.stored.part.text.removeprefix("command: ") for entry in steps if isinstance(entry, Said)
    ]


def test_agent_is_meant_by_its_session_and_name(home: Home, indexed: Callable[[], Backend]) -> None:
    """The id of an agent leads to the first thing that was asked of it."""
    first = written(home)
    backend = indexed()
    reading = leaf(backend.catalog, first)
    assert reading is not None
    ((agent,),) = reading.started.values()

    found = leaf(backend.catalog, first_record(backend.catalog, agent_id(agent)))

    assert found is not None
    assert ["look", "It is bright."] == [
        entry.stored.part.text for entry in told(backend.catalog, found, 0, 9) if isinstance(entry, Said)
    ]


def test_nothing_is_laid_out_of_nothing(home: Home, indexed: Callable[[], Backend]) -> None:
    """A record that there is not has no conversation."""
    written(home)

    assert leaf(indexed().catalog, "nowhere") is None
