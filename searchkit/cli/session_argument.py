"""Which session is meant by what was typed."""

from collections.abc import Sequence

from searchkit.cli.last_results import is_number, recall
from searchkit.conversation import lookup
from searchkit.engine import Engine
from searchkit.errors import NotFound, UsageError
from searchkit.text.format import day
from searchkit.text.sanitize import one_line
from searchkit.types import Session


def meant(engine: Engine, asked: str) -> Session:
    """Find the session that an id, its beginning or the number of a result means, or say which could be.

    A message means its session.
    """
    hint = "searchkit sessions lists them"
    if is_number(asked):
        remembered = recall(engine.settings.index, int(asked)).session
        if not remembered:
            raise UsageError("that result belongs to no session", hint)
        asked = remembered
    try:
        return engine.session_meant(asked, hint, listed)
    except NotFound as error:
        # What programs were always told; only over HTTP it makes a difference.
        raise UsageError(error.message, error.hint) from error


def must_say(asked: str) -> None:
    """Refuse an id that says nothing: everything begins with it."""
    lookup.must_say(asked, "searchkit search shows ids, and searchkit sessions lists sessions")


def listed(found: Sequence[Session]) -> str:
    """List the sessions that could be meant, below each other."""
    told = [
        f"{one_line(one.id)}  {day(one.ended)}  {one_line(one.title or '')[:60]}" for one in found[: lookup.MOST_MEANT]
    ]
    more = ["and more"] if len(found) > lookup.MOST_MEANT else []
    return "\n  ".join(told + more)
