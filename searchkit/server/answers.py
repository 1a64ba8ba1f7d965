"""What each address answers: what the command of that name prints with --json."""

from searchkit.backends.base import Order
from searchkit.cli.query_options import by_title
from searchkit.conversation.lookup import must_say
from searchkit.engine import Engine
from searchkit.errors import NotFound, TooFewTokens, UsageError
from searchkit.query.parse import understand
from searchkit.query.types import Mode, Query
from searchkit.render import answer_json, context_json, conversation_json, json, outline_json
from searchkit.render import stats as drawing
from searchkit.server.parameters import Given
from searchkit.text.sanitize import one_line
from searchkit.types import Figures, Grouping

Fields = dict[str, object]

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
    is_full = given.flag("full")
    return outline_json.fields(engine.outline(_session(engine, id), is_full), is_full)


def tree(engine: Engine, given: Given, id: str) -> Fields:
    """Show the turns of a session, the ways that were left, compactions and agents."""
    return outline_json.fields(engine.outline(_session(engine, id)), is_full=False)


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
    return understand(given.text("q") or "", filters=given.filters)


def _asked(given: Given) -> Query:
    if not (given.text("q") or "").strip() and not given.filters:
        raise UsageError("there is nothing to search for", "give words as q, or a filter such as kind=plan")
    return _understood(given)


def _names(given: Given) -> list[str]:
    return [name.strip() for name in (given.text("facets") or "").split(",") if name.strip()]


def _message(engine: Engine, id: str) -> str:
    """Return the id of a message, or of a part of it, where there is one that begins so."""
    uuid = id.partition("#")[0]
    hint = "/v1/search shows ids"
    must_say(uuid, hint)
    if not engine.messages(uuid):
        raise NotFound(f"no message has an id that begins with {one_line(uuid)!r}", hint)
    return uuid


def _session(engine: Engine, id: str) -> str:
    """Return the id of the session that is meant."""
    return engine.session_meant(id, "/v1/sessions lists them").id
