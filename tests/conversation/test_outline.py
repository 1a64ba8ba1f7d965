"""The outline of a session: every record on one of its ways, turn by turn, with its agents."""

from collections.abc import Callable, Iterator, Sequence

from searchkit.backends.base import Backend
from searchkit.conversation.outline import outline
from searchkit.conversation.types import Outline, Reason, Strand, Turn
from tests.support.transcript import Home, tool_id

SESSION = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"

Indexed = Callable[[], Backend]


def test_turns_tell_what_was_asked_done_and_came_of_it(home: Home, indexed: Indexed) -> None:
    """Usage and files are those of the whole session."""
    session = home.session(SESSION)
    session.prompt("why does the login fail")
    session.result(session.call("Read", {"file_path": "/src/auth.py"}), "text")
    session.result(session.call("Write", {"file_path": "/src/auth.py", "content": "x"}), "written")
    session.result(session.call("Read", {"file_path": "/src/a.py"}), "text")
    session.text("the token was compared as text")
    session.prompt("thank you")
    session.text("gladly")

    found = must(indexed())

    (strand,) = found.strands
    assert [("why does the login fail", 6, "the token was compared as text"), ("thank you", 0, "gladly")] == [
        (asked(turn), len(turn.steps), turn.outcome.part.text if turn.outcome else None) for turn in strand.turns
    ]
    assert [("/src/auth.py", "write"), ("/src/a.py", "read")] == [(one.path, one.action) for one in found.files]
    assert (2, 3) == (found.figures.prompts, found.figures.calls)


def test_branches_hang_off_the_turn_they_leave(home: Home, indexed: Indexed) -> None:
    """The newest way is told first; the others are told where they lead off, and marked as left."""
    session = home.session(SESSION)
    session.prompt("begin")
    start = session.text("ready")
    session.prompt("try this")
    session.text("it failed")
    session.prompt("try that", parent=start["uuid"])
    session.text("it works")

    (strand,) = must(indexed()).strands

    assert ["begin", "try that"] == [asked(turn) for turn in strand.turns]
    (branch,) = strand.turns[0].branches
    assert (["try this"], True) == ([asked(turn) for turn in branch.turns], branch.is_abandoned)
    assert not strand.is_abandoned


def test_compaction_begins_a_turn(home: Home, indexed: Indexed) -> None:
    """It is marked, and what was said before it stands before it."""
    session = home.session(SESSION)
    session.prompt("begin")
    session.compact("It began.")
    session.text("going on")

    (strand,) = must(indexed()).strands

    assert [False, True] == [turn.is_compacted for turn in strand.turns]


def test_agents_stand_in_the_turn_of_their_call(home: Home, indexed: Indexed) -> None:
    """Agents of agents stand inside, and one whose call is not known stands beside the session."""
    session = home.session(SESSION)
    session.prompt("begin")
    call = session.call("Task", {"prompt": "look around"})
    outer, inner = home.agent(SESSION, "outer"), home.agent(SESSION, "inner")
    outer.prompt("look around", parent=None)
    nested = outer.call("Task", {"prompt": "look closer"})
    inner.prompt("look closer", parent=None)
    home.agent(SESSION, "stray").prompt("nobody knows why", parent=None)
    home.meta(SESSION, "outer", agentType="Explore", toolUseId=tool_id(call))
    home.meta(SESSION, "inner", toolUseId=tool_id(nested))

    found = must(indexed())

    (work,) = found.strands[0].turns[0].agents
    (within,) = work.strands[0].turns[0].agents
    assert ("outer", "Explore", "inner") == (work.agent.name, work.agent.type, within.agent.name)
    assert ["stray"] == [one.agent.name for one in found.agents]


def test_sidechains_of_old_versions_are_agents(home: Home, indexed: Indexed) -> None:
    """Their records stand between those of the session, and are told apart."""
    session = home.session(SESSION)
    session.prompt("begin")
    call = session.call("Task", {"prompt": "look around"})
    session.prompt("look around", parent=None, isSidechain=True)
    session.text("nothing there", isSidechain=True)
    session.result(call, "nothing")

    (turn,) = must(indexed()).strands[0].turns

    assert ["look around"] == [asked(one) for work in turn.agents for one in work.strands[0].turns]


def test_fork_is_told_whole_and_named_in_the_original(home: Home, indexed: Indexed) -> None:
    """A fork's outline begins with what it shares; the original's names the fork where it leads off."""
    session = home.session(SESSION)
    begun, said = session.prompt("begin"), session.text("ready")
    session.prompt("on in the original")
    fork = home.session(FORK)
    for record in (begun, said):
        fork.line({**record, "sessionId": FORK})
    fork.last = said["uuid"]
    fork.prompt("on in the fork")
    backend = indexed()

    original, forked = must(backend), must(backend, FORK)

    assert ["begin", "on in the fork"] == [asked(turn) for turn in forked.strands[0].turns]
    assert ["begin", "on in the original"] == [asked(turn) for turn in original.strands[0].turns]
    assert [FORK] == [strand.session for strand in original.strands[0].turns[0].branches]


def test_every_record_is_on_one_way(home: Home, indexed: Indexed) -> None:
    """Lost parents, cycles and rewinds leave nothing out and tell nothing twice."""
    session = home.session(SESSION)
    start = session.prompt("begin")
    session.prompt("one way")
    session.prompt("another way", parent=start["uuid"])
    session.prompt("lost", parent="99999999-9999-4999-8999-999999999999")
    one, other = (f"aaaaaaaa-0000-4000-8000-00000000000{number}" for number in (1, 2))
    session.prompt("a cycle", uuid=one, parent=other)
    session.prompt("of two", uuid=other, parent=one)

    found = must(indexed())

    told = sorted(asked(turn) or "" for turn in _turns(found.strands))
    assert ["a cycle", "another way", "begin", "lost", "of two", "one way"] == told
    assert [None, Reason.MISSING, Reason.CYCLE] == [strand.ending for strand in found.strands]


def test_unknown_session_has_no_outline(home: Home, indexed: Indexed) -> None:
    """None is not an empty outline."""
    home.session(SESSION).prompt("begin")

    assert outline(indexed().catalog, "nothing") is None


def must(backend: Backend, session: str = SESSION) -> Outline:
    """Return the outline of a session, which must be there."""
    found = outline(backend.catalog, session)
    assert found is not None
    return found


def asked(turn: Turn) -> str | None:
    """Return what was asked in a turn."""
    return turn.asked.part.text if turn.asked else None


def _turns(strands: Sequence[Strand]) -> Iterator[Turn]:
    for strand in strands:
        for turn in strand.turns:
            yield turn
            yield from _turns(turn.branches)
