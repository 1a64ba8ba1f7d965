"""A row in the table of filters is all that a filter over a fact or a field of the context needs, in every backend."""

from collections.abc import Sequence

import pytest

from searchkit.backends.base import Backend
from searchkit.backends.local.backend import LocalBackend
from searchkit.query import filters
from searchkit.query.filters import FilterSpec, Level, Value, unknown
from searchkit.query.types import Condition
from searchkit.types import Context
from tests.contract.small import A, B, C, fact, ids, record, told, transcript
from tests.contract.test_finding import asked, found
from tests.contract.test_sessions import refuses, wants
from tests.reference import ReferenceBackend

ROWS = (
    FilterSpec(name="price", help="What it cost.", value=Value.NUMBER, level=Level.SESSION, fact="price", many=True),
    FilterSpec(name="agent-app", help="The program.", level=Level.SESSION, fact="agent-app", is_facet=True),
    FilterSpec(name="version", help="The version.", fact="version", context="version", is_facet=True),
)


@pytest.fixture
def pair(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Sequence[Backend]:
    """A backend of each kind with three sessions, after rows were added to the table."""
    for row in ROWS:
        monkeypatch.setitem(filters.BY_NAME, row.name, row)
    monkeypatch.setattr("searchkit.backends.local.words.search.FACETS", (*filters.FACETS, "agent-app", "version"))
    kept = LocalBackend(tmp_path_factory.mktemp("row") / "index", is_writable=True)
    several: list[Backend] = [kept, ReferenceBackend()]
    of_a, of_b = Context(version="1.2"), Context(version="2.0")
    for backend in several:
        told(
            backend,
            transcript(
                "a",
                record(1, 1, "amber", context=of_a),
                facts=[fact("price", "0.5"), fact("agent-app", "codex"), fact("version", "1.2")],
            ),
            transcript(
                "b",
                record(2, 1, "amber basalt", session=B, context=of_b),
                facts=[fact(name, value, session=B) for name, value in (("price", "1.5"), ("version", "2.0"))],
            ),
            transcript("c", record(3, 1, "amber coral", session=C)),
        )
    kept.follow()
    return several


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("price", ">1", [B]),
        ("price", ">=0.5", [A, B]),
        ("price", "<1", [A]),
        ("price", "0.5", [A]),
        ("price", "1..2", [B]),
        ("price", ">9", []),
        ("agent-app", "CODEX", [A]),
        ("version", "2", [A, B]),
        ("version", "2.0", [B]),
    ],
)
def test_row_is_enough(pair: Sequence[Backend], name: str, value: str, expected: list[str]) -> None:
    """Sessions and parts are found and excluded by it, the same in every backend."""
    for backend in pair:
        answers = [backend.words.search(asked("amber", one(name, value)), 9).hits for one in (wants, refuses)]
        parts = [backend.catalog.stored([hit.key for hit in hits]) for hits in answers]
        homes = [sorted(str(stored.link.places[0].session) for stored in several if stored) for several in parts]

        assert expected == sorted(ids(backend, wants(name, value)))
        assert [expected, sorted({A, B, C} - set(expected))] == homes


def test_facets_count_it(pair: Sequence[Backend]) -> None:
    """Parts are counted by the session's last value, or by that of their own context."""
    for backend in pair:
        assert {"codex": 1} == backend.words.facets(asked("amber"), "agent-app")
        assert {"1.2": 1, "2.0": 1} == backend.words.facets(asked("amber"), "version")


def test_values_are_listed(pair: Sequence[Backend]) -> None:
    """What there is of it can be completed; of a number that nothing has, none is suggested."""
    for backend in pair:
        (missing,) = unknown(Condition(filters=(wants("price", ">9"),)), backend.catalog.values)

        assert ["0.5", "1.5"] == sorted(backend.catalog.values("price"))
        assert ["codex"] == backend.catalog.values("agent-app")
        assert [] == list(missing.nearest)
        assert [] == found(backend, asked("amber", wants("price", ">9")))
