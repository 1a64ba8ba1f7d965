"""The table of endpoints: what each takes, and its answer, which is what the command prints with --json."""

from typing import Annotated

import msgspec
from msgspec import Meta

from searchkit.backends.base import Order
from searchkit.cli.options import by_title
from searchkit.config import DEFAULT_TOKENS
from searchkit.conversation.lookup import must_say
from searchkit.engine import Engine
from searchkit.errors import NotFound, TooFewTokens, UsageError
from searchkit.query.filters import BY_NAME, NAMES, full_name
from searchkit.query.parse import understand
from searchkit.query.types import Group, Mode, Query
from searchkit.render import stats as drawing
from searchkit.render.wire import context as packs
from searchkit.render.wire import conversation as conversations
from searchkit.render.wire import health
from searchkit.render.wire import search as searches
from searchkit.render.wire import sessions as listings
from searchkit.search.types import SearchOptions
from searchkit.text.sanitize import one_line
from searchkit.types import Figures, Grouping
from searchkit.web.endpoints import MAX_NUMBER, Endpoint, Filtered, Full, Number, Parameters

# More than any conversation has.
MAX_TURNS = 100_000

FacetNames = Annotated[str, Meta(description="Count all matches by these, with commas: project,tool,kind,month, ...")]


class Search(Filtered, frozen=True, kw_only=True):
    """What `/v1/search` takes."""

    mode: Annotated[Mode, Meta(description="Ask for words, for meaning, or for both.")] = Mode.HYBRID
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many results.")] = 10
    thread: Annotated[int, Meta(ge=0, le=50, description="Turns around a hit.")] = 1
    group: Annotated[Group, Meta(description="One result a session, or every hit.")] = Group.SESSION
    facets: FacetNames = ""
    sort: Annotated[Order, Meta(description="What comes first.")] = Order.RELEVANCE
    full: Full = False


class Whole(Parameters, frozen=True, kw_only=True):
    """What an address takes that may give whole texts."""

    full: Full = False


class Message(Parameters, frozen=True, kw_only=True):
    """What `/v1/messages` takes."""

    before: Annotated[int, Meta(ge=0, le=100_000, description="Turns before it.")] = 1
    after: Annotated[int, Meta(ge=0, le=100_000, description="Turns after it.")] = 1
    full: Full = False
    agents: Annotated[bool, Meta(description="Show what agents did.")] = False


class Sessions(Filtered, frozen=True, kw_only=True):
    """What `/v1/sessions` takes."""

    limit: Annotated[int, Meta(ge=1, le=MAX_NUMBER, description="How many sessions.")] = 20
    offset: Annotated[Number, Meta(description="How many to pass over.")] = 0


class Context(Filtered, frozen=True, kw_only=True):
    """What `/v1/context` takes."""

    max_tokens: Annotated[
        int, Meta(ge=1, le=MAX_NUMBER, description="How many tokens it may take as Markdown, all included.")
    ] = DEFAULT_TOKENS
    limit: Annotated[int, Meta(ge=1, le=100, description="How many sessions.")] = 30
    exclude_session: Annotated[
        list[str], Meta(description="Leave out this session: its id, or the beginning of it.")
    ] = msgspec.field(default_factory=list)


class Facets(Filtered, frozen=True, kw_only=True):
    """What `/v1/facets` takes."""

    facets: FacetNames = ""


class Stats(Filtered, frozen=True, kw_only=True):
    """What `/v1/stats` takes."""

    by: Annotated[
        str | None,
        Meta(
            description="Group by this, instead of an overview.",
            extra_json_schema={"enum": [by.value for by in Grouping if by is not Grouping.TOTAL]},
        ),
    ] = None


def search(engine: Engine, given: Search, id: str) -> searches.Answer:
    """Find messages."""
    options = SearchOptions(
        query=_question(given),
        mode=given.mode,
        limit=given.limit,
        group=given.group,
        sort=given.sort,
        thread=given.thread,
        facets=tuple(_names(given.facets)),
    )
    return searches.answer(engine.answer(options), given.mode.value, given.full)


def message(engine: Engine, given: Message, id: str) -> conversations.Conversation:
    """Show a message inside its conversation."""
    found = engine.show(_message(engine, id), given.before, given.after, given.full, given.agents)
    return conversations.conversation(found, given.full)


def thread(engine: Engine, given: Whole, id: str) -> conversations.Conversation:
    """Show the whole conversation that a message is in."""
    found = engine.show(_message(engine, id), MAX_TURNS, MAX_TURNS, given.full)
    return conversations.conversation(found, given.full)


def sessions(engine: Engine, given: Sessions, id: str) -> listings.Sessions:
    """List sessions, newest first, and say how many there are."""
    everything = engine.sessions(by_title(_understood(given)))
    page = everything[given.offset : given.offset + given.limit]
    return listings.sessions(page, engine.costs([session.id for session in page]), len(everything))


def session(engine: Engine, given: Whole, id: str) -> conversations.Outline:
    """Show a session turn by turn, with its branches and agents."""
    return conversations.outline(engine.outline(_session(engine, id), given.full), given.full)


def tree(engine: Engine, given: Parameters, id: str) -> conversations.Outline:
    """Show the turns of a session, abandoned branches, compactions and agents."""
    return conversations.outline(engine.outline(_session(engine, id)), is_full=False)


def context(engine: Engine, given: Context, id: str) -> packs.Pack:
    """Pack what another agent should know; its secrets are masked in any case."""
    if given.reveal:
        raise UsageError("a pack is for agents, which are shown no secrets", "leave out reveal")
    query = _question(given)
    try:
        return packs.pack(engine.context(query, given.max_tokens, limit=given.limit, without=given.exclude_session))
    except TooFewTokens as refused:
        raise UsageError(refused.message, f"give max_tokens={refused.least} or more") from refused


def facets(engine: Engine, given: Facets, id: str) -> searches.Facets:
    """Count all matches by some of their values."""
    names = _names(given.facets)
    if not names:
        raise UsageError("there is nothing to count by", "give facets=project,tool,kind,month")
    # Like the results beside it: where meaning answers, no other spelling is tried.
    return searches.facets(engine.search(_question(given), 1, thread=0, facets=names))


def values(engine: Engine, given: Parameters, id: str) -> searches.Values:
    """Name the values of a filter, those that most sessions have first."""
    name = full_name(id)
    if name not in BY_NAME:
        raise NotFound(f"{one_line(id)} is not a filter", f"use one of {', '.join(NAMES)}")
    return searches.Values(values=engine.values(name))


def stats(engine: Engine, given: Stats, id: str) -> listings.Stats:
    """Give figures about one's own history."""
    wanted = (Grouping(given.by),) if given.by else drawing.OVERVIEW
    found = engine.figures(by_title(_understood(given)), (Grouping.TOTAL, *wanted))
    total = found[Grouping.TOTAL].get("", Figures())
    return listings.stats(total, {one: drawing.ordered(found[one], one) for one in wanted})


def status(engine: Engine, given: Parameters, id: str) -> health.Status:
    """Say what is indexed and how far."""
    return health.status(engine.status())


def _understood(given: Filtered) -> Query:
    return understand(given.q, filters=given.filters)


def _question(given: Filtered) -> Query:
    if not given.q.strip() and not given.filters:
        raise UsageError("there is nothing to search for", "give words as q, or a filter such as kind=plan")
    return _understood(given)


def _names(facets: str) -> list[str]:
    return [name.strip() for name in facets.split(",") if name.strip()]


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


ENDPOINTS = (
    Endpoint(path="/v1/search", parameters=Search, answer=search, returns=searches.Answer, is_search=True),
    Endpoint(path="/v1/messages/{id}", parameters=Message, answer=message, returns=conversations.Conversation),
    Endpoint(path="/v1/threads/{id}", parameters=Whole, answer=thread, returns=conversations.Conversation),
    Endpoint(path="/v1/sessions", parameters=Sessions, answer=sessions, returns=listings.Sessions, is_search=True),
    Endpoint(path="/v1/sessions/{id}", parameters=Whole, answer=session, returns=conversations.Outline),
    Endpoint(path="/v1/sessions/{id}/tree", answer=tree, returns=conversations.Outline),
    Endpoint(path="/v1/context", parameters=Context, answer=context, returns=packs.Pack, is_search=True),
    Endpoint(path="/v1/facets", parameters=Facets, answer=facets, returns=searches.Facets, is_search=True),
    Endpoint(path="/v1/values/{id}", answer=values, returns=searches.Values),
    Endpoint(path="/v1/stats", parameters=Stats, answer=stats, returns=listings.Stats),
    Endpoint(path="/v1/status", answer=status, returns=health.Status),
)
