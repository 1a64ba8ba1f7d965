"""What the query line completes, and how facets write into it."""

import asyncio
from collections.abc import Sequence

import pytest

from searchkit.tui.query_line import Completer, has, toggled


async def _values(name: str) -> Sequence[str]:
    return {"project": ["/home/mira/src/shop", "/srv/two words", "/srv/bad\nname", "/srv/shop"]}.get(name, ())


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("slow pro", ["slow project:"]),
        ("slow -pro", ["slow -project:"]),
        ("la", ["language:", "lang:"]),
        ("project:", ["project:shop", 'project:"two words"']),
        ("project:sh", ["project:shop"]),
        ('x project:"tw', ['x project:"two words"']),
        ("kind:pro", ["kind:prompt"]),
        ("lang:", []),
        ("after:7", ["after:7d"]),
        ("p", []),
        ("slow ", []),
        ("https:sh", []),
    ],
)
def test_filters_and_their_values_are_offered(typed: str, offered: list[str]) -> None:
    """The line is offered as it would be; what could not be typed, such as a value with a line end, is not."""
    assert offered == asyncio.run(Completer(_values).offers(typed))


@pytest.mark.parametrize(
    ("typed", "name", "value", "expected"),
    [
        ("slow", "project", "shop", "slow project:shop"),
        ("slow project:shop more", "project", "shop", "slow more"),
        ("", "branch", "a b", 'branch:"a b"'),
        ('branch:"a b" x', "branch", "a b", "x"),
        ('"two words" x', "tool", "Bash", '"two words" x tool:Bash'),
        ("-project:shop", "project", "shop", "-project:shop project:shop"),
    ],
)
def test_facet_is_added_and_taken_away(typed: str, name: str, value: str, expected: str) -> None:
    """A filter is added once at the end, or taken out where it stands; phrases stay whole."""
    assert expected == toggled(typed, name, value)
    assert has(typed, name, value) != has(expected, name, value)
