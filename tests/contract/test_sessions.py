"""Which sessions every backend finds by a condition, whatever it is made of."""

import pytest

from searchkit.backends.base import Backend
from searchkit.query.filters import FILTERS, Value
from searchkit.query.types import Condition, Filter, Period, Span
from searchkit.types import Kind, Touch
from tests.contract.small import A, B, C, agent, document, fact, ids, queued, record, told, transcript


def wants(name: str, *values: str) -> Filter:
    """Make a filter."""
    return Filter(name=name, values=values)


def refuses(name: str, *values: str) -> Filter:
    """Make a filter that excludes."""
    return Filter(name=name, values=values, is_excluded=True)


def during(*spans: tuple[int | None, int | None], is_excluded: bool = False) -> Period:
    """Make a period of spans."""
    return Period(spans=tuple(Span(start=start, end=end) for start, end in spans), is_excluded=is_excluded)


_ALL = Condition()
NAMES = [spec.name for spec in FILTERS if spec.value is not Value.DATE]


@pytest.fixture
def filled(backend: Backend) -> Backend:
    """Three sessions: A with an agent, B with a forked record of A, C without any time."""
    of_a = [fact("project", "/src/shop"), fact("branch", "older", 1), fact("branch", "main", 2)]
    of_a += [fact("agent-type", "Explore", agent="x77"), fact("ai-title", "Before"), fact("custom-title", "Straße")]
    of_b = [fact("project", "/src/app", session=B), fact("project", "/src/lib", 5, session=B)]
    of_b += [fact("model", "opus-4", session=B), fact("tracked", "/src/app/tracked.txt", session=B)]
    of_b += [fact("ai-title", "The weather", session=B), fact("app", "codex", session=B)]
    touched = [Touch(path="/src/shop/engine.py", action="edit")]
    call = record(2, 2, "ls", kind=Kind.TOOL_CALL, tool="mcp__github__search", call="t1", touches=touched)
    failed = record(3, 3, "no such file", kind=Kind.TOOL_RESULT, tool="Bash", call="t2", is_error=True)
    return told(
        backend,
        transcript(
            "a", record(1, 1, "one", touches=touched), call, failed, queued(9, 4, "one", time=3_500), facts=of_a
        ),
        agent("x77", record(4, 1, "il y en a quatre dans la liste", agent="x77", is_sidechain=True)),
        transcript("b", record(2, 1, "ls", kind=Kind.TOOL_CALL, session=B, is_forked=True, time=2_000), facts=of_b),
        transcript("b", record(6, 2, "in short", kind=Kind.SUMMARY, session=B), checkpoint=b"2"),
        transcript("c", record(7, 1, "what is it", session=C, time=None)),
    )


FOUND = [
    (wants("project", "/src/SHOP"), [A]),
    (wants("project", "app"), [B]),
    (wants("project", "lib"), [B]),
    (wants("project", "shop", "app"), [B, A]),
    (wants("project", "s_c"), []),
    (wants("project", "%"), []),
    (wants("session", "AAAA"), [A]),
    (wants("session", A, "cccc"), [A, C]),
    (wants("session", "1111"), []),
    (wants("agent", "x7"), [A]),
    (wants("agent", "explore"), [A]),
    (wants("agent", "plore"), []),
    (wants("agent-app", "Codex"), [B]),
    (wants("agent-app", "claude"), [A, C]),
    (wants("agent-app", "cod"), []),
    (wants("branch", "main"), [A]),
    (wants("branch", "older"), [A]),
    (wants("tool", "bash"), [A]),
    (wants("tool", "github"), [B, A]),
    (wants("tool", "hub"), []),
    (wants("kind", "tool_call"), [B, A]),
    (wants("kind", "summary"), [B]),
    (wants("kind", "tool"), []),
    (wants("role", "user"), [B, A, C]),
    (wants("role", "assistant"), []),
    (wants("language", "fr"), [A]),
    (wants("language", "EN"), [C]),
    (wants("language", "en", "fr"), [A, C]),
    (wants("language", "e"), []),
    (wants("model", "opus"), [B]),
    (wants("file", "engine.py"), [B, A]),
    (wants("file", "Tracked.txt"), [B]),
    (wants("title", "weather"), [B]),
    (wants("title", "STRASSE"), [A]),
    (wants("title", "before"), [A]),
    (wants("title", "what is"), [C]),
    (wants("is", "error"), [A]),
    (wants("is", "sidechain"), [A]),
    (wants("is", "summary"), [B]),
    (wants("is", "error", "summary"), [B, A]),
]


@pytest.mark.parametrize(("filter", "expected"), FOUND, ids=str)
def test_filter_holds_for_anything_in_the_session(filled: Backend, filter: Filter, expected: list[str]) -> None:
    """A session is found by any value it has; text is meant literally, in any case; any wanted value will do."""
    assert expected == ids(filled, filter)


@pytest.mark.parametrize(("filter", "expected"), FOUND, ids=str)
def test_filter_that_excludes_finds_all_others(filled: Backend, filter: Filter, expected: list[str]) -> None:
    """Excluded is every session in which the filter holds for something, and no other."""
    others = [session for session in (B, A, C) if session not in expected]

    assert others == ids(filled, refuses(filter.name, *filter.values))


def test_every_filter_is_tried() -> None:
    """No filter is left out above."""
    assert set(NAMES) == {filter.name for filter, _ in FOUND}


PERIODS = [
    (during((2_000, None)), [B, A]),
    (during((4_001, None)), [B]),
    (during((4_000, None)), [B, A]),
    (during((None, 2_000)), [A]),
    (during((None, 1_000)), []),
    (during((None, 1_001)), [A]),
    (during((5_000, 5_001)), [B]),
    (during((None, 1_500), (5_500, None)), [B, A]),
    (during((6_001, None)), []),
    (during((None, None)), [B, A]),
]


@pytest.mark.parametrize(("period", "expected"), PERIODS, ids=str)
@pytest.mark.parametrize("is_excluded", [False, True])
def test_period_holds_for_a_session_that_lasted_then(
    filled: Backend, period: Period, expected: list[str], is_excluded: bool
) -> None:
    """A session is in every span that holds a moment of it; one without any time is in none."""
    asked = during(*((span.start, span.end) for span in period.spans), is_excluded=is_excluded)

    found = ids(filled, asked)

    assert [session for session in (B, A, C) if (session in expected) != is_excluded] == found


def test_all_of_a_condition_must_hold(filled: Backend) -> None:
    """Different filters and periods are joined by and, whether or not they exclude."""
    assert [A] == ids(filled, wants("project", "src"), wants("is", "error"))
    assert [] == ids(filled, wants("project", "src"), wants("model", "opus"), during((None, 2_000)))
    assert [B] == ids(filled, wants("tool", "github"), refuses("branch", "main"), during((2_000, None)))
    assert [C] == ids(filled, refuses("kind", "tool_call"), during((0, None), is_excluded=True))


def test_repeats_do_not_count(backend: Backend) -> None:
    """What only repeats another part is in no answer, so it makes no session one."""
    told(backend, transcript("a", record(1, 1, "one"), queued(2, 2, "one", kind=Kind.HISTORY)))

    assert ([A], []) == (ids(backend, wants("kind", "prompt")), ids(backend, wants("kind", "history")))


VALUES = {
    "project": ["/src/app", "/src/lib", "/src/shop"],
    "session": [A, B, C],
    "agent": ["Explore", "x77"],
    "agent-app": ["claude", "codex"],
    "branch": ["main", "older"],
    "tool": ["mcp__github__search", "Bash"],
    "kind": ["prompt", "tool_call", "plan", "summary", "tool_result"],
    "role": ["user"],
    "language": ["en", "fr"],
    "model": ["opus-4"],
    "file": ["/src/shop/engine.py", "/src/app/tracked.txt"],
    "title": ["Before", "Straße", "The weather", "what is it"],
    "is": ["error", "sidechain", "summary"],
}


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_there_are(filled: Backend, name: str) -> None:
    """What a filter could be given is listed, what most sessions have first; also what belongs to no session."""
    told(filled, document("plan", record(8, 1, "a plan", kind=Kind.PLAN, session=None), session=None))

    assert VALUES[name] == filled.catalog.values(name)


def test_sessions_are_limited(filled: Backend) -> None:
    """The newest are returned."""
    assert [[], [B], [B, A]] == [[session.id for session in filled.catalog.sessions(_ALL, limit)] for limit in range(3)]


def test_sessions_are_named_by_their_whole_ids(filled: Backend) -> None:
    """Those that are there are returned, as a list would show them; a beginning of an id is none."""
    listed = {session.id: session for session in filled.catalog.sessions(_ALL)}

    assert {A: listed[A], C: listed[C]} == filled.catalog.named([C, A, "nobody", C, B[:8], ""])
    assert {} == filled.catalog.named([])
