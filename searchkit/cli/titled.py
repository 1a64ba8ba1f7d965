"""Which session is meant where nothing is done to it: then words of its title will do."""

from searchkit.cli.last_results import is_number
from searchkit.cli.session_argument import listed, meant, must_say
from searchkit.conversation.lookup import MOST_MEANT
from searchkit.engine import Engine
from searchkit.errors import UsageError
from searchkit.query.types import Condition, Filter
from searchkit.text.sanitize import one_line
from searchkit.types import Session


def titled(engine: Engine, asked: str) -> Session:
    """Find the session that is meant by an id or a number, or else by words of its title."""
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
    return engine.sessions(Condition(filters=(Filter(name=name, values=(asked,)),)), MOST_MEANT + 1)
