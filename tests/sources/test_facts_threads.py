"""Facts 1 to 5 and 14 of FORMAT: how records hang together and in which order they are kept."""

from collections.abc import Callable

import pytest

from searchkit.backends.base import Backend
from searchkit.query.types import Condition
from searchkit.types import Grouping
from tests.reference.contents import children, neighbours
from tests.support.answers import SESSION, kept, link_of, problems_of, said, session_of, texts
from tests.support.transcript import USAGE, Home, Record

Index = Callable[[], Backend]
NOWHERE = "00000000-0000-4000-8000-000000000000"


def parallel_calls(home: Home) -> tuple[list[Record], list[Record]]:
    """Write three calls of one response, each with its result below itself, and an answer below the last."""
    transcript = home.session(SESSION)
    transcript.prompt("look at all three")
    calls = [transcript.call("Read", {"file_path": f"/shop/{name}.py"}) for name in ("cart", "order", "user")]
    results = [transcript.result(call, f"content of {name}") for call, name in zip(calls, "abc", strict=True)]
    transcript.text("all three are fine")
    return calls, results


def test_fact_01_records_off_the_chain_are_kept_in_line_order(home: Home, indexed: Index) -> None:
    """A branch that was left, a result beside the chain and a record with a lost parent are all kept, by line."""
    transcript = home.session(SESSION)
    first = transcript.prompt("first try")
    transcript.text("an answer that was taken back")
    transcript.prompt("second try", parent=first["parentUuid"])
    call = transcript.call("Bash", {"command": "ls"})
    transcript.text("said while the call ran", parent=call["uuid"])
    transcript.result(call, "cart.py")
    transcript.prompt("after the tear", parent=NOWHERE)

    backend = indexed()

    expected = ["first try", "an answer that was taken back", "second try", "command: ls"]
    assert [*expected, "said while the call ran", "cart.py", "after the tear"] == texts(backend)


def test_fact_01_parallel_results_are_all_kept(home: Home, indexed: Index) -> None:
    """Every result of parallel calls is a part, although a walk from the last record meets only one."""
    parallel_calls(home)

    results = [text for kind, text in said(indexed()) if kind == "tool_result"]

    assert ["content of a", "content of b", "content of c"] == results


def test_fact_02_chain_runs_through_every_record_with_a_uuid(home: Home, indexed: Index) -> None:
    """A walk to the root crosses attachments, progress and system records, also those that say nothing."""
    transcript = home.session(SESSION)
    transcript.prompt("run the tests")
    call = transcript.call("Bash", {"command": "pytest"})
    transcript.progress({"type": "hook_progress", "hookName": "PreToolUse"}, call)
    transcript.progress({"type": "bash_progress", "output": "..."}, call, parent=transcript.last)
    transcript.result(call, "3 passed", parent=transcript.last)
    transcript.attachment("date_change")
    transcript.system("turn_duration", durationMs=1200)
    transcript.text("They pass.")

    backend = indexed()

    types = ["assistant", "system", "attachment", "user", "progress", "progress", "assistant", "user"]
    assert types == walk(backend, str(transcript.last))
    assert 8 == backend.catalog.counts().links
    assert [] == problems_of(backend, "missing parent")


def walk(backend: Backend, uuid: str) -> list[str]:
    """Go from a record to its root; return the types met."""
    types = []
    at: str | None = uuid
    while at is not None:
        link = link_of(backend, at)
        types.append(link.type)
        at = link.parent
    return types


def test_fact_03_records_of_one_response_share_it(home: Home, indexed: Index) -> None:
    """Three calls in three records are one response; the answer after the results is another."""
    calls, _ = parallel_calls(home)

    backend = indexed()

    responses = {link_of(backend, call["uuid"]).response for call in calls}
    answer = kept(backend)[-1].link.response
    assert 1 == len(responses)
    assert None not in responses
    assert answer not in {None, *responses}


def test_fact_03_siblings_of_a_chain_can_be_brought_back(home: Home, indexed: Index) -> None:
    """The children of a call are the next call of its response and its own result."""
    calls, results = parallel_calls(home)

    backend = indexed()

    first, second, third = ([link.uuid for link in children(backend, call["uuid"])] for call in calls)
    assert [calls[1]["uuid"], results[0]["uuid"]] == first
    assert [calls[2]["uuid"], results[1]["uuid"]] == second
    assert [results[2]["uuid"]] == third
    assert calls[1]["uuid"] == link_of(backend, results[1]["uuid"]).source_call


def test_fact_03_result_knows_the_tool_of_its_own_call(home: Home, indexed: Index) -> None:
    """Results that come in another order than their calls still belong each to its own."""
    transcript = home.session(SESSION)
    transcript.prompt("read and run")
    read, run, search = (transcript.call(name) for name in ("Read", "Bash", "Grep"))
    transcript.result(run, "ran")
    transcript.result(read, "was read")
    transcript.result(search, "was found")

    results = [(part.part.tool, part.part.text) for part in kept(indexed()) if part.part.kind == "tool_result"]

    assert [("Bash", "ran"), ("Read", "was read"), ("Grep", "was found")] == results


def test_fact_04_usage_counts_once_per_response(home: Home, indexed: Index) -> None:
    """Usage that repeats on every record of a response is one response, also when read in two goes."""
    transcript = home.session(SESSION)
    transcript.prompt("think and answer")
    transcript.thinking("hm")
    backend = indexed()
    assert 1 == backend.catalog.counts().responses
    transcript.text("yes")
    transcript.call("Bash", {"command": "true"})
    transcript.prompt("again")
    transcript.text("no")

    backend = indexed()

    assert 2 == backend.catalog.counts().responses


def test_fact_04_message_without_usage_is_no_response(home: Home, indexed: Index) -> None:
    """A message of the assistant that names no usage costs nothing and is not counted."""
    transcript = home.session(SESSION)
    message = {"id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": "free"}]}
    transcript.text("replaced", message=message)
    transcript.text("replaced too", message={**message, "id": "msg_2", "usage": USAGE})

    backend = indexed()

    assert 1 == backend.catalog.counts().responses


@pytest.mark.parametrize("order", [(5, 90), (90, 5)], ids=["grows", "shrinks"])
def test_fact_04_largest_usage_of_a_response_counts(home: Home, indexed: Index, order: tuple[int, int]) -> None:
    """Only the last record of a response has its final usage, and it is the largest."""
    transcript = home.session(SESSION)
    for tokens in order:
        usage = {**USAGE, "output_tokens": tokens}
        content = [{"type": "text", "text": f"answer {tokens}"}]
        transcript.text("", message={"id": "msg_1", "role": "assistant", "content": content, "usage": usage})

    cost = indexed().catalog.figures(Condition(), [Grouping.TOTAL])[Grouping.TOTAL][""]

    assert (1, 10, 90, 1_000) == (cost.responses, cost.input, cost.output, cost.cache_read)


def test_fact_05_compaction_boundary_begins_anew_and_names_where_it_goes_on(home: Home, indexed: Index) -> None:
    """A boundary has no parent but a logical one; its only child is the summary."""
    transcript = home.session(SESSION)
    before = transcript.prompt("the task")
    summary = transcript.compact("This session is being continued: the task")
    transcript.prompt("go on")

    backend = indexed()

    boundary = link_of(backend, summary["parentUuid"])
    assert (True, None, before["uuid"]) == (boundary.is_boundary, boundary.parent, boundary.logical_parent)
    assert [summary["uuid"]] == [link.uuid for link in children(backend, boundary.uuid)]
    assert not link_of(backend, summary["uuid"]).is_boundary


def test_fact_05_compaction_keeps_what_was_before_and_flags_the_summary(home: Home, indexed: Index) -> None:
    """What was said before a compaction stays, and the summary is a summary, not a prompt."""
    transcript = home.session(SESSION)
    transcript.prompt("the task")
    transcript.compact("This session is being continued")
    transcript.prompt("go on")

    backend = indexed()

    kinds = [("prompt", "the task"), ("system", "Conversation compacted")]
    assert [*kinds, ("summary", "This session is being continued"), ("prompt", "go on")] == said(backend)
    assert 2 == session_of(backend).prompts


def test_fact_05_compaction_falls_back_to_the_line_before_when_its_parent_is_missing(
    home: Home, indexed: Index
) -> None:
    """Where the named logical parent is nowhere, the record on the line before is a question away."""
    transcript = home.session(SESSION)
    transcript.prompt("the task")
    last = transcript.text("working on it")
    summary = transcript.compact("This session is being continued", logical_parent=NOWHERE)

    backend = indexed()

    boundary = link_of(backend, summary["parentUuid"])
    assert {} == backend.catalog.links([str(boundary.logical_parent)])
    assert [last["uuid"], boundary.uuid] == [link.uuid for link in neighbours(backend, boundary.uuid, 1, 0)]


def test_fact_05_compaction_summary_without_boundary_is_a_summary(home: Home, indexed: Index) -> None:
    """Old versions write the summary with no parent and no boundary before it."""
    transcript = home.session(SESSION, version="1.0.89")
    transcript.prompt("Earlier we did this", parent=None, isCompactSummary=True)

    assert [("summary", "Earlier we did this")] == said(indexed())


def test_fact_14_times_that_run_backwards_change_no_order(home: Home, indexed: Index) -> None:
    """File order is write order: a later line with an earlier time stays behind; minutes are reported, seconds not."""
    transcript = home.session(SESSION)
    transcript.prompt("one", timestamp="2026-03-01T10:00:10.000Z")
    second = transcript.text("two", timestamp="2026-03-01T10:00:05.000Z")
    transcript.text("three", timestamp="2026-03-01T09:40:00.000Z")

    backend = indexed()

    assert ["one", "two", "three"] == texts(backend)
    assert ["user", "assistant"] == [link.type for link in neighbours(backend, second["uuid"], 1, 0)]
    assert [(f"{SESSION}.jsonl", 3)] == problems_of(backend, "time running backwards")


def test_fact_14_session_spans_from_its_earliest_to_its_latest_time(home: Home, indexed: Index) -> None:
    """When a session began and ended is told by times, not by its first and last line."""
    transcript = home.session(SESSION)
    transcript.prompt("one", timestamp="2026-03-01T10:00:10.000Z")
    transcript.text("two", timestamp="2026-03-01T10:00:05.000Z")
    transcript.text("three", timestamp="2026-03-01T10:00:07.000Z")

    session = session_of(indexed())

    assert (1_772_359_205_000, 1_772_359_210_000) == (session.started, session.ended)
