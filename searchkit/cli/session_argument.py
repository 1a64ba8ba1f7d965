"""Which session or message an argument names: an id, the number of a result, or words of a title."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import get_ident

import msgspec

from searchkit.engine import Engine
from searchkit.errors import NotFound, NotPrivate, UsageError
from searchkit.query.types import Condition, Filter
from searchkit.search.types import Result
from searchkit.system.files import read_private, write_private
from searchkit.system.paths import LAST_SEARCH
from searchkit.text.format import day
from searchkit.text.sanitize import one_line
from searchkit.types import Session

# A search shows no more results than this; whatever is longer, or no number, is an id.
MOST_RESULTS = 1_000


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """Where a result was: the session, if it was in one, and the record."""

    session: str | None
    uuid: str


def remember(index: Path, results: Sequence[Result]) -> None:
    """Keep where the results of a search were, for their owner only; that this fails is nobody's concern."""
    found = [
        Remembered(session=result.best.stored.link.places[0].session, uuid=result.best.stored.part.uuid)
        for result in results
    ]
    # Searches may run side by side; each writes a file of its own and puts it into place.
    own = index / f"{os.getpid()}-{get_ident()}-{LAST_SEARCH}"
    with suppress(OSError, NotPrivate):
        try:
            write_private(own, msgspec.json.encode(found))
            own.replace(index / LAST_SEARCH)
        finally:
            own.unlink(missing_ok=True)


def recall(index: Path, number: int) -> Remembered:
    """Return where a result of the last search was, counted from 1."""
    hint = "give an id, or search again and take a number from there"
    try:
        found = msgspec.json.decode(read_private(index / LAST_SEARCH), type=list[Remembered])
    except FileNotFoundError:
        raise UsageError(f"there was no search yet whose result {number} could be meant", hint) from None
    except (OSError, msgspec.MsgspecError) as error:
        raise UsageError(f"cannot read the results of the last search: {error}", hint) from error
    if not 1 <= number <= len(found):
        raise UsageError(f"the last search had no result {number}: it found {len(found)}", hint)
    return found[number - 1]


def is_number(text: str) -> bool:
    """Say whether a text is the number of a result rather than the beginning of an id."""
    return text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_RESULTS)) and int(text) <= MOST_RESULTS


# Which session an argument names.


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
    from searchkit.conversation import lookup

    lookup.must_say(asked, "searchkit search shows ids, and searchkit sessions lists sessions")


def listed(found: Sequence[Session]) -> str:
    """List the sessions that could be meant, below each other."""
    # A search only remembers its results.
    from searchkit.conversation.lookup import MOST_MEANT

    told = [f"{one_line(one.id)}  {day(one.ended)}  {one_line(one.title or '')[:60]}" for one in found[:MOST_MEANT]]
    more = ["and more"] if len(found) > MOST_MEANT else []
    return "\n  ".join(told + more)


# Which session is meant where nothing is done to it: then words of its title will do.


def titled(engine: Engine, asked: str) -> Session:
    """Find the session that an id, a number or words of its title name."""
    uuid, _, part = asked.partition("#")
    asked = uuid if part.isdecimal() else asked
    must_say(asked)
    if is_number(asked) or _found(engine, "session", asked) or engine.messages(asked):
        return meant(engine, asked)
    found = _found(engine, "title", asked)
    if not found:
        message = f"nothing has an id that begins with {one_line(asked)!r}, and no session such a title"
        raise UsageError(message, "searchkit search shows ids, and searchkit sessions lists sessions")
    if len(found) > 1:
        raise UsageError(f"several sessions have a title with {one_line(asked)!r}", listed(found))
    return found[0]


def _found(engine: Engine, name: str, asked: str) -> list[Session]:
    from searchkit.conversation.lookup import MOST_MEANT

    return engine.sessions(Condition(filters=(Filter(name=name, values=(asked,)),)), MOST_MEANT + 1)
