"""A story tells which thread each record belongs to, and threads that differ from it are named."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from tests.corpus.expected import differences
from tests.corpus.samples import Samples
from tests.corpus.story import Mark, Setting, Story

SESSION, OTHER = "session", "other session"
LONG = [f"record {number}" for number in range(200)]


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """A thread as an engine would return it."""

    uuids: Sequence[str]
    caller: str | None = None
    sessions: Sequence[str] = (SESSION,)


def test_prompt_edited(story: Story) -> None:
    """The thread of what came before goes on with the new prompt, that of the old prompt ends with its answer."""
    say(story, "hello", "hi", "old prompt", "old answer")
    story.go_back(2, "old answer")
    say(story, "new prompt", "new answer")

    threads = told(story)

    assert ["hello", "hi", "new prompt", "new answer"] == threads["hello"] == threads["new answer"]
    assert ["hello", "hi", "old prompt", "old answer"] == threads["old prompt"]


def test_older_ending_named(story: Story) -> None:
    """Where a later line names an older ending, the thread of what came before leads there."""
    say(story, "hello", "old prompt")
    story.go_back(1, "old prompt")
    say(story, "new prompt")
    story.tellings[0].line = story.now.line + 1

    threads = told(story)

    assert ["hello", "old prompt"] == threads["hello"]
    assert ["hello", "new prompt"] == threads["new prompt"]


def test_results_stand_after_their_calls(story: Story) -> None:
    """Each call is followed by its own result, whichever came first, and the whole response by what was put aside."""
    moment = story.respond()
    for call in ("call 1", "call 2"):
        story.add(moment, call)
    story.answer("call 2", "result 2")
    story.put_aside("typed meanwhile")
    story.answer("call 1", "result 1")

    threads = told(story)

    assert ["call 1", "result 1", "call 2", "result 2", "typed meanwhile"] == threads["result 2"]


def test_lost_parent_ends_a_thread(story: Story) -> None:
    """No thread leads over a lost parent, in either direction."""
    say(story, "before")
    story.tear("before")
    say(story, "after")

    assert {"before": ["before"], "after": ["after"]} == told(story)


def test_fork_goes_on_from_what_it_shares(story: Story) -> None:
    """A fork's own records follow the shared ones, whose own thread goes on in the original."""
    say(story, "hello", "hi", "goodbye")
    fork = story.branch_off(Mark(1, 2, "hi", 2), OTHER, Setting.FORK)
    say(fork, "wait")

    assert {"wait": ["hello", "hi", "wait"]} == told(fork)
    assert ["hello", "hi", "goodbye"] == told(story)["hello"]


def test_right_threads_make_no_difference() -> None:
    """Nothing is said of a thread that is as the manifest tells."""
    assert [] == differences(manifest(), lambda uuid: Thread(uuids=LONG))


@pytest.mark.parametrize(
    ("thread", "said"),
    [
        (Thread(uuids=[*LONG[:101], "stray", *LONG[101:]]), "1 after it comes stray, not record 101"),
        (Thread(uuids=[*LONG[:90], *LONG[91:]]), "10 before it comes record 89, not record 90"),
        (Thread(uuids=LONG[:102]), "2 after it comes nothing, not record 102"),
        (Thread(uuids=LONG[1:]), "differs further away: 99 before it and 99 after it, not 100 and 99"),
        (Thread(uuids=LONG[:50]), "not in its own thread of 50 records"),
        (Thread(uuids=LONG, caller="someone"), "called by someone, not None"),
        (Thread(uuids=LONG, sessions=[OTHER]), "in sessions ['other session'], not ['session']"),
    ],
)
def test_wrong_threads_are_named(thread: Thread, said: str) -> None:
    """A difference is told by where, going out from the record, the thread first leaves the expected one."""
    assert [f"plain record 100: {said}"] == differences(manifest(), lambda uuid: thread)


@pytest.mark.parametrize(("last", "count"), [("goodbye", 0), ("wait", 0), ("stray", 1)])
def test_either_of_two_threads_will_do(story: Story, last: str, count: int) -> None:
    """Where nothing tells which file is the original, the thread may go on in the fork as well."""
    say(story, "hello", "goodbye")
    fork = story.branch_off(Mark(1, 1, "hello", 1), OTHER, Setting.FORK)
    say(fork, "wait")
    story.lent, story.rival = {"hello": OTHER}, fork
    expected = {"threads": [sample for sample in sampled(story) if sample["uuid"] == "hello"]}

    found = differences(expected, lambda uuid: Thread(uuids=["hello", last], sessions=[OTHER, SESSION]))

    assert count == len(found)


@pytest.fixture
def story() -> Story:
    """A story of a session that nothing was told of yet."""
    return Story(SESSION)


def say(story: Story, *uuids: str) -> None:
    """Tell records, each on a line of its own."""
    for uuid in uuids:
        story.say(uuid)
        story.now.line += 1


def sampled(story: Story) -> list[dict[str, Any]]:
    """Sample a story."""
    samples = Samples(1)
    samples.take(story)
    return samples.listed()


def told(story: Story) -> dict[str, list[str]]:
    """Return the thread of each record of a short story."""
    return {
        sample["uuid"]: [*sample["thread"]["before"], sample["uuid"], *sample["thread"]["after"]]
        for sample in sampled(story)
    }


def manifest() -> dict[str, Any]:
    """Return a manifest that tells the thread of the hundredth of two hundred records."""
    story = Story(SESSION)
    say(story, *LONG)
    # There is room for the first 72 only, unless those are told before.
    story.borrowed = frozenset(LONG) - {"record 100"}
    return {"threads": sampled(story)}
