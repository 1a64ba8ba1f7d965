"""Which parts every backend finds, where only the words themselves count; and that what is derived stays true."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkit.backends.base import Backend, Order
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.words import store
from searchkit.query.parse import understand
from searchkit.query.types import Condition, Filter, Period, Query
from searchkit.types import Change, Context, Kind, Touch
from tests.contract.small import A, B, C, agent, batch, document, fact, progress, queued, record, told, transcript
from tests.contract.test_order import HAPPENINGS, bounded, histories, local, orders
from tests.contract.test_sessions import during, wants
from tests.reference import ReferenceBackend

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MOST = 1_000
MAIN, OTHER = Context(cwd="/src/shop", branch="main", model="opus-4"), Context(cwd="/src/app", branch="fix")


def filled(backend: Backend) -> Backend:
    """Write three sessions: an agent, a fork, an error, a document, repeats, two languages; every word is plain."""
    touched = [Touch(path="/src/shop/engine.py", action="edit")]
    call = record(2, 2, "amber basalt", kind=Kind.TOOL_CALL, tool="mcp__github__search", call="t1", touches=touched)
    failed = record(3, 3, "amber zinc", kind=Kind.TOOL_RESULT, tool="Bash", call="t2", is_error=True, context=OTHER)
    fork = msgspec.structs.replace(call, line=1, session=B, is_forked=True)
    of_a = [fact("project", "/src/shop"), fact("custom-title", "The amber room")]
    of_a += [fact("agent-type", "Explore", agent="x77")]
    of_b = [fact("project", "/src/app", session=B), fact("ai-title", "Stones", session=B)]
    of_b += [fact("app", "codex", session=B)]
    spoken = [
        record(30, 2, "le zinc est dans la mine avec amber", session=C, context=MAIN),
        record(31, 3, "the amber is under the delta", kind=Kind.TEXT, session=C),
        record(32, 4, "this is what the zinc says", kind=Kind.TOOL_RESULT, tool="Bash", session=C),
    ]
    return told(
        backend,
        transcript("a", record(1, 1, "amber basalt coral", "delta", context=MAIN), call, failed, facts=of_a),
        transcript("a", queued(9, 4, "amber basalt coral", time=3_500), checkpoint=b"2"),
        agent("x77", record(4, 1, "coral basalt amber", kind=Kind.TEXT, agent="x77", is_sidechain=True)),
        transcript("b", fork, record(6, 2, "zinc amberoid", kind=Kind.SUMMARY, session=B), facts=of_b),
        transcript("b", record(7, 3, "Amber, BASALT; coral_delta", session=B, context=OTHER), checkpoint=b"3"),
        transcript("c", record(8, 1, "zinc delta Ämber", session=C, time=None), *spoken),
        document("todo", record(20, 1, "delta zinc zinc", kind=Kind.TODO, session=A)),
    )


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Backend]:
    """A backend of each kind with the same contents."""
    kept = LocalBackend(tmp_path_factory.mktemp("finding") / "index", is_writable=True)
    filled(kept).follow()
    return filled(ReferenceBackend()), kept


WORDS = [
    "amber", "AMBER", "ämber", "zinc", "zinc amber", "delta zinc coral", "nowhere", "amber nowhere",
    '"amber basalt"', '"basalt amber"', '"amber basalt coral"', '"amber coral"', '"coral delta"', '"zinc zinc"',
    "amber -basalt", "-amber", "-amber -zinc", 'zinc -"delta zinc"', "amber -amb*", "-nowhere",
    "amber OR zinc", "nowhere OR zinc", '"coral basalt" OR "amber zinc"',
    "+amber zinc", "+amber +zinc", "+zinc amber coral", "+nowhere amber", "+amber OR +delta",
    "amb*", "ambero*", "ba* zinc", "no*", "+co* +de*", "/amb.*r/", "/^zi/", "/[x-z]inc/", "/a+lt$/ -/del.*/",
    "/amber.basalt/", "/amber +zinc/", "/coral.*amber/", "zinc -/amber.zinc/", "/amb|zinc/ coral",
    "/(amber|coral) basalt/", "/^zinc .*r$/", r"/\bamber\b/", r"/b\w+t\W+coral/", "/amber.zinc|delta.zinc/",
    "-/delta zinc+/", "amber -/zinc.amber/ -/amber zinc+/", "/amber.zin+c/ OR /delta.zin+c/",
    "amber.zinc OR delta", "+amber.basalt", "-coral-delta",
    "", "amber coral_delta", "basalt;", "coral-delta",
]  # fmt: skip
FILTERS: list[Filter | Period] = [
    wants("project", "shop"), wants("project", "src"), wants("project", "lib"), wants("session", "aaaa"),
    wants("session", B, C), wants("agent", "x7"), wants("agent", "explore"), wants("branch", "main"),
    wants("branch", "fix", "main"), wants("tool", "github"), wants("tool", "bash"), wants("kind", "prompt"),
    wants("kind", "todo", "summary"), wants("role", "user"), wants("role", "assistant"), wants("model", "opus"),
    wants("file", "engine.py"), wants("title", "AMBER"), wants("title", "stones"), wants("is", "error"),
    wants("is", "sidechain"), wants("is", "summary"), wants("is", "error", "summary"),
    wants("agent-app", "codex"), wants("agent-app", "claude"),
    wants("language", "en"), wants("language", "FR"), wants("language", "en", "fr"), wants("language", "de"),
]  # fmt: skip
PERIODS: list[Filter | Period] = [
    during((2_000, None)), during((None, 2_000)), during((2_000, 2_001)), during((None, 1_001), (6_000, None)),
    during((None, None)), during((99_000, None)),
]  # fmt: skip


def asked(words: str, *conditions: Filter | Period) -> Query:
    """Understand words, and add conditions as they are."""
    query = understand(words, now=NOW)
    return Query(
        text=query.text,
        clauses=query.clauses,
        condition=Condition(
            filters=tuple(one for one in conditions if isinstance(one, Filter)),
            periods=tuple(one for one in conditions if isinstance(one, Period)),
        ),
    )


def found(backend: Backend, query: Query, order: Order = Order.RELEVANCE) -> list[str]:
    """Return the ids of the parts that answer a query."""
    answer = backend.words.search(query, MOST, order)
    parts = [stored.id for stored in backend.catalog.stored([hit.key for hit in answer.hits]) if stored is not None]
    assert answer.total == len(answer.hits) == len(parts)
    return parts


def agree(pair: Sequence[Backend], query: Query) -> None:
    """Hold both backends to the same parts, and to as many that only the condition keeps away."""
    reference, kept = (sorted(found(backend, query)) for backend in pair)

    assert reference == kept
    assert pair[0].words.search(query, MOST).hidden == pair[1].words.search(query, MOST).hidden


@pytest.mark.parametrize("words", WORDS)
def test_same_parts_for_words(pair: Sequence[Backend], words: str) -> None:
    """Words, phrases and signs find the same parts."""
    agree(pair, asked(words))


@pytest.mark.parametrize("filter", [*FILTERS, *PERIODS], ids=str)
def test_same_parts_for_a_condition(pair: Sequence[Backend], filter: Filter | Period) -> None:
    """Every filter and period finds the same, with and without words, wanted and excluded."""
    other = msgspec.structs.replace(filter, is_excluded=True)
    for words, condition in product(("", "amber", "zinc -amber", '"amber basalt"', "nowhere"), (filter, other)):
        agree(pair, asked(words, condition))


def test_same_parts_for_conditions_together(pair: Sequence[Backend]) -> None:
    """Any two conditions find the same together."""
    for one, other in product([*FILTERS[::2], *PERIODS[:2]], [*FILTERS[1::2], *PERIODS[2:4]]):
        agree(pair, asked("amber", one, other))
        agree(pair, asked("", one, msgspec.structs.replace(other, is_excluded=True)))


def test_same_order_in_time(pair: Sequence[Backend]) -> None:
    """Newest and oldest of all that match come in the same order."""
    query = asked("amber", during((None, None)))

    for order in (Order.NEWEST, Order.OLDEST):
        assert found(pair[0], query, order) == found(pair[1], query, order)


@pytest.mark.parametrize(
    "name",
    [
        "project",
        "session",
        "title",
        "branch",
        "model",
        "tool",
        "kind",
        "role",
        "language",
        "agent",
        "agent-app",
        "is",
        "month",
        "day",
    ],
)
@pytest.mark.parametrize("words", ["amber", "zinc", "", "nowhere"])
def test_same_facets(pair: Sequence[Backend], name: str, words: str) -> None:
    """Matches are counted alike by every value."""
    reference, kept = (dict(backend.words.facets(asked(words), name)) for backend in pair)

    assert reference == kept


def state(backend: LocalBackend) -> list[object]:
    """Tell all that the keyword index holds: which parts, by which words, and what each is filtered by."""
    told: list[object] = []
    for word in ("", "one", "two", "%"):
        for condition in [None, *REWRITTEN]:
            query = asked(word, *([] if condition is None else [condition]))
            told.append((word, str(condition), sorted(found(backend, query))))
    told += [sorted(backend.words.facets(asked(""), name).items()) for name in REWRITTEN_FACETS]
    return [*told, backend.words.reach()]


REWRITTEN_FACETS = ("session", "kind", "tool", "agent", "language", "is")
REWRITTEN: list[Filter | Period] = [
    wants("session", A),
    wants("session", B),
    wants("agent", "x"),
    wants("branch", "one"),
    wants("tool", "Bash"),
]
REWRITTEN += [wants("is", "sidechain"), wants("kind", "todo", "history", "plan"), during((None, 5_000))]


def rebuilt(backend: LocalBackend) -> list[object]:
    """Tell the same of an index that is made from scratch."""
    backend.drop_derived()
    backend.follow()
    return state(backend)


def kept_up(backend: LocalBackend, order: Sequence[list[Change] | None]) -> None:
    """Write batches and settle, with a commit of the keyword index after each, and follow at the end."""
    for changes in order:
        if changes is None:
            backend.catalog.settle()
        else:
            backend.catalog.write(batch(*changes))
        backend.keep_up()
    backend.follow()


@pytest.mark.parametrize("happenings", [frozenset[str](), frozenset(HAPPENINGS)], ids=["nothing else", "everything"])
@bounded
@given(data=st.data())
def test_what_was_kept_up_equals_what_is_made_anew(happenings: frozenset[str], data: st.DataObject) -> None:
    """However batches come, and however often the index was committed meanwhile, it ends as one made at once."""
    order = data.draw(orders(data.draw(histories(happenings)), "settling between" in happenings))

    with pytest.MonkeyPatch.context() as patch, local() as backend:
        patch.setattr(store, "COMMIT_SECONDS", 0.0)
        patch.setattr(store, "COMMIT_SHARE", 0.0)
        kept_up(backend, order)
        kept = state(backend)

        assert rebuilt(backend) == kept


STORIES: dict[str, list[list[Change] | None]] = {
    "a copy before its original": [
        [agent("acompact-y", record(1, 1, "one", agent="acompact-y", is_sidechain=True), is_copy=True)],
        None,
        [transcript("a", record(1, 1, "one"), record(2, 2, "two"))],
        None,
    ],
    "a fork before its original": [
        [transcript("b", record(1, 1, "one", session=B, is_forked=True))],
        None,
        [transcript("a", record(1, 1, "one"))],
        None,
    ],
    "a repeat that comes": [
        [transcript("a", queued(5, 1, "one"))],
        None,
        [transcript("a", record(2, 2, "one"), checkpoint=b"2")],
        None,
    ],
    "a stand-in that goes": [
        [transcript("a", progress(8, 1, "one", "toolu_a"))],
        None,
        [transcript("a", record(7, 2, "two", kind=Kind.TOOL_RESULT, call="toolu_a", tool="Bash"), checkpoint=b"2")],
        None,
    ],
    "a document that changes": [
        [document("a", record(9, 1, "one", kind=Kind.TODO))],
        None,
        [document("a", record(10, 1, "two", kind=Kind.TODO), checkpoint=b"2")],
        None,
    ],
    "a transcript that is replaced": [
        [transcript("a", record(1, 1, "one"), record(2, 2, "two"))],
        None,
        [transcript("a", record(3, 1, "one"), is_restart=True, checkpoint=b"2")],
        None,
    ],
}


@pytest.mark.parametrize("story", STORIES)
def test_rewriting_is_followed(local: LocalBackend, monkeypatch: pytest.MonkeyPatch, story: str) -> None:
    """Parts that move, repeat, stand in or go after they were indexed are found as they are now."""
    monkeypatch.setattr(store, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(store, "COMMIT_SHARE", 0.0)

    kept_up(local, STORIES[story])

    kept = state(local)
    assert rebuilt(local) == kept
    reference = ReferenceBackend()
    for changes in STORIES[story]:
        reference.catalog.settle() if changes is None else reference.catalog.write(batch(*changes))
    for word in ("one", "two", ""):
        assert sorted(found(reference, asked(word))) == sorted(found(local, asked(word)))


def test_forgotten_is_found_no_more(local: LocalBackend) -> None:
    """After a session is forgotten only what others hold of it is found, by both backends."""
    reference = filled(ReferenceBackend())
    filled(local).follow()

    for backend in (reference, local):
        backend.forget([A])
        backend.catalog.settle()
        backend.follow()

    for words in ("amber", "zinc", "delta", ""):
        agree((reference, local), asked(words))
    assert [] == found(local, asked("coral basalt"))[2:]
    kept = state(local)
    assert rebuilt(local) == kept
