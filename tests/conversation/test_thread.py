"""The thread of a record: every message, in the order of reading, whatever the parents say."""

from collections.abc import Callable

import pytest

from searchkit.backends.base import Backend
from searchkit.conversation.thread import thread
from searchkit.conversation.types import Reason, Thread
from tests.support.transcript import Home, Record, tool_id

SESSION = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"

Indexed = Callable[[], Backend]


def test_parallel_calls_stand_beside_their_results(home: Home, indexed: Indexed) -> None:
    """Results hang off their own calls, the next answer off the last result; each is read after its call."""
    session = home.session(SESSION)
    asked = session.prompt("look at both")
    first, second = session.call("Read", {"file_path": "/a"}), session.call("Read", {"file_path": "/b"})
    later, earlier = session.result(second, "text of b"), session.result(first, "text of a")
    session.last = later["uuid"]
    answer = session.text("both are fine")

    found = threads(indexed(), asked, first, second, earlier, later, answer)

    assert [uuids(asked, first, earlier, second, later, answer)] * 6 == found


def test_results_of_one_record_belong_to_all_its_calls(home: Home, indexed: Indexed) -> None:
    """Old versions write the results of parallel calls into one record."""
    session = home.session(SESSION)
    asked = session.prompt("look at both")
    first, second = session.call("Read", {"file_path": "/a"}), session.call("Read", {"file_path": "/b"})
    blocks = [{"type": "tool_result", "tool_use_id": tool_id(call), "content": "text"} for call in (first, second)]
    both = session.prompt(blocks)
    answer = session.text("both are fine")

    assert [uuids(asked, first, both, second, answer)] == threads(indexed(), second)


def test_way_leads_through_every_type(home: Home, indexed: Indexed) -> None:
    """Attachments, progress, system records and unknown types are links like others."""
    session = home.session(SESSION)
    asked = session.prompt("begin")
    noted = session.attachment("hook_success", content="", stdout="checked", stderr="", exitCode=0)
    call = session.call("Bash", {"command": "make"})
    going = session.progress({"type": "hook_progress", "hookEvent": "PreToolUse"}, call)
    result = session.result(call, "made", parent=going["uuid"])
    lasted = session.system("turn_duration", durationMs=1)
    strange = session.line({**lasted, "type": "quartz", "uuid": "strange", "parentUuid": lasted["uuid"]})
    answer = session.text("done", parent="strange")

    found = threads(indexed(), answer)

    assert [uuids(asked, noted, call, result, going, lasted, strange, answer)] == found


@pytest.mark.parametrize("named", ["last", "earlier", "unknown"])
def test_compaction_is_passed(home: Home, indexed: Indexed, named: str) -> None:
    """Whichever record the boundary names, nothing that was said before it is lost."""
    session = home.session(SESSION)
    asked, said, more = session.prompt("begin"), session.text("first"), session.prompt("go on")
    answer = session.text("second")
    logical = {"last": answer["uuid"], "earlier": said["uuid"], "unknown": "99999999-9999-4999-8999-999999999999"}
    summary = session.compact("It began.", logical[named])
    later = session.text("third")

    (found,) = [thread(indexed().catalog, later["uuid"])]

    assert found is not None
    boundary = next(node.uuid for node in found.nodes if node.is_boundary)
    assert [*uuids(asked, said, more, answer), boundary, *uuids(summary, later)] == [node.uuid for node in found.nodes]
    assert found.ending is None


def test_newest_way_is_taken_and_the_other_is_named(home: Home, indexed: Indexed) -> None:
    """After a rewind a record before it leads to the newest leaf; the abandoned way is named and can be reached."""
    session = home.session(SESSION)
    asked = session.prompt("begin")
    start = session.text("ready")
    first, left = session.prompt("try this"), session.text("it failed")
    second, taken = session.prompt("try that", parent=start["uuid"]), session.text("it works")
    backend = indexed()

    before, abandoned = must(backend, start), must(backend, left)

    assert uuids(asked, start, second, taken) == told(before)
    assert [(start["uuid"], first["uuid"], 2, True)] == branches(before)
    assert uuids(asked, start, first, left) == told(abandoned)
    assert [(start["uuid"], second["uuid"], 2, False)] == branches(abandoned)
    assert (None, start["uuid"]) == (before.left_at, abandoned.left_at)


def test_edited_first_prompt_begins_anew(home: Home, indexed: Indexed) -> None:
    """It has no parent, and what was said before it is another way; each names the other."""
    session = home.session(SESSION)
    first, said = session.prompt("make it quick"), session.text("done quickly")
    edited, answer = session.prompt("make it well", parent=None), session.text("done well")
    backend = indexed()

    before, after = must(backend, said), must(backend, edited)

    assert [uuids(first, said), uuids(edited, answer)] == [told(before), told(after)]
    assert [(None, edited["uuid"], 2, False)] == branches(before)
    assert [(None, first["uuid"], 2, True)] == branches(after)


def test_leaf_that_is_named_last_is_the_newest(home: Home, indexed: Indexed) -> None:
    """A last-prompt that names an older leaf, written after all else, says with what the session goes on."""
    session = home.session(SESSION)
    start = session.prompt("begin")
    first, back_to = session.prompt("try this"), session.text("it failed")
    session.prompt("try that", parent=start["uuid"])
    session.text("it works")
    session.line({"type": "last-prompt", "lastPrompt": "try this", "leafUuid": back_to["uuid"], "sessionId": SESSION})

    assert [uuids(start, first, back_to)] == threads(indexed(), start)


def test_missing_parent_ends_the_way_with_a_word(home: Home, indexed: Indexed) -> None:
    """What comes before is not known, and the thread says so; the other way of the session is named."""
    session = home.session(SESSION)
    begun = session.prompt("begin")
    lost = session.prompt("go on", parent="99999999-9999-4999-8999-999999999999")
    answer = session.text("done")

    found = must(indexed(), answer)

    assert uuids(lost, answer) == told(found)
    assert Reason.MISSING is found.ending
    assert [(None, begun["uuid"], 1, True)] == branches(found)


def test_cycle_ends_the_way_with_a_word(home: Home, indexed: Indexed) -> None:
    """Records that are each other's parents are told once."""
    session = home.session(SESSION)
    first = session.prompt(
        "one", uuid="aaaaaaaa-0000-4000-8000-000000000001", parent="aaaaaaaa-0000-4000-8000-000000000002"
    )
    second = session.prompt("two", uuid="aaaaaaaa-0000-4000-8000-000000000002", parent=first["uuid"])

    found = must(indexed(), first)

    assert set(uuids(first, second)) == set(told(found))
    assert 2 == len(found.nodes)
    assert Reason.CYCLE is found.ending


def test_own_parent_is_no_parent(home: Home, indexed: Indexed) -> None:
    """A record that names itself is told once."""
    session = home.session(SESSION)
    own = "aaaaaaaa-0000-4000-8000-000000000001"
    session.prompt("one", uuid=own, parent=own)
    session.text("two")

    found = must(indexed(), {"uuid": own})

    assert 2 == len(found.nodes)
    assert Reason.CYCLE is found.ending


def test_parent_may_come_later(home: Home, indexed: Indexed) -> None:
    """Lines of a file may be swapped; the parents say what came first."""
    session = home.session(SESSION)
    asked = session.prompt("begin")
    late = "aaaaaaaa-0000-4000-8000-000000000002"
    answer = session.text("second", parent=late)
    said = session.text("first", uuid=late, parent=asked["uuid"])

    assert [uuids(asked, said, answer)] == threads(indexed(), asked)


def test_uuid_used_twice_is_one_record(home: Home, indexed: Indexed) -> None:
    """Two lines with one uuid and different texts stand at one place, with both texts."""
    session = home.session(SESSION)
    asked = session.prompt("begin")
    said = session.text("one way to say it")
    session.text("another way", uuid=said["uuid"], parent=asked["uuid"])
    answer = session.prompt("thanks")

    found = must(indexed(), answer)

    assert uuids(asked, said, answer) == told(found)
    assert 2 == len(found.nodes[1].steps)


def test_records_without_parents_follow_each_other(home: Home, indexed: Indexed) -> None:
    """Where no record names a parent, the lines are the conversation."""
    session = home.session(SESSION)
    several = [
        session.prompt("one", parent=None),
        session.text("two", parent=None),
        session.prompt("three", parent=None),
    ]

    assert [uuids(*several)] == threads(indexed(), several[1])


def test_fork_goes_on_after_what_it_shares(home: Home, indexed: Indexed) -> None:
    """The same message is told once; the fork is named where it leads off, and its own records come after."""
    session = home.session(SESSION)
    asked, said = session.prompt("begin"), session.text("ready")
    own = session.prompt("on in the original")
    fork = home.session(FORK)
    for record in (asked, said):
        fork.line({**record, "sessionId": FORK, "forkedFrom": {"sessionId": SESSION, "messageUuid": record["uuid"]}})
    fork.last = said["uuid"]
    other = fork.prompt("on in the fork")
    backend = indexed()

    shared, forked = must(backend, asked), must(backend, other)

    assert uuids(asked, said, own) == told(shared)
    assert uuids(asked, said, other) == told(forked)
    assert [(said["uuid"], other["uuid"], FORK)] == [(one.at, one.first, one.session) for one in shared.branches]


def test_agents_name_their_callers(home: Home, indexed: Indexed) -> None:
    """From a nested agent's record the calls are named that started it and its caller."""
    session = home.session(SESSION)
    session.prompt("begin")
    call = session.call("Task", {"prompt": "look around", "description": "Look"})
    outer, inner = home.agent(SESSION, "outer"), home.agent(SESSION, "inner")
    task = outer.prompt("look around", parent=None)
    nested = outer.call("Task", {"prompt": "look closer", "description": "Closer"})
    inner.prompt("look closer", parent=None)
    answer = inner.text("nothing there")
    outer.result(nested, "nothing there", toolUseResult={"agentId": "inner"})
    session.result(call, "nothing", toolUseResult={"agentId": "outer"})
    home.meta(SESSION, "inner", agentType="Explore", description="Closer", toolUseId=tool_id(nested))
    backend = indexed()

    found, above = must(backend, answer), must(backend, task).above

    assert [("outer", call["uuid"]), ("inner", nested["uuid"])] == [(one.name, one.caller) for one in found.above]
    assert ("Explore", "Closer") == (found.above[1].type, found.above[1].description)
    assert [("outer", call["uuid"])] == [(one.name, one.caller) for one in above]


def test_agent_whose_session_is_gone_has_no_caller(home: Home, indexed: Indexed) -> None:
    """The agent is named all the same."""
    agent = home.agent(SESSION, "lonely")
    task, answer = agent.prompt("look around", parent=None), agent.text("nothing")

    found = must(indexed(), answer)

    assert uuids(task, answer) == told(found)
    assert [("lonely", None)] == [(one.name, one.caller) for one in found.above]


def test_agent_that_no_call_started_is_named(home: Home, indexed: Indexed) -> None:
    """Whoever reads the session is told of agents that nothing in it leads to."""
    asked = home.session(SESSION).prompt("begin")
    home.agent(SESSION, "stray").prompt("look around", parent=None)

    assert ["stray"] == [agent.name for agent in must(indexed(), asked).strays]


def test_sidechain_in_the_file_of_a_session_names_its_caller(home: Home, indexed: Indexed) -> None:
    """Old versions write what an agent did between the session's own lines; its call is known by its prompt."""
    session = home.session(SESSION)
    asked = session.prompt("begin")
    call = session.call("Task", {"prompt": "look around", "description": "Look", "subagent_type": "Explore"})
    task = session.prompt("look around", parent=None, isSidechain=True)
    work = session.text("nothing there", isSidechain=True)
    result = session.result(call, "nothing")
    answer = session.text("it found nothing")
    backend = indexed()

    inside, outside = must(backend, work), must(backend, asked)

    assert uuids(task, work) == told(inside)
    assert [(call["uuid"], "Look", "Explore")] == [(one.caller, one.description, one.type) for one in inside.above]
    assert uuids(asked, call, result, answer) == told(outside)


def test_what_was_typed_mid_run_belongs_to_the_thread(home: Home, indexed: Indexed) -> None:
    """A queued command that nothing follows is an aside, not another way."""
    session = home.session(SESSION)
    asked, call = session.prompt("begin"), session.call("Bash", {"command": "make"})
    typed = session.attachment("queued_command", prompt="and run the tests", commandMode="prompt")
    result = session.result(call, "made")
    answer = session.text("done")

    found = must(indexed(), answer)

    assert uuids(asked, call, result, typed, answer) == told(found)
    assert [] == branches(found)


def test_late_aside_does_not_lead_away(home: Home, indexed: Indexed) -> None:
    """A hook that answers at the very end, below an early record, is no way that the conversation took."""
    session = home.session(SESSION)
    asked, said = session.prompt("begin"), session.text("ready")
    more, answer = session.prompt("go on"), session.text("done")
    session.last = asked["uuid"]
    late = session.attachment("async_hook_response", hookName="Stop", stdout="checked", exitCode=0)

    found = must(indexed(), said)

    assert uuids(asked, late, said, more, answer) == told(found)
    assert [] == branches(found)


def test_compaction_may_name_what_lies_beside_the_way(home: Home, indexed: Indexed) -> None:
    """A boundary that names one of several results loses nothing that was said after it."""
    session = home.session(SESSION)
    asked = session.prompt("look at both")
    first, second = session.call("Read", {"file_path": "/a"}), session.call("Read", {"file_path": "/b"})
    beside, last = session.result(first, "text of a"), session.result(second, "text of b")
    answer = session.text("both are fine")
    session.compact("They are fine.", beside["uuid"])

    found = must(indexed(), asked)

    assert uuids(asked, first, beside, second, last, answer) == told(found)[:6]
    assert 8 == len(found.nodes)


def test_long_chain_is_told_whole(home: Home, indexed: Indexed) -> None:
    """Thousands of records, each below the one before, take no recursion."""
    session = home.session(SESSION)
    several = [session.prompt(f"number {number}") for number in range(3_000)]

    found = must(indexed(), several[1_500])

    assert uuids(*several) == told(found)


def test_long_aside_is_told_from_its_middle(home: Home, indexed: Indexed) -> None:
    """Thousands of progress records below each other take no look at all that follows each: that took minutes."""
    session = home.session(SESSION)
    asked, call = session.prompt("begin"), session.call("Bash", {"command": "make"})
    data = {"type": "bash_progress", "output": "making"}
    several = [session.progress(data, call, parent=session.last) for _ in range(6_000)]
    result = session.result(call, "made")
    answer = session.text("done")

    found = must(indexed(), several[3_000])

    assert uuids(asked, call, result, *several, answer) == told(found)


def test_many_ways_from_one_record_are_named(home: Home, indexed: Indexed) -> None:
    """Thousands of edited prompts are not compared with each other; all but the last were abandoned."""
    session = home.session(SESSION)
    first = session.prompt("begin")
    several = [session.prompt(f"number {number}", parent=first["uuid"]) for number in range(6_000)]

    found = must(indexed(), first)

    assert uuids(first, several[-1]) == told(found)
    assert [(first["uuid"], one["uuid"], 1, True) for one in several[:-1]] == branches(found)


def test_call_is_told_though_its_result_begins_elsewhere(home: Home, indexed: Indexed) -> None:
    """Where the record between a call and its result was torn, the way on from the result does not lead past the call.

    `show` failed with a StopIteration there (issue 4).
    """
    session = home.session(SESSION)
    asked, call = session.prompt("begin"), session.call("Bash", {"command": "make"})
    result = session.result(call, "made", parent="99999999-9999-4999-8999-999999999999")
    answer = session.text("done")

    found = must(indexed(), call)

    assert uuids(asked, call, result) == told(found)
    assert [(result["uuid"], answer["uuid"], 1, False)] == branches(found)


def test_each_way_of_a_fork_has_its_own_length(home: Home, indexed: Indexed) -> None:
    """A fork that was rewound leads off twice; each way was told to be as long as all that the fork holds."""
    session, fork = home.session(SESSION), home.session(FORK)
    asked, said = session.prompt("begin"), session.text("ready")
    for record in (asked, said):
        fork.line({**record, "sessionId": FORK, "forkedFrom": {"sessionId": SESSION, "messageUuid": record["uuid"]}})
    left = fork.prompt("try this", parent=said["uuid"])
    taken = fork.prompt("try that", parent=said["uuid"])
    fork.text("tried")

    found = must(indexed(), asked)

    assert [(said["uuid"], left["uuid"], 1, False), (said["uuid"], taken["uuid"], 2, False)] == branches(found)


def test_unknown_record_has_no_thread(home: Home, indexed: Indexed) -> None:
    """None is not an empty thread."""
    home.session(SESSION).prompt("begin")

    assert thread(indexed().catalog, "nothing") is None


def must(backend: Backend, record: Record) -> Thread:
    """Return the thread of a record, which must be there."""
    found = thread(backend.catalog, record["uuid"])
    assert found is not None
    return found


def threads(backend: Backend, *records: Record) -> list[list[str]]:
    """Return the uuids of the threads of records."""
    return [told(must(backend, record)) for record in records]


def told(found: Thread) -> list[str]:
    """Return the uuids of a thread."""
    return [node.uuid for node in found.nodes]


def branches(found: Thread) -> list[tuple[str | None, str, int, bool]]:
    """Return where other ways lead off, to which record, how long they are, and whether they were left."""
    return [(one.at, one.first, one.records, one.is_abandoned) for one in found.branches]


def uuids(*records: Record) -> list[str]:
    """Return the uuids of records."""
    return [record["uuid"] for record in records]
