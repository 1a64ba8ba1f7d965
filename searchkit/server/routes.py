"""The table of everything that can be read: addresses, their parameters, and what answers them."""

from collections.abc import Callable

import msgspec

from searchkit.backends.base import Order
from searchkit.context.types import DEFAULT_TOKENS
from searchkit.engine import Engine
from searchkit.query.types import Mode
from searchkit.server import answers
from searchkit.server.parameters import FILTER_PARAMETERS, FULL, Given, Parameter, Q
from searchkit.server.transcripts import Unread
from searchkit.types import Grouping

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
        answer=answers.search,
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
    Address(path="/v1/messages/{id}", schema="Conversation", answer=answers.message, parameters=_AROUND),
    Address(path="/v1/threads/{id}", schema="Conversation", answer=answers.thread, parameters=(FULL,)),
    Address(
        path="/v1/sessions",
        schema="Sessions",
        answer=answers.sessions,
        is_search=True,
        parameters=(
            Q,
            Parameter(name="limit", kind="integer", default=20, least=1, explained="How many sessions."),
            Parameter(name="offset", kind="integer", default=0, explained="How many to pass over."),
            *FILTER_PARAMETERS,
        ),
    ),
    Address(path="/v1/sessions/{id}", schema="Outline", answer=answers.session, parameters=(FULL,)),
    Address(path="/v1/sessions/{id}/tree", schema="Outline", answer=answers.tree),
    Address(
        path="/v1/context",
        schema="Pack",
        answer=answers.context,
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
                explained="Leave out this session, meant by its id or a beginning.",
            ),
            *FILTER_PARAMETERS,
        ),
    ),
    Address(
        path="/v1/facets",
        schema="Facets",
        answer=answers.facets,
        parameters=(Q, _FACETS, *FILTER_PARAMETERS),
        is_search=True,
    ),
    Address(
        path="/v1/stats",
        schema="Stats",
        answer=answers.stats,
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
    Address(path="/v1/status", schema="Status", answer=answers.status),
)
