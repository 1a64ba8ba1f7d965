"""What each address answers: what the command of that name prints with --json."""

from datetime import datetime

from searchkit.backends.base import Order
from searchkit.commands.asking import by_title
from searchkit.dates import LOCAL
from searchkit.engine import Engine
from searchkit.errors import NotFound, TooFewTokens, UsageError
from searchkit.query import understand
from searchkit.questions import Condition, Filter, Mode, Query
from searchkit.render import answer_json, context_json, conversation_json, json, outline_json
from searchkit.render import stats as drawing
from searchkit.render.plain import one_line
from searchkit.resident.parameters import Given
from searchkit.types import Figures, Grouping, Session

Fields = dict[str, object]

# Sessions that are named where a beginning could mean several.
MOST_MEANT = 10
# More than any conversation has.
MOST_TURNS = 100_000


def search(engine: Engine, given: Given, id: str) -> Fields:
    """Find messages."""
    query = _asked(given)
    mode = Mode(given.choice("mode"))
    found = engine.search(
        query,
        given.number("limit"),
        order=Order(given.choice("sort")),
        is_grouped=given.text("group") == "session",
        turns=given.number("thread"),
        facets=_names(given),
        mode=mode,
    )
    return answer_json.answer(found, mode.value, given.flag("full"))


def message(engine: Engine, given: Given, id: str) -> Fields:
    """Show a message inside its conversation."""
    uuid = _message(engine, id)
    is_full = given.flag("full")
    found = engine.show(uuid, given.number("before"), given.number("after"), is_full, given.flag("agents"))
    return conversation_json.fields(found, is_full)


def thread(engine: Engine, given: Given, id: str) -> Fields:
    """Show the whole conversation that a message is in."""
    uuid = _message(engine, id)
    is_full = given.flag("full")
    return conversation_json.fields(engine.show(uuid, MOST_TURNS, MOST_TURNS, is_full), is_full)


def sessions(engine: Engine, given: Given, id: str) -> Fields:
    """List sessions, newest first, and say how many there are."""
    everything = engine.sessions(by_title(_understood(given)))
    begin = given.number("offset")
    return {**json.sessions(everything[begin : begin + given.number("limit")]), "total": len(everything)}


def session(engine: Engine, given: Given, id: str) -> Fields:
    """Show a session turn by turn, with its branches and agents."""
    return outline_json.fields(engine.outline(_meant(engine, id).id), given.flag("full"))


def tree(engine: Engine, given: Given, id: str) -> Fields:
    """Show the turns of a session, the ways that were left, compactions and agents."""
    return outline_json.fields(engine.outline(_meant(engine, id).id), is_full=False)


def context(engine: Engine, given: Given, id: str) -> Fields:
    """Pack what another agent should know."""
    without = given.several("exclude_session")
    most, limit = given.number("max_tokens"), given.number("limit")
    try:
        return context_json.pack(engine.context(_asked(given), most, limit=limit, without=without))
    except TooFewTokens as refused:
        raise UsageError(refused.message, f"give max_tokens={refused.least} or more") from refused


def facets(engine: Engine, given: Given, id: str) -> Fields:
    """Count all matches by some of their values."""
    names = _names(given)
    if not names:
        raise UsageError("there is nothing to count by", "give facets=project,tool,kind,month")
    found = engine.search(_asked(given), 1, turns=0, facets=names, mode=Mode.KEYWORD)
    counted = {name: dict(counts) for name, counts in found.facets.items()}
    return {"total": found.total, "respelled": dict(found.respelled), "facets": counted}


def stats(engine: Engine, given: Given, id: str) -> Fields:
    """Give figures about one's own history."""
    by = given.text("by")
    wanted = (Grouping(by),) if by else drawing.OVERVIEW
    found = engine.figures(by_title(_understood(given)), (Grouping.TOTAL, *wanted))
    total = found[Grouping.TOTAL].get("", Figures())
    return json.stats(total, {one: drawing.ordered(found[one], one) for one in wanted})


def status(engine: Engine, given: Given, id: str) -> Fields:
    """Say what is indexed and how far."""
    return json.status(engine.status())


def _understood(given: Given) -> Query:
    return understand(given.text("q") or "", now=datetime.now(LOCAL), filters=given.filters)


def _asked(given: Given) -> Query:
    if not (given.text("q") or "").strip() and not given.filters:
        raise UsageError("there is nothing to search for", "give words as q, or a filter such as kind=plan")
    return _understood(given)


def _names(given: Given) -> list[str]:
    return [name.strip() for name in (given.text("facets") or "").split(",") if name.strip()]


def _message(engine: Engine, id: str) -> str:
    """Return the id of a message, or of a part of it, where there is one that begins so."""
    uuid = id.partition("#")[0]
    _must_say(uuid)
    if not engine.messages(uuid):
        raise NotFound(f"no message has an id that begins with {one_line(uuid)!r}", "/v1/search shows ids")
    return uuid


def _meant(engine: Engine, id: str) -> Session:
    """Find the session that an id or its beginning means."""
    _must_say(id)
    named = engine.named([id])
    if id in named:
        return named[id]
    condition = Condition(filters=(Filter(name="session", values=(id,)),))
    found = engine.sessions(condition, MOST_MEANT + 1)
    if not found:
        raise NotFound(f"no session has an id that begins with {one_line(id)!r}", "/v1/sessions lists them")
    if len(found) > 1:
        hint = f"give more of one: {', '.join(session.id for session in found[:MOST_MEANT])}"
        raise UsageError(f"several sessions have an id that begins with {one_line(id)!r}", hint)
    return found[0]


def _must_say(id: str) -> None:
    if not id.strip():
        raise UsageError("no id was given", "everything begins with nothing")
