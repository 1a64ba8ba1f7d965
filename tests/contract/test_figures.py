"""The figures that every backend gives about what was asked, answered and done."""

import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from searchkit.backends.base import Backend
from searchkit.backends.prices import Price
from searchkit.query.types import Condition, Filter, Period, Span
from searchkit.types import (
    COST_STATE,
    Context,
    Cost,
    CostState,
    Fact,
    Figures,
    Grouping,
    Kind,
    Record,
    Standing,
    Touch,
    Usage,
)
from tests.contract.small import A, B, C, agent, fact, queued, record, told, transcript, uuid

HOUR = 3_600_000
# In Greenwich, both are on 2026-03-01, a Sunday; three hours further east, the second is on Monday.
SUNDAY = 1_772_395_200_000
MONDAY = SUNDAY + HOUR
OPUS, HAIKU = Context(model="opus-4"), Context(model="haiku-4")
READ, WRITTEN = Touch(path="/a", action="read"), Touch(path="/a", action="write")
USAGE = Usage(input=10, output=20, cache_read=100, cache_write=7, cost=0.5)


@pytest.fixture(autouse=True)
def _east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Live three hours east of Greenwich."""
    monkeypatch.setenv("TZ", "EAST-3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def answer(number: int, line: int, text: str, response: str, **about: Any) -> Record:
    """Make a record of a response."""
    usual = {"kind": Kind.TEXT, "type": "assistant", "time": MONDAY, "context": OPUS, "usage": USAGE}
    return record(number, line, text, response=response, **{**usual, **about})


@pytest.fixture
def filled(backend: Backend) -> Backend:
    """Two sessions: one with a response told by three records and with an agent, and a fork of it."""
    call: dict[str, Any] = {"kind": Kind.TOOL_CALL, "tool": "Bash", "call": "t1"}
    result: dict[str, Any] = {"kind": Kind.TOOL_RESULT, "tool": "Bash", "call": "t1", "is_error": True, "time": MONDAY}
    other: dict[str, Any] = {"kind": Kind.TOOL_CALL, "tool": "Read", "call": "t2", "agent": "x", "context": HAIKU}
    return told(
        backend,
        transcript(
            "a",
            record(1, 1, "one", time=SUNDAY),
            answer(2, 2, "two", "m1", usage=replace(USAGE, output=5)),
            answer(3, 3, "three", "m1"),
            answer(4, 4, "ls", "m1", touches=[READ, WRITTEN], **call),
            record(5, 5, "no such file", **result),
            queued(6, 6, "one", time=MONDAY),
            record(7, 7, "on", time=MONDAY, standing=Standing.STATE),
            facts=[fact("project", "/src/shop"), fact("model", "opus-4"), fact("model", "haiku-4")],
        ),
        agent(
            "x",
            record(10, 1, "look", agent="x", time=MONDAY),
            answer(
                11,
                2,
                "cat",
                "m2",
                usage=Usage(input=1, output=2),
                touches=[READ, Touch(path="/b", action="read")],
                **other,
            ),
        ),
        transcript(
            "b",
            answer(3, 1, "three", "m1", session=B, is_forked=True),
            record(20, 2, "later", session=B, time=MONDAY + 48 * HOUR),
            record(21, 3, "whenever", session=B, time=None),
            facts=[fact("project", "/src/app", session=B)],
        ),
    )


OPUS_DID = Figures(
    sessions=1, responses=1, calls=1, failed=1, input=10, output=20, cache_read=100, cache_write=7, cost=0.5
)
# No list has a price of that model, and no record says what it cost.
HAIKU_DID = Figures(sessions=1, responses=1, calls=1, input=1, output=2, unpriced=1)
BOTH_DID = replace(OPUS_DID, responses=2, calls=2, input=11, output=22, unpriced=1)
A_PROMPT = Figures(sessions=1, prompts=1)
BY = {
    Grouping.TOTAL: {"": replace(BOTH_DID, sessions=2, prompts=3)},
    Grouping.DAY: {"2026-03-01": A_PROMPT, "2026-03-02": BOTH_DID, "2026-03-04": A_PROMPT, "": A_PROMPT},
    Grouping.WEEK: {
        "2026-02-23": A_PROMPT,
        "2026-03-02": replace(BOTH_DID, sessions=2, prompts=1),
        "": A_PROMPT,
    },
    Grouping.MONTH: {"2026-03": replace(BOTH_DID, sessions=2, prompts=2), "": A_PROMPT},
    Grouping.PROJECT: {"/src/shop": replace(BOTH_DID, prompts=1), "/src/app": Figures(sessions=1, prompts=2)},
    Grouping.MODEL: {"opus-4": OPUS_DID, "haiku-4": HAIKU_DID},
    Grouping.TOOL: {"Bash": Figures(sessions=1, calls=1, failed=1), "Read": Figures(sessions=1, calls=1)},
    Grouping.FILE: {"/a": Figures(sessions=1, calls=2), "/b": Figures(sessions=1, calls=1)},
}


@pytest.mark.parametrize("by", Grouping)
def test_figures_count_everything_once(filled: Backend, by: Grouping) -> None:
    """A response counts once, with the most that was told of it; days are those of the user's time zone."""
    assert BY[by] == filled.catalog.figures(Condition(), [by])[by]


CONDITIONS = [
    (Filter(name="project", values=("shop",)), replace(BOTH_DID, prompts=1)),
    (Filter(name="project", values=("shop",), is_excluded=True), Figures(sessions=1, prompts=2)),
    (Filter(name="session", values=(B,)), Figures(sessions=1, prompts=2)),
    (Filter(name="model", values=("opus",)), replace(OPUS_DID, prompts=1)),
    (Filter(name="model", values=("opus", "haiku")), replace(BOTH_DID, prompts=1)),
    (Filter(name="tool", values=("read",)), replace(BOTH_DID, prompts=1, calls=1, failed=0)),
    (Period(spans=(Span(start=MONDAY),)), replace(BOTH_DID, sessions=2, prompts=1)),
    (Period(spans=(Span(end=MONDAY),)), A_PROMPT),
    (Period(spans=(Span(end=MONDAY), Span(start=MONDAY + HOUR))), Figures(sessions=2, prompts=2)),
    (Period(spans=(Span(start=SUNDAY),), is_excluded=True), A_PROMPT),
]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS, ids=str)
def test_figures_are_of_what_is_meant(filled: Backend, condition: Filter | Period, expected: Figures) -> None:
    """Filters choose sessions, and models and tools also what they did; a period chooses what happened then."""
    asked = Condition(filters=(condition,)) if isinstance(condition, Filter) else Condition(periods=(condition,))

    assert {"": expected} == _total(filled, asked)


def test_nothing_has_no_figures(filled: Backend) -> None:
    """Where nothing is meant, there is no label."""
    nowhere = Condition(filters=(Filter(name="project", values=("nowhere",)),))

    assert {} == _total(filled, nowhere)
    assert {} == _total(filled, Condition(periods=(Period(spans=(Span(end=0),)),)))


def test_prompt_without_a_session_counts(backend: Backend) -> None:
    """What belongs to no session is counted unless sessions are chosen."""
    told(backend, transcript("a", record(1, 1, "one", session=None, time=SUNDAY)))

    assert {"": A_PROMPT} == _total(backend, Condition())
    assert {} == _total(backend, Condition(filters=(Filter(name="session", values=("x",)),)))


def test_groupings_can_be_asked_for_together(filled: Backend) -> None:
    """Each is answered as if it were alone."""
    assert BY == filled.catalog.figures(Condition(), list(Grouping))


def test_costs_are_those_of_the_client_else_of_tokens(backend: Backend) -> None:
    """A fork has what came to its total since its original's, told by the message before; others have prices."""
    known = Context(model="claude-opus-4-6")
    used = Usage(input=1_000, output=100, cache_read=10_000, cache_write=3_000, cache_write_1h=1_000)
    told(
        backend,
        transcript("a", answer(2, 1, "two", "m1"), facts=[_state(0.25, 2, line=2), _state(0.5, 5, line=9)]),
        transcript(
            "b",
            answer(2, 1, "two", "m1", session=B),
            answer(3, 2, "three", "m2", session=B, time=SUNDAY),
            facts=[_state(0.75, 3, line=3, session=B, time=SUNDAY, models={"opus-4": 0.5})],
        ),
        transcript("c", answer(4, 1, "four", "m3", session=C, context=known, usage=used)),
    )
    estimate = (1_000 * 5 + 100 * 25 + 10_000 * 0.5 + 2_000 * 6.25 + 1_000 * 10) / 1e6

    found = backend.catalog.costs([A, B, C, "nobody"])
    by_day = backend.catalog.figures(Condition(), [Grouping.DAY])[Grouping.DAY]

    assert {A: Cost(usd=0.5), B: Cost(usd=0.5, inherited=0.25)} == {one: found[one] for one in (A, B)}
    assert pytest.approx(estimate) == found[C].usd
    assert found[C].is_estimate
    assert {A, B, C} == set(found)
    assert {C: Cost(usd=0.0, is_estimate=True)} == backend.catalog.costs([C], {"claude-opus-4-6": _FREE})
    assert {"2026-03-01": 0.5, "2026-03-02": pytest.approx(estimate), "": 0.5} == {
        label: figures.cost for label, figures in by_day.items()
    }


_FREE = Price(input=0, output=0, cache_read=0, cache_write=0, cache_write_1h=0)


def _state(usd: float, leaf: int, line: int, session: str = A, **fields: Any) -> Fact:
    value = msgspec.json.encode(CostState(usd=usd, started=1, **fields)).decode()
    return fact(COST_STATE, value, line=line, session=session, leaf=uuid(leaf))


def _total(backend: Backend, condition: Condition) -> object:
    return backend.catalog.figures(condition, [Grouping.TOTAL])[Grouping.TOTAL]
