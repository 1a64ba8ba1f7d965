"""What every backend promises of vectors: which parts get one, which are near, and that they stay true."""

import random
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchkit.backends.base import Backend, Reach, Vector
from searchkit.backends.local.backend import LocalBackend
from searchkit.query.types import Filter, Period
from searchkit.types import Change, Kind, Language, Record, Role, Touch
from tests.contract.meant import DIMENSION, OTHERS, WORDS, condition, embed, ids, lacking, meaning, near
from tests.contract.small import A, B, C, agent, batch, document, queued, record, told, transcript, uuid
from tests.contract.test_finding import FILTERS, MAIN, OTHER, PERIODS, REWRITTEN, STORIES, filled
from tests.contract.test_order import HAPPENINGS, bounded, histories, local, orders
from tests.contract.test_sessions import wants
from tests.reference import ReferenceBackend

LONG = " ".join(["long"] * 50)
VOCABULARY = "amber basalt coral delta zinc ember flint gravel harbor ivory".split()
# What 16 bits make of a cosine.
ROUNDING = 2e-3


def spoken(number: int, text: str, kind: Kind, **fields: Any) -> Record:
    """Make a record of the assistant's on the line of its number."""
    made = record(number, number, text, kind=kind, **fields)
    return msgspec.structs.replace(
        made, blocks=[msgspec.structs.replace(block, role=Role.ASSISTANT) for block in made.blocks]
    )


def test_those_worth_most_come_first(backend: Backend) -> None:
    """Prompts, last texts and what is long come before calls, these before what is short; the newest first."""
    told(
        backend,
        transcript(
            "a",
            record(1, 1, "ask"),
            spoken(2, "let me see", Kind.TEXT),
            spoken(3, "hm", Kind.THINKING),
            spoken(4, "grep", Kind.TOOL_CALL, call="t"),
            record(5, 5, "printed", kind=Kind.TOOL_RESULT, call="t"),
            spoken(6, f"{LONG} thinking", Kind.THINKING),
            spoken(7, "done", Kind.TEXT),
            record(8, 8, "ask more"),
            spoken(9, f"{LONG} text", Kind.TEXT),
            spoken(10, "ls", Kind.TOOL_CALL, call="u"),
            spoken(11, "all done", Kind.TEXT),
        ),
    )
    backend.vectors.adopt(WORDS)

    order = lacking(backend)

    carrying = ["all done", f"{LONG} text", "ask more", "done", f"{LONG} thinking", "ask"]
    assert [*carrying, "ls", "grep", "hm", "let me see"] == order


@pytest.mark.parametrize("kind", Kind)
def test_kinds_that_get_a_vector(backend: Backend, kind: Kind) -> None:
    """What tools print, what the system says, lists and history are found by their words alone."""
    told(backend, transcript("a", record(1, 1, "something", kind=kind)))
    backend.vectors.adopt(WORDS)

    without = {Kind.TOOL_RESULT, Kind.ATTACHMENT, Kind.SYSTEM, Kind.TODO, Kind.HISTORY}

    assert (kind not in without) == bool(backend.vectors.pending(1))


@pytest.mark.parametrize(("english", "wanted"), [(1, 2), (197, 198), (199, 0)])
def test_second_vectors_are_for_histories_of_several_languages(backend: Backend, english: int, wanted: int) -> None:
    """Where one part of 200 is in another language all that was said has one, and calls have none; else nothing has."""
    records = [record(number, number, f"why is the {number} late") for number in range(1, english + 1)]
    call = spoken(900, "ls", Kind.TOOL_CALL, call="t")
    told(backend, transcript("a", *records, call, record(901, 901, "为什么页面加载这么慢")))
    backend.multilingual.adopt(WORDS)

    assert wanted == len(backend.multilingual.pending(1_000))
    assert Reach(searchable=0, pending=wanted) == backend.multilingual.reach()
    assert {} == backend.multilingual.pending(0)


def test_second_vectors_are_kept_apart(backend: Backend) -> None:
    """Vectors of one model are not found by the other, and dropping one kind leaves the other."""
    told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "为什么页面加载这么慢")))
    embed(backend)
    backend.multilingual.adopt(OTHERS)
    backend.multilingual.keep([Vector(key=key, values=meaning("two")) for key in backend.multilingual.pending(9)])
    backend.multilingual.tidy()

    assert [1.0, 1.0] == [round(one.cosine, 2) for one in backend.multilingual.nearest(meaning("two"), condition(), 9)]
    assert 2 == backend.vectors.reach().searchable == backend.multilingual.reach().searchable
    assert Language.CHINESE in {one.language for one in backend.vectors.nearest(meaning("one"), condition(), 9)}

    backend.multilingual.drop()

    assert Reach(searchable=2, pending=0) == backend.vectors.reach()


def test_repeats_lack_nothing(backend: Backend) -> None:
    """A part that only repeats another gets no vector."""
    told(backend, transcript("a", record(1, 1, "one"), queued(9, 2, "one", time=900)))
    backend.vectors.adopt(WORDS)

    assert ["one"] == lacking(backend)


def test_what_is_kept_is_no_longer_lacking(backend: Backend) -> None:
    """Some are asked for at a time, and none twice."""
    filled(backend)

    before = len(lacking(embedding(backend)))
    done = embed(backend, at_once=2)

    assert before == done
    assert {} == backend.vectors.pending(10)
    assert Reach(searchable=done, pending=0) == backend.vectors.reach()


def test_keeping_twice_equals_keeping_once(backend: Backend) -> None:
    """A vector that comes again, in the same call or later, changes nothing, and neither does one of no part."""
    told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "two")))
    vectors = [
        Vector(key=key, values=meaning(one.part.text)) for key, one in embedding(backend).vectors.pending(9).items()
    ]

    backend.vectors.keep([*vectors, *vectors[:1]])
    backend.vectors.keep([*vectors, Vector(key=99_999, values=meaning("three"))])

    assert [uuid(1), uuid(2)] == [one.partition("#")[0] for one in near(backend, "one")]
    assert [1, 1] == [len(pieces) for pieces in backend.vectors.of([vector.key for vector in vectors]).values()]


def test_twins_have_the_same_kind_and_text(backend: Backend) -> None:
    """What another part has whose text and kind are the same is offered, piece by piece, and nothing else is."""
    told(backend, transcript("a", record(1, 1, "again")))
    (first,) = embedding(backend).vectors.pending(9)
    backend.vectors.keep(
        [Vector(key=first, values=meaning("again")), Vector(key=first, piece=1, values=meaning("more"))]
    )
    told(backend, transcript("b", record(2, 1, "again"), record(3, 2, "other"), spoken(4, "again", Kind.TEXT)))
    keys = {(one.part.text, one.part.kind): key for key, one in backend.vectors.pending(9).items()}

    twins = backend.vectors.twins([*keys.values(), 99_999])

    key = keys["again", Kind.PROMPT]
    assert 3 == len(keys)
    assert {key: [(key, 0), (key, 1)]} == {at: [(one.key, one.piece) for one in found] for at, found in twins.items()}
    assert [1.0, 1.0] == [
        pytest.approx(float(one.values @ meaning(text)), abs=ROUNDING)
        for one, text in zip(twins[key], ("again", "more"), strict=True)
    ]


def test_best_piece_counts(backend: Backend) -> None:
    """A part is found once, by its nearest piece and with that piece's feature; limits are of parts."""
    told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "two"), record(3, 3, "three")))
    backend.vectors.adopt(WORDS)
    for key, one in backend.vectors.pending(9).items():
        pieces = [f"{one.part.text} {word}" for word in ("", *VOCABULARY)]
        backend.vectors.keep(
            [Vector(key=key, piece=n, values=meaning(text), feature=1 + n / 8) for n, text in enumerate(pieces)]
        )

    found = backend.vectors.nearest(meaning("two amber"), condition(), 2)

    assert f"{uuid(2)}#0" == ids(backend, found)[0]
    assert 2 == len(found)
    assert pytest.approx(1.0, abs=ROUNDING) == found[0].cosine
    assert 1.125 == found[0].feature
    assert list(range(11)) == [one.piece for one in backend.vectors.of([found[0].key])[found[0].key]]


def test_what_means_nothing_is_near_nothing(backend: Backend) -> None:
    """A part with the zero vector is not found, and not asked for again."""
    told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "…")))
    backend.vectors.adopt(WORDS)
    backend.vectors.keep(
        [
            Vector(key=key, values=meaning("" if one.part.text == "…" else "one"))
            for key, one in backend.vectors.pending(9).items()
        ]
    )

    assert ([f"{uuid(1)}#0"], {}) == (near(backend, "one"), backend.vectors.pending(9))


def test_vectors_are_given_back(backend: Backend) -> None:
    """Each part has the unit vector and the feature that were kept; one without is left out."""
    told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "two"), record(3, 3, "x", kind=Kind.TODO)))
    backend.vectors.adopt(WORDS)
    kept = {key: meaning(one.part.text) for key, one in backend.vectors.pending(9).items()}
    backend.vectors.keep([Vector(key=key, values=values, feature=0.75) for key, values in kept.items()])

    given_back = backend.vectors.of([*kept, *backend.catalog.keys(uuid(3))])

    assert kept.keys() == given_back.keys()
    for key, [vector] in given_back.items():
        assert (key, 0, 0.75) == (vector.key, vector.piece, vector.feature)
        np.testing.assert_allclose(kept[key], vector.values, atol=ROUNDING)


def test_nothing_is_found_where_nothing_was_embedded(backend: Backend) -> None:
    """Without vectors nothing is near, and all is lacking."""
    filled(backend)
    backend.vectors.adopt(WORDS)

    assert ([], {}) == (near(backend, "amber"), backend.vectors.of([1, 2]))
    assert 0 == backend.vectors.reach().searchable


def embedding(backend: Backend) -> Backend:
    """Adopt the words."""
    backend.vectors.adopt(WORDS)
    return backend


def crowd(backend: Backend) -> Backend:
    """Write what `filled` writes and a hundred more parts of all sorts, and embed them."""
    filled(backend)
    chance = random.Random(5)
    for name, session in (("a2", A), ("b2", B), ("c2", C)):
        records = []
        for number in range(40):
            text = " ".join(chance.choices(VOCABULARY, k=4))
            kind = chance.choice([Kind.PROMPT, Kind.TEXT, Kind.THINKING, Kind.TOOL_CALL, Kind.SUMMARY])
            about: dict[str, Any] = {"context": chance.choice([MAIN, OTHER]), "session": session}
            if kind is Kind.TOOL_CALL:
                about |= {"tool": chance.choice(["Bash", "mcp__github__search"]), "call": f"{name}{number}"}
                about["touches"] = [Touch(path=chance.choice(["/src/shop/engine.py", "/src/x.py"]), action="edit")]
            about |= {"is_error": chance.random() < 0.2, "is_sidechain": chance.random() < 0.3}
            about |= {"time": chance.choice([None, chance.randrange(9_000)])}
            make = spoken if chance.random() < 0.5 else said
            line = 1_000 * (ord(name[0]) - 96) + number
            records.append(make(line, text, kind, **about))
        backend.catalog.write(batch(transcript(name, *records)))
    backend.catalog.settle()
    backend.follow()
    embed(backend, at_once=50)
    return backend


def said(number: int, text: str, kind: Kind, **fields: Any) -> Record:
    """Make a record of a person's on the line of its number."""
    return record(number, number, text, kind=kind, **fields)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Backend]:
    """A backend of each kind with the same contents and vectors."""
    kept = LocalBackend(tmp_path_factory.mktemp("vectors") / "index", is_writable=True)
    return crowd(ReferenceBackend()), crowd(kept)


@pytest.mark.parametrize("seed", range(200))
def test_same_parts_for_any_filters(pair: Sequence[Backend], seed: int) -> None:
    """Any filters and periods together, wanted or excluded, leave the same parts near, and all of them."""
    chance = random.Random(seed)
    several = chance.sample([*FILTERS, *PERIODS], chance.randint(1, 4))
    wanted = [msgspec.structs.replace(one, is_excluded=chance.random() < 0.4) for one in several]
    text = " ".join(chance.choices(VOCABULARY, k=3))

    agree(pair, text, *wanted)


@pytest.mark.parametrize("filter", [*FILTERS, *PERIODS], ids=str)
def test_same_parts_for_a_condition(pair: Sequence[Backend], filter: Filter | Period) -> None:
    """Every filter alone finds the same, wanted and excluded, and both together find all."""
    wanted = near(pair[1], "amber", filter)
    excluded = near(pair[1], "amber", msgspec.structs.replace(filter, is_excluded=True))

    agree(pair, "amber", filter)
    assert sorted(near(pair[1], "amber")) == sorted([*wanted, *excluded])


def agree(pair: Sequence[Backend], text: str, *wanted: Filter | Period) -> None:
    """Hold both backends to the same parts with the same cosines, and to the same best ones."""
    told: list[dict[str, object]] = []
    for backend in pair:
        found = backend.vectors.nearest(meaning(text), condition(*wanted), 1_000)
        values = [(one.kind, one.time, one.is_agents, pytest.approx(one.cosine, abs=ROUNDING)) for one in found]
        told.append(dict(zip(ids(backend, found), values, strict=True)))
        assert sorted(found, key=lambda one: -one.cosine) == found
        best = backend.vectors.nearest(meaning(text), condition(*wanted), 5)
        assert [pytest.approx(one.cosine, abs=ROUNDING) for one in found[:5]] == [one.cosine for one in best]

    assert told[0] == told[1]


def state(backend: Backend) -> list[object]:
    """Tell all that is found by meaning."""
    return [sorted(near(backend, "one two", *wanted)) for wanted in ([], *([one] for one in REWRITTEN))]


def kept_up(backend: Backend, order: Sequence[list[Change] | None]) -> None:
    """Write batches and settle, and embed after each."""
    for changes in order:
        if changes is None:
            backend.catalog.settle()
        else:
            backend.catalog.write(batch(*changes))
        backend.follow()
        embed(backend)


@pytest.mark.parametrize("story", STORIES)
def test_rewriting_is_followed(story: str, backend: Backend) -> None:
    """Parts that move, repeat, stand in or go after they were embedded are found as they are now."""
    kept_up(backend, STORIES[story])

    reference = ReferenceBackend()
    for changes in STORIES[story]:
        reference.catalog.settle() if changes is None else reference.catalog.write(batch(*changes))
    embed(reference)
    assert state(reference) == state(backend)


@settings(bounded, max_examples=12)
@given(data=st.data())
def test_however_batches_come_vectors_end_the_same(data: st.DataObject) -> None:
    """Embedding between any batches ends with what embedding at the end does."""
    happenings = frozenset(HAPPENINGS)
    order = data.draw(orders(data.draw(histories(happenings)), is_settled=True))

    with local() as backend:
        kept_up(backend, order)
        kept = state(backend)
        backend.drop_derived()
        backend.follow()
        embed(backend)

        assert state(backend) == kept


def test_forgotten_is_near_nothing(backend: Backend) -> None:
    """What only a forgotten session held is not found, and comes back with a vector if it is read again."""
    filled(backend).follow()
    embed(backend)

    backend.forget([B, C])
    left = set(near(backend, "zinc amber"))
    backend.catalog.settle()
    backend.follow()

    assert {f"{uuid(number)}#0" for number in (6, 7, 8)}.isdisjoint(left)
    assert left == set(near(backend, "zinc amber"))
    told(backend, transcript("c", record(8, 1, "zinc again", session=C), checkpoint=b"9"))
    assert ["zinc again"] == lacking(backend)


def test_kind_that_gets_no_vector_any_more_loses_it(backend: Backend) -> None:
    """A document that is read again takes the vectors of what it no longer says along."""
    told(backend, document("plan", record(20, 1, "delta zinc", kind=Kind.PLAN, session=A))).follow()
    embed(backend)

    told(backend, document("plan", record(21, 1, "other words", kind=Kind.PLAN, session=A), checkpoint=b"2")).follow()

    assert ([], ["other words"]) == (near(backend, "delta"), lacking(backend))


def test_agents_are_told(backend: Backend) -> None:
    """What an agent said is known to be an agent's."""
    told(backend, agent("x77", record(4, 1, "coral", kind=Kind.TEXT, agent="x77", is_sidechain=True)))
    embed(backend)

    [found] = backend.vectors.nearest(meaning("coral"), condition(wants("agent", "x7")), 9)

    assert (True, Kind.TEXT, 4_000) == (found.is_agents, found.kind, found.time)


def test_another_model_begins_anew(backend: Backend) -> None:
    """Vectors of another model lack for every part, and replace the others when they are complete."""
    filled(backend)
    done = embed(backend)

    backend.vectors.adopt(OTHERS)
    before = backend.vectors.reach()

    assert Reach(searchable=0, pending=done) == before
    assert done == embed(backend, OTHERS)
    assert DIMENSION == len(
        backend.vectors.of(list(backend.catalog.keys(uuid(1))))[backend.catalog.keys(uuid(1))[0]][0].values
    )
