"""What is shown around a record: turns with their steps folded, agents inside, and fixes."""

from collections.abc import Callable, Sequence

import pytest

from searchkit.backends.base import Backend
from searchkit.conversation.excerpt import conversation
from searchkit.conversation.subagents import MOST_DEPTH
from searchkit.conversation.turns import describe
from searchkit.conversation.types import Break, Conversation, Entry, Folded, Inside, Reason, Said
from tests.support.transcript import Home, Record, tool_id

SESSION = "11111111-1111-4111-8111-111111111111"

Indexed = Callable[[], Backend]


@pytest.fixture
def hit(home: Home) -> Record:
    """A session of three turns, and a result in the middle of the second."""
    session = home.session(SESSION)
    session.prompt("hello")
    session.text("ready")
    session.prompt("why does the login fail")
    for path in ("/src/auth.py", "/src/user.py"):
        session.result(session.call("Read", {"file_path": path}), f"text of {path}")
    session.thinking("it may be the token")
    failing = session.result(session.call("Bash", {"command": "pytest -q"}), "1 failed", is_error=True)
    session.text("the token is compared as text")
    edit = session.call("Edit", {"file_path": "/src/auth.py", "old_string": "a", "new_string": "b"})
    session.result(edit, "edited")
    session.result(session.call("Bash", {"command": "pytest  -q"}), "1 passed")
    session.text("It compared the token as text; now it works.")
    session.prompt("thank you")
    session.text("gladly")
    return failing


def test_turn_is_folded_around_the_hit(indexed: Indexed, hit: Record) -> None:
    """What was asked, the call with the hit, and the outcome are told; what lies between is on a line each."""
    found = shown(indexed(), hit, 0, 0)

    assert [
        "why does the login fail",
        "2 reads, 1 thought: auth.py, user.py",
        "command: pytest -q",
        "> 1 failed",
        "1 remark, 1 edit, 1 command: auth.py",
        "It compared the token as text; now it works.",
    ] == texts(found.entries)
    assert (1, 1) == (found.earlier, found.later)


def test_more_turns_are_shown_on_request(indexed: Indexed, hit: Record) -> None:
    """Before and after count turns, each with what was asked and what came of it."""
    found = shown(indexed(), hit, 1, 1)

    assert ["hello", "ready"] == texts(found.entries)[:2]
    assert ["thank you", "gladly"] == texts(found.entries)[-2:]
    assert (0, 0) == (found.earlier, found.later)


def test_nothing_is_folded_where_all_is_wanted(indexed: Indexed, hit: Record) -> None:
    """Every part of the turn is told, each result after its call."""
    entries = shown(indexed(), hit, 0, 0, is_full=True).entries

    assert all(isinstance(entry, Said) for entry in entries)
    assert 14 == len(entries)


def test_failing_result_comes_with_the_passing_one(indexed: Indexed, hit: Record) -> None:
    """The next result of the same command that is no error is the fix, white space aside."""
    (fix,) = shown(indexed(), hit, 0, 0).fixes

    assert ("1 failed", "1 passed") == (fix.failed.part.text, fix.passed.part.text)


def test_passing_result_comes_with_the_failing_one(indexed: Indexed, hit: Record) -> None:
    """The same pair is told from its other end."""
    backend = indexed()
    passed = shown(backend, hit, 0, 0).fixes[0].passed.part.uuid

    (fix,) = shown(backend, {"uuid": passed}, 0, 0).fixes

    assert hit["uuid"] == fix.failed.part.uuid


def test_failure_that_nothing_mends_is_no_fix(home: Home, indexed: Indexed) -> None:
    """Another command that passes mends nothing."""
    session = home.session(SESSION)
    session.prompt("run it")
    failing = session.result(session.call("Bash", {"command": "make"}), "no rule", is_error=True)
    session.result(session.call("Bash", {"command": "ls"}), "Makefile")

    assert [] == shown(indexed(), failing, 0, 0).fixes


def test_compaction_is_shown_as_what_it_is(home: Home, indexed: Indexed) -> None:
    """The turn after it begins with a break."""
    session = home.session(SESSION)
    session.prompt("begin")
    session.compact("It began.")
    later = session.text("going on")

    found = shown(indexed(), later, 1, 0)

    assert [Reason.COMPACTED] == [entry.reason for entry in found.entries if isinstance(entry, Break)]


def test_missing_parent_is_shown_as_what_it_is(home: Home, indexed: Indexed) -> None:
    """The first turn begins with the word that something is missing."""
    session = home.session(SESSION)
    lost = session.prompt("go on", parent="99999999-9999-4999-8999-999999999999")

    (entry, *_) = shown(indexed(), lost, 0, 0).entries

    assert isinstance(entry, Break)
    assert Reason.MISSING is entry.reason


def test_agents_are_shown_inside_on_request(home: Home, indexed: Indexed) -> None:
    """What an agent did stands after the call that started it, and what its agents did inside that."""
    session = home.session(SESSION)
    asked = session.prompt("begin")
    call = session.call("Task", {"prompt": "look around", "description": "Look"})
    outer, inner = home.agent(SESSION, "outer"), home.agent(SESSION, "inner")
    outer.prompt("look around", parent=None)
    nested = outer.call("Task", {"prompt": "look closer", "description": "Closer"})
    inner.prompt("look closer", parent=None)
    inner.text("nothing there")
    outer.result(nested, "nothing there", toolUseResult={"agentId": "inner"})
    outer.text("I found nothing")
    session.result(call, "I found nothing", toolUseResult={"agentId": "outer"})
    backend = indexed()

    without, inside = shown(backend, asked, 0, 0), shown(backend, asked, 0, 0, with_agents=True)

    assert not [entry for entry in without.entries if isinstance(entry, Inside)]
    (outside,) = [entry for entry in inside.entries if isinstance(entry, Inside)]
    (within,) = [entry for entry in outside.entries if isinstance(entry, Inside)]
    assert ("outer", "inner") == (outside.agent.name, within.agent.name)
    assert ["look closer", "nothing there"] == texts(within.entries)


def test_agent_that_names_its_own_call_is_shown_once(home: Home, indexed: Indexed) -> None:
    """An agent that claims to be started by itself does not go on for ever."""
    session = home.agent(SESSION, "snake")
    asked = session.prompt("look around", parent=None)
    call = session.call("Task", {"prompt": "look around"})
    home.meta(SESSION, "snake", toolUseId=tool_id(call))

    found = shown(indexed(), asked, 0, 0, with_agents=True)

    assert ["snake"] == [agent.name for agent in found.above]
    assert 1 == len([entry for entry in found.entries if isinstance(entry, Inside)])


def test_what_is_folded_is_always_named(home: Home, indexed: Indexed) -> None:
    """What a command printed, and a result that no call is known for, were an empty line."""
    session = home.session(SESSION)
    typed = session.prompt("<command-name>/context</command-name>")
    session.prompt("<local-command-stdout>43 % used</local-command-stdout>")
    asked = session.prompt("go on")
    session.result({"message": {"content": [{"id": "toolu_lost"}]}, "uuid": session.last}, "lost")
    backend = indexed()

    assert ["> /context", "1 text"] == texts(shown(backend, typed, 0, 0).entries)
    assert ["> go on", "1 result"] == texts(shown(backend, asked, 0, 0).entries)


@pytest.mark.parametrize("is_inline", [False, True])
def test_agents_that_one_record_calls_are_all_shown(home: Home, indexed: Indexed, is_inline: bool) -> None:
    """Where one record holds several calls, each has its agent, also in the file of the session; one was lost."""
    session = home.session(SESSION)
    asked = session.prompt("begin")
    inputs = {name: {"prompt": f"look at {name}", "description": name} for name in ("left", "right")}
    blocks = [{"type": "tool_use", "id": name, "name": "Task", "input": values} for name, values in inputs.items()]
    session.text("", message={"role": "assistant", "id": "msg_both", "content": blocks})
    for name, values in inputs.items():
        agent = session if is_inline else home.agent(SESSION, name)
        agent.prompt(values["prompt"], parent=None, isSidechain=True)
        if not is_inline:
            home.meta(SESSION, name, toolUseId=name, description=name)

    found = shown(indexed(), asked, 0, 0, with_agents=True)

    inside = [entry for entry in found.entries if isinstance(entry, Inside)]
    assert ["left", "right"] == [entry.agent.description for entry in inside]
    assert [["look at left"], ["look at right"]] == [texts(entry.entries) for entry in inside]


def test_agents_inside_agents_are_shown_so_deep(home: Home, indexed: Indexed) -> None:
    """A chain of agents ends where nobody follows it, and neither Python nor JSON gives up."""
    session = home.session(SESSION)
    asked = session.prompt("begin")
    call = session.call("Task", {"prompt": "go on"})
    for number in range(2 * MOST_DEPTH):
        home.meta(SESSION, f"agent{number}", toolUseId=tool_id(call))
        agent = home.agent(SESSION, f"agent{number}")
        agent.prompt("go on", parent=None)
        call = agent.call("Task", {"prompt": "go on"})

    entries = shown(indexed(), asked, 0, 0, with_agents=True).entries

    depth = 0
    while inside := [entry for entry in entries if isinstance(entry, Inside)]:
        depth, entries = depth + 1, inside[0].entries
    assert MOST_DEPTH == depth


def shown(
    backend: Backend, record: Record, before: int, after: int, is_full: bool = False, with_agents: bool = False
) -> Conversation:
    """Return what is shown around a record, which must be there."""
    found = conversation(backend.catalog, record["uuid"], before, after, is_full, with_agents)
    assert found is not None
    return found


def texts(entries: Sequence[Entry]) -> list[str]:
    """Write entries as lines; the hit is marked."""
    return [_text(entry) for entry in entries if isinstance(entry, Said | Folded)]


def _text(entry: Said | Folded) -> str:
    if isinstance(entry, Folded):
        return describe(entry.steps)
    return ("> " if entry.is_hit else "") + entry.stored.part.text
