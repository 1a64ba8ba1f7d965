"""An id means the same to everybody who asks: the command, HTTP, agents and the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.conversation import lookup
from searchkit.errors import NotFound, UsageError
from tests.support.transcript import Home

SESSION = "abc11111-1111-4111-8111-111111111111"
OTHER = "abc22222-1111-4111-8111-111111111111"
# Claude Code names no session so, but a file may have any name.
SHORT = "f"
MESSAGE = "f0000000-1111-4111-8111-111111111111"


@pytest.fixture
def engine(home: Home, tmp_path: Path) -> Iterator[Engine]:
    """Three sessions, of which one has the id that a message of another begins with."""
    home.session(SESSION).prompt("find the slow query", uuid=MESSAGE)
    home.session(OTHER).prompt("find the other one")
    home.session(SHORT).prompt("find nothing")
    with Engine(tmp_path / "index", [home.root]) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("asked", "session"),
    [
        (SESSION, SESSION),
        ("abc1", SESSION),
        ("ABC2", OTHER),
        (MESSAGE, SESSION),
        (f"{MESSAGE}#0", SESSION),
        (MESSAGE[:5], SESSION),
        (SHORT, SHORT),
    ],
)
def test_session_is_meant(engine: Engine, asked: str, session: str) -> None:
    """An id means its session, as do its beginning, a message and a part; a whole id comes before beginnings."""
    assert session == engine.session_meant(asked).id


@pytest.mark.parametrize(("asked", "message"), [(MESSAGE, MESSAGE), ("f000", MESSAGE), (SESSION, MESSAGE)])
def test_message_is_meant(engine: Engine, asked: str, message: str) -> None:
    """An id or its beginning means a message, and that of a session what was said first in it."""
    assert message == engine.ask(lambda backend: lookup.message(backend.catalog, asked, ""))


def test_whole_id_of_a_session_is_no_beginning_of_a_message(engine: Engine) -> None:
    """Where a message's id begins with the whole id of a session, the session is meant."""
    assert MESSAGE != engine.ask(lambda backend: lookup.message(backend.catalog, SHORT, ""))


def test_several_are_listed_as_who_asks_wants_it(engine: Engine) -> None:
    """A beginning of several ids is refused, with the sessions told by whoever asks."""
    with pytest.raises(UsageError, match="several sessions have an id that begins with 'abc'") as told:
        engine.session_meant("abc", listed=lambda several: f"{len(several)} of them")
    with pytest.raises(UsageError) as named:
        engine.session_meant("abc")

    assert "2 of them" == told.value.hint
    assert SESSION in named.value.hint
    assert OTHER in named.value.hint


@pytest.mark.parametrize("asked", ["9999", "abc3", "9\u202e9", "9" * 1_000])
def test_nothing_is_meant(engine: Engine, asked: str) -> None:
    """What nothing begins with is not found, with the hint of who asks, and little of it is repeated."""
    with pytest.raises(NotFound) as refused:
        engine.session_meant(asked, "look elsewhere")

    assert "look elsewhere" == refused.value.hint
    assert "\u202e" not in refused.value.message
    assert len(refused.value.message) < 150


@pytest.mark.parametrize("asked", ["", " ", "#", "#0"])
def test_nothing_is_no_id(engine: Engine, asked: str) -> None:
    """Everything begins with nothing, which is no reason to take any of it."""
    with pytest.raises(UsageError, match="no id was given"):
        engine.session_meant(asked)
