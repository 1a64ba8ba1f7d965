"""Which message or session is meant by an id, by the beginning of one, or by the id of something in it."""

from collections.abc import Callable, Sequence

from searchkit.backends.base import Catalog
from searchkit.errors import NotFound, UsageError
from searchkit.query.types import Condition, Filter
from searchkit.text.sanitize import one_line
from searchkit.types import Session, Standing

# Messages or sessions that are listed where a beginning could mean several.
MOST_MEANT = 10
# As much of what was asked for is repeated in an error.
MOST_CHARACTERS = 80

List = Callable[[Sequence[Session]], str]


def message(catalog: Catalog, asked: str, hint: str) -> str:
    """Find the message that an id or its beginning means, or say which could be; `hint` is for where there is none.

    A session, or a title, means the first thing that was said in it.
    """
    must_say(asked, hint)
    meant = catalog.beginning(asked, MOST_MEANT + 1)
    if asked in meant:
        meant = [asked]
    elif opening := catalog.opening(asked):
        meant = opening
    if not meant:
        raise NotFound(f"no message has an id that begins with {_shown(asked)!r}", hint)
    if len(meant) > 1:
        more = " ..." if len(meant) > MOST_MEANT else ""
        listed = "\n  ".join(map(one_line, meant[:MOST_MEANT])) + more
        raise UsageError(f"several messages have an id that begins with {_shown(asked)!r}", listed)
    link = catalog.links(meant)[meant[0]]
    if link.standing is Standing.STATE:
        # A title leads nowhere: the conversation it is the title of begins elsewhere.
        return next(iter(catalog.opening(link.places[0].session or "")), meant[0])
    return meant[0]


def named(several: Sequence[Session]) -> str:
    """List sessions that could be meant by their ids."""
    return f"give more of one: {', '.join(one_line(session.id) for session in several)}"


def session(catalog: Catalog, asked: str, hint: str, listed: List = named) -> Session:
    """Find the session that an id or its beginning means, or say which could be; `hint` is for where there is none.

    A message, or a part of one, means its session.
    """
    must_say(asked, hint)
    exact = catalog.named([asked])
    if asked in exact:
        return exact[asked]
    # What a search shows is the id of a part: its message, a hash, and its number.
    beginning = asked.partition("#")[0]
    must_say(beginning, hint)
    found = catalog.sessions(Condition(filters=(Filter(name="session", values=(beginning,)),)), MOST_MEANT + 1)
    if len(found) > 1:
        message = f"several sessions have an id that begins with {_shown(beginning)!r}"
        raise UsageError(message, listed(found))
    return found[0] if found else _of_message(catalog, beginning, hint)


def must_say(asked: str, hint: str) -> None:
    """Refuse an id that says nothing: everything begins with it."""
    if not asked.strip():
        raise UsageError("no id was given", hint)


def _of_message(catalog: Catalog, asked: str, hint: str) -> Session:
    if not catalog.beginning(asked, 1):
        raise NotFound(f"nothing has an id that begins with {_shown(asked)!r}", hint)
    uuid = message(catalog, asked, hint)
    home = catalog.links([uuid])[uuid].places[0].session
    if not home:
        raise UsageError("that message belongs to no session", hint)
    return catalog.named([home])[home]


def _shown(asked: str) -> str:
    written = one_line(asked)
    return written if len(written) <= MOST_CHARACTERS else f"{written[: MOST_CHARACTERS - 1]}…"
