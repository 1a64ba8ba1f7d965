"""The results of the last search that a person saw, so that other commands can be given their numbers."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import get_ident

import msgspec

from searchkit.backends.local.layout import LAST_SEARCH
from searchkit.errors import NotPrivate, UsageError
from searchkit.search.types import Result
from searchkit.system.files import read_private, write_private

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
