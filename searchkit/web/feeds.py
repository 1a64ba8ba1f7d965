"""The table of what only the page asks for: conversations to leaf through, whole texts, and pictures."""

from searchkit.server.routes import Address, Parameter, Q
from searchkit.web import conversation_api

_AS_OF = Parameter(
    name="as_of",
    default="",
    explained="The moment that an earlier answer named: rows keep the numbers they had then, unless the answer "
    "names another, because the first is not kept any more.",
)
_COUNT = Parameter(name="count", kind="integer", default=40, least=1, most=200, explained="How many rows.")

FEEDS = (
    Address(
        path="/v1/readings/{id}",
        schema="Reading",
        answer=conversation_api.reading,
        parameters=(
            Q,
            Parameter(name="begin", kind="integer", explained="The first row; else some before what was asked for."),
            _COUNT,
            _AS_OF,
        ),
    ),
    Address(
        path="/v1/readings/{id}/fold",
        schema="Fold",
        answer=conversation_api.fold,
        parameters=(
            Q,
            Parameter(name="row", kind="integer", is_required=True, explained="The row that folds steps."),
            Parameter(name="begin", kind="integer", default=0, explained="How many of its steps to pass over."),
            _COUNT,
            _AS_OF,
        ),
    ),
    Address(path="/v1/parts/{id}", schema="PartText", answer=conversation_api.part, parameters=(Q,)),
    Address(path="/v1/pictures/{id}", schema="Pictures", answer=conversation_api.pictures),
)
