"""What leads to a search: sessions as cards, what to filter them by, searches to try, and why one finds nothing."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from searchkit.backends.base import Backend, Order, Stored
from searchkit.engine import Engine
from searchkit.query.filters import unknown
from searchkit.query.parse import understand
from searchkit.query.types import Condition, Filter, Query
from searchkit.render.wire import sessions as listings
from searchkit.render.wire.base import Time, Wire
from searchkit.search.examples import RECENT_SESSIONS, examples
from searchkit.search.snippets import cut
from searchkit.sources.tools import changes_files
from searchkit.text.format import last_part, stamp
from searchkit.types import Kind
from searchkit.web.endpoints import Endpoint, Filtered, Number, Parameters

# Two lines of a card on a wide screen.
MOST_CHARACTERS = 240
# The names of changed files that a card shows; the rest is a number.
MOST_FILES = 3
# Texts of a session that are looked at to find one that no agent said.
MOST_LOOKED_AT = 20
# Values of a filter that are offered, those that most sessions have first.
MOST_VALUES = 200
OFFERED = ("project", "branch", "model")
# Searches to try that are shown.
MOST_EXAMPLES = 4


class CardsParameters(Filtered, frozen=True, kw_only=True):
    """What `/v1/cards` takes; of `q` only its filters count."""

    limit: Annotated[int, Meta(ge=1, le=200, description="How many sessions.")] = 40
    offset: Annotated[Number, Meta(description="How many to pass over.")] = 0


class Card(listings.Session, frozen=True, kw_only=True):
    """A session, what it began with, how it ended, and the files that it changed."""

    first: Annotated[str | None, Meta(description="The first prompt, cut, on one line.")]
    outcome: Annotated[str | None, Meta(description="The last text of the session, cut, on one line.")]
    files: Annotated[list[str], Meta(description="The names of files that it changed, the first of them.")]
    files_total: int


class Cards(Wire, frozen=True, kw_only=True):
    """A page of sessions, newest first, how many there are, and when the session before the first one ended."""

    total: int
    before: Time
    cards: list[Card]


class Example(Wire, frozen=True, kw_only=True):
    """A search that finds something in this index, and what it asks for."""

    query: str
    meaning: str


class Beginning(Wire, frozen=True, kw_only=True):
    """What sessions can be filtered by, and searches that find something."""

    values: dict[str, list[str]]
    examples: list[Example]


class UnknownValue(Wire, frozen=True, kw_only=True):
    """A value of a filter that nothing has, and those nearest to it; where none is near, the most frequent."""

    name: str
    value: str
    nearest: list[str]
    are_near: bool


class Hints(Wire, frozen=True, kw_only=True):
    """What keeps a search from finding anything."""

    unknown: list[UnknownValue]


def cards(engine: Engine, given: CardsParameters, id: str) -> Cards:
    """List sessions with what each began with, how it ended, and what it changed."""
    everything = engine.sessions(understand(given.q, filters=given.filters).condition)
    shown = everything[given.offset : given.offset + given.limit]
    ids = [one.id for one in shown]
    listed = listings.sessions(shown, engine.costs(ids), len(everything)).sessions
    before = everything[given.offset - 1].ended if 0 < given.offset <= len(everything) else None

    def ask(backend: Backend) -> Cards:
        firsts = [_first(backend, _of(one, Kind.PROMPT), Order.OLDEST) for one in ids]
        lasts = [_first(backend, _of(one, Kind.TEXT), Order.NEWEST) for one in ids]
        wanted = [key for key in (*firsts, *lasts) if key is not None]
        texts = dict(zip(wanted, backend.catalog.stored(wanted), strict=True))
        told = zip(listed, firsts, lasts, strict=True)
        return Cards(
            total=len(everything),
            before=stamp(before),
            cards=[
                _card(one, texts.get(first or -1), texts.get(last or -1), _changed(backend, one.session))
                for one, first, last in told
            ],
        )

    return engine.ask(ask)


def beginning(engine: Engine, given: Parameters, id: str) -> Beginning:
    """Say what sessions can be filtered by, and give searches that find something."""
    recent = engine.sessions(limit=RECENT_SESSIONS)
    found = engine.ask(lambda backend: list(examples(backend, recent)))
    values = {name: engine.values(name)[:MOST_VALUES] for name in OFFERED}
    shown = [Example(query=one.query, meaning=one.meaning) for one in found[:MOST_EXAMPLES]]
    return Beginning(values=values, examples=shown)


def hints(engine: Engine, given: Filtered, id: str) -> Hints:
    """Name the values of filters that nothing in the index has."""
    condition = understand(given.q, filters=given.filters).condition
    return Hints(
        unknown=[
            UnknownValue(name=one.name, value=one.value, nearest=list(one.nearest), are_near=one.are_near)
            for one in unknown(condition, engine.values)
        ]
    )


def _card(one: listings.Session, first: Stored | None, last: Stored | None, files: Sequence[str]) -> Card:
    return Card(
        **asdict(one), first=_line(first), outcome=_line(last), files=list(files[:MOST_FILES]), files_total=len(files)
    )


def _line(stored: Stored | None) -> str | None:
    return cut(stored.part.text, (), MOST_CHARACTERS).text if stored else None


def _of(session: str, kind: Kind) -> Query:
    wanted = Filter(name="session", values=(session,)), Filter(name="kind", values=(kind.value,))
    return Query(text="", condition=Condition(filters=wanted))


def _first(backend: Backend, query: Query, order: Order) -> int | None:
    """Return the key of the first part in an order that is of the session itself, and not of an agent."""
    hits = backend.words.search(query, MOST_LOOKED_AT, order).hits
    return next((hit.key for hit in hits if not hit.is_agents), None)


def _changed(backend: Backend, session: str) -> list[str]:
    """Name the files that a session changed, those last that it changed last."""
    steps = backend.catalog.touching(session)
    return list(dict.fromkeys(last_part(step.path) for step in steps if step.path and changes_files(step.tool)))


# The table of what the first screen and empty answers ask for.

HOME_ENDPOINTS = (
    Endpoint(path="/v1/cards", parameters=CardsParameters, answer=cards, returns=Cards, is_search=True),
    Endpoint(path="/v1/beginning", answer=beginning, returns=Beginning),
    Endpoint(path="/v1/hints", parameters=Filtered, answer=hints, returns=Hints),
)
