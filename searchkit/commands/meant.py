"""Which session is meant by what was typed."""

from searchkit.commands.last import is_number, recall
from searchkit.engine import Engine
from searchkit.errors import UsageError
from searchkit.questions import Condition, Filter
from searchkit.render.plain import day, one_line
from searchkit.types import Session

# Sessions that are listed where a beginning of an id could mean several.
MOST_CANDIDATES = 10


def meant(engine: Engine, asked: str) -> Session:
    """Find the session that an id, its beginning or the number of a result means, or say which could be.

    A message means its session.
    """
    # What a search shows is the id of a part: its message, a hash, and its number.
    asked = asked.partition("#")[0]
    must_say(asked)
    if is_number(asked):
        asked = _known(recall(engine.settings.index, int(asked)).session, "result")
    named = engine.named([asked])
    if asked in named:
        return named[asked]
    condition = Condition(filters=(Filter(name="session", values=(asked,)),))
    found = engine.sessions(condition, MOST_CANDIDATES + 1)
    if len(found) == 1:
        return found[0]
    if not found and engine.messages(asked):
        return meant(engine, _known(engine.session_of(asked), "message"))
    if not found:
        raise UsageError(f"no session has an id that begins with {one_line(asked)!r}", "searchkit sessions lists them")
    raise UsageError(f"several sessions have an id that begins with {one_line(asked)!r}", listed(found))


def must_say(asked: str) -> None:
    """Refuse an id that says nothing: everything begins with it."""
    if not asked.strip():
        raise UsageError("no id was given", "searchkit search shows ids, and searchkit sessions lists sessions")


def listed(found: list[Session]) -> str:
    """List the sessions that could be meant, below each other."""
    told = [f"{one.id}  {day(one.ended)}  {one_line(one.title or '')[:60]}" for one in found[:MOST_CANDIDATES]]
    more = ["and more"] if len(found) > MOST_CANDIDATES else []
    return "\n  ".join(told + more)


def _known(session: str | None, what: str) -> str:
    if not session:
        raise UsageError(f"that {what} belongs to no session", "searchkit sessions lists those there are")
    return session
