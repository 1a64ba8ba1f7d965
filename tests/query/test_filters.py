"""The table of filters: what is made from it, and filters of numbers."""

import re
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from searchkit.cli.main import cli
from searchkit.query import filters
from searchkit.query.filters import FILTERS, Completion, FilterSpec, Value, holds
from searchkit.query.parse import filters as written
from searchkit.server.routes import ENDPOINTS
from searchkit.web.endpoints import parameters

NOW = datetime(2026, 4, 15, 14, 30, tzinfo=UTC)
PAGE = Path(__file__).parent.parent.parent / "docs" / "query-language.md"


def test_names_are_unique() -> None:
    """No filter, alias or name of another tool means two filters, and each can be the name of an option."""
    names = [name for spec in FILTERS for name in (spec.name, *spec.aliases, *spec.foreign_names)]

    assert len(names) == len(set(names))
    assert [] == [name for name in names if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name)]


@pytest.mark.parametrize("command", ["search", "sessions", "stats", "context"])
def test_every_filter_is_an_option(command: str) -> None:
    """Commands that take filters take them all, with the help of the table."""
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    options = {name: one.help for one in found.params if isinstance(one, click.Option) for name in one.opts}

    assert {f"--{spec.name}": spec.help for spec in FILTERS}.items() <= options.items()


@pytest.mark.parametrize("path", ["/v1/search", "/v1/sessions", "/v1/context", "/v1/facets", "/v1/stats"])
def test_every_filter_is_a_parameter(path: str) -> None:
    """Addresses that take filters take them all, any number of times."""
    (endpoint,) = (one for one in ENDPOINTS if one.path == path)
    repeated = {one.name: one.description for one in parameters(endpoint.parameters) if one.is_repeated}

    assert {spec.name: spec.help for spec in FILTERS}.items() <= repeated.items()


def test_every_filter_is_documented() -> None:
    """The page of the query language has the table as it is."""
    rows = re.findall(r"^\| (`[a-z-]+:`.*) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert [(_called(spec), _explained(spec)) for spec in FILTERS] == rows


def _called(spec: FilterSpec) -> str:
    aliases = ", ".join(f"`{alias}:`" for alias in spec.aliases)
    return f"`{spec.name}:` ({aliases})" if aliases else f"`{spec.name}:`"


def _explained(spec: FilterSpec) -> str:
    values = ", ".join(f"`{value}`" for value in dict.fromkeys(spec.choices.values()))
    return values if spec.completion is Completion.CHOICES else spec.help


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"project": "shop", "limit": 5, "kind": ["prompt", "text"]}, "project:shop kind:prompt kind:text"),
        ({"project": " ", "file": "", "tool": None, "kind": []}, ""),
    ],
)
def test_filters_are_found_among_arguments(arguments: dict[str, object], expected: str) -> None:
    """Blank ones are none, a list has several, and other arguments are not looked at."""
    assert expected == " ".join(f"{name}:{value}" for name, value in filters.among(arguments))


PRICE = FilterSpec(name="price", help="What it cost.", value=Value.NUMBER)


@pytest.mark.parametrize(
    ("typed", "number", "is_so"),
    [
        (">1", "1.5", True), (">1", "1", False), (">=1", "1.0", True), ("<0.5", ".25", True), ("<=2", "2.1", False),
        ("=3", "3.00", True), ("3", "3", True), ("1..2", "2", True), ("1..2", "2.5", False), (">1", "much", False),
    ],
)  # fmt: skip
def test_numbers_are_compared(monkeypatch: pytest.MonkeyPatch, typed: str, number: str, is_so: bool) -> None:
    """A filter of numbers takes a comparison, and what is no number is in none."""
    monkeypatch.setitem(filters.BY_NAME, "price", PRICE)

    given = filters.read("price", typed, NOW)

    assert given is not None
    assert is_so == holds("price", number, given.values[0])


@pytest.mark.parametrize("typed", ["much", ">", "1..", "> one", "--1"])
def test_what_is_no_comparison_is_refused(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """Nothing comes of it, and the reason shows what could be typed."""
    monkeypatch.setitem(filters.BY_NAME, "price", PRICE)

    assert filters.read("price", typed, NOW) is None
    assert ">1" in filters.refusal("price")


def test_all_comparisons_must_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bounds make a span, unlike two names, of which any will do; JSON names both."""
    monkeypatch.setitem(filters.BY_NAME, "price", PRICE)
    given = [filters.read("price", typed, NOW) for typed in (">1", "<2", ">1")]

    condition = filters.combine(one for one in given if one)

    assert [(">1",), ("<2",)] == [one.values for one in condition.filters]
    assert {"price": [">1", "<2"]} == written(condition)
