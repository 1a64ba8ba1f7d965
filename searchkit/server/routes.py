"""The table of addresses: their parameters, and the answer of each, which is what --json prints."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from searchkit.backends.base import Order
from searchkit.cli.options import FILTERS, by_title
from searchkit.context.types import DEFAULT_TOKENS
from searchkit.conversation.lookup import must_say
from searchkit.engine import Engine
from searchkit.errors import NotFound, TooFewTokens, UsageError
from searchkit.query.parse import understand
from searchkit.query.types import Mode, Query
from searchkit.render import answer_json, context_json, conversation_json, json, outline_json
from searchkit.render import stats as drawing
from searchkit.server.transcripts import Unread
from searchkit.text.sanitize import one_line
from searchkit.types import Figures, Grouping

TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off")
# Beyond any that is asked for, and small enough for every number that it becomes.
MOST_NUMBER = 1_000_000


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of an address; `kind` is a type of JSON Schema."""

    name: str
    explained: str
    kind: str = "string"
    default: str | int | bool | None = None
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = MOST_NUMBER
    is_repeated: bool = False
    is_required: bool = False


Q = Parameter(
    name="q",
    explained="Words as `searchkit search` takes them, among which may be filters.",
    default="",
)
FULL = Parameter(name="full", kind="boolean", default=False, explained="Give whole texts.")
FILTER_PARAMETERS = tuple(
    Parameter(name=name, explained=explained, is_repeated=True) for name, explained in FILTERS.items()
)


class Given:
    """The parameters of one request, all of them valid, with defaults for those that were not given."""

    def __init__(self, parameters: Sequence[Parameter], pairs: Sequence[tuple[str, str]]) -> None:
        """Read what was given, or say what is wrong with it."""
        known = {parameter.name: parameter for parameter in parameters}
        self._texts: dict[str, list[str]] = {name: [] for name in known}
        for name, value in pairs:
            if name not in known:
                raise _unknown(name, known)
            self._texts[name].append(value)
        self._known = known
        for parameter in parameters:
            _check(parameter, self._texts[parameter.name])

    def text(self, name: str) -> str | None:
        """Return a text, or its default."""
        given = self._texts[name]
        if given:
            return given[0]
        default = self._known[name].default
        return None if default is None else str(default)

    def choice(self, name: str) -> str:
        """Return one of a few values, which has a default."""
        return self.text(name) or ""

    def number(self, name: str) -> int:
        """Return a whole number, or its default."""
        return int(self.text(name) or 0)

    def flag(self, name: str) -> bool:
        """Return whether something is wanted."""
        return (self.text(name) or "").lower() in TRUE

    def several(self, name: str) -> list[str]:
        """Return all texts that were given under one name."""
        return self._texts[name]

    @property
    def filters(self) -> list[tuple[str, str]]:
        """The filters, each with its name."""
        return [(name, value) for name in FILTERS for value in self._texts.get(name, ())]


def _check(parameter: Parameter, given: Sequence[str]) -> None:
    name = parameter.name
    if len(given) > 1 and not parameter.is_repeated:
        raise UsageError(f"{name} was given {len(given)} times", "give it once")
    if not given and parameter.is_required:
        raise UsageError(f"{name} is missing", f"add {name}=..., which is: {parameter.explained}")
    for value in given:
        if parameter.choices and value not in parameter.choices:
            raise UsageError(f"{name}={value} is not possible", f"use one of {', '.join(parameter.choices)}")
        if parameter.kind == "boolean" and value.lower() not in TRUE + FALSE:
            raise UsageError(f"{name}={value} is neither true nor false", f"use {name}=true or {name}=false")
        if parameter.kind == "integer" and not _is_within(value, parameter):
            bounds = f"from {parameter.least} to {parameter.most}"
            raise UsageError(f"{name}={value} is not possible", f"give a whole number {bounds}")


def _is_within(value: str, parameter: Parameter) -> bool:
    is_number = value.isascii() and value.isdecimal() and len(value) <= len(str(MOST_NUMBER))
    return is_number and parameter.least <= int(value) <= parameter.most


def _unknown(name: str, known: Mapping[str, Parameter]) -> UsageError:
    # Only needed where something was misspelt.
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), known, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
    return UsageError(f"there is no parameter {name}", hint)


# What each address answers: what the command of that name prints with --json.

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
    page = everything[begin : begin + given.number("limit")]
    costs = engine.costs([session.id for session in page])
    return {**json.sessions(page, costs), "total": len(everything)}


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


# The table of everything that can be read: addresses, their parameters, and what answers them.

Answer = Callable[[Engine, Given, str], dict[str, object] | Unread]

_FACETS = Parameter(name="facets", explained="Count all matches by these, with commas: project,tool,kind,month, ...")
_AROUND = (
    Parameter(name="before", kind="integer", default=1, most=100_000, explained="Turns before it."),
    Parameter(name="after", kind="integer", default=1, most=100_000, explained="Turns after it."),
    FULL,
    Parameter(name="agents", kind="boolean", default=False, explained="Show what agents did."),
)


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """An address that is read; `schema` names what it answers.

    Where `is_search`, its answer takes a fraction of a second whatever the index holds. Others may read a whole
    conversation, or all of them: together they have one engine, so that searches always find another.
    """

    path: str
    schema: str
    answer: Answer
    parameters: tuple[Parameter, ...] = ()
    is_search: bool = False

    @property
    def summary(self) -> str:
        """What it answers, in a sentence."""
        return (self.answer.__doc__ or "").partition("\n")[0]


ADDRESSES = (
    Address(
        path="/v1/search",
        schema="Answer",
        answer=search,
        is_search=True,
        parameters=(
            Q,
            Parameter(
                name="mode",
                default=Mode.HYBRID.value,
                choices=tuple(mode.value for mode in Mode),
                explained="Ask for words, for meaning, or for both.",
            ),
            Parameter(name="limit", kind="integer", default=10, least=1, most=1000, explained="How many results."),
            Parameter(name="thread", kind="integer", default=1, most=50, explained="Turns around a hit."),
            Parameter(
                name="group",
                default="session",
                choices=("session", "none"),
                explained="One result a session, or every hit.",
            ),
            _FACETS,
            Parameter(
                name="sort",
                default=Order.RELEVANCE.value,
                choices=tuple(order.value for order in Order),
                explained="What comes first.",
            ),
            FULL,
            *FILTER_PARAMETERS,
        ),
    ),
    Address(path="/v1/messages/{id}", schema="Conversation", answer=message, parameters=_AROUND),
    Address(path="/v1/threads/{id}", schema="Conversation", answer=thread, parameters=(FULL,)),
    Address(
        path="/v1/sessions",
        schema="Sessions",
        answer=sessions,
        is_search=True,
        parameters=(
            Q,
            Parameter(name="limit", kind="integer", default=20, least=1, explained="How many sessions."),
            Parameter(name="offset", kind="integer", default=0, explained="How many to pass over."),
            *FILTER_PARAMETERS,
        ),
    ),
    Address(path="/v1/sessions/{id}", schema="Outline", answer=session, parameters=(FULL,)),
    Address(path="/v1/sessions/{id}/tree", schema="Outline", answer=tree),
    Address(
        path="/v1/context",
        schema="Pack",
        answer=context,
        is_search=True,
        parameters=(
            Q,
            Parameter(
                name="max_tokens",
                kind="integer",
                default=DEFAULT_TOKENS,
                least=1,
                explained="How many tokens it may take as Markdown, all included.",
            ),
            Parameter(name="limit", kind="integer", default=30, least=1, most=100, explained="How many sessions."),
            Parameter(
                name="exclude_session",
                is_repeated=True,
                explained="Leave out this session: its id, or the beginning of it.",
            ),
            *FILTER_PARAMETERS,
        ),
    ),
    Address(
        path="/v1/facets",
        schema="Facets",
        answer=facets,
        parameters=(Q, _FACETS, *FILTER_PARAMETERS),
        is_search=True,
    ),
    Address(
        path="/v1/stats",
        schema="Stats",
        answer=stats,
        parameters=(
            Q,
            Parameter(
                name="by",
                choices=tuple(by.value for by in Grouping if by is not Grouping.TOTAL),
                explained="Group by this, instead of an overview.",
            ),
            *FILTER_PARAMETERS,
        ),
    ),
    Address(path="/v1/status", schema="Status", answer=status),
)
