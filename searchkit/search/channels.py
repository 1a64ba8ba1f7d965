"""Which channels answer a question: words, meaning, or both, and words alone where meaning cannot be asked."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from searchkit.backends.base import Order
from searchkit.errors import IndexDamaged, IndexMissing, IndexModel, ModelFault, UsageError
from searchkit.query.types import Condition, Mode, Query
from searchkit.search.types import Answer

if TYPE_CHECKING:
    from searchkit.backends.base import Values

    # Answers a question, by meaning too where its vector is given, and by meaning alone where words are not asked.
    Ask = Callable[[Query, Values | None, bool], Answer]

_BY_WORDS = "ask by words as well, in hybrid mode"


def is_meaning_asked(query: Query, mode: Mode, order: Order) -> bool:
    """Say whether meaning can say anything to a question; raise where it alone is asked and cannot."""
    has_words = bool(query.wanted)
    if mode is not Mode.SEMANTIC:
        return mode is Mode.HYBRID and order is Order.RELEVANCE and has_words
    if order is not Order.RELEVANCE:
        raise UsageError("what is found by meaning alone is in no order of time", _BY_WORDS)
    if any(clause.is_excluded for clause in query.clauses):
        raise UsageError("meaning alone cannot leave out words", _BY_WORDS)
    if not has_words and query.condition != Condition():
        raise UsageError("filters alone have no meaning that something could be near to", f"add words, or {_BY_WORDS}")
    return has_words


def answered(ask: "Ask", embedded: "Callable[[Query], Values] | None", query: Query, mode: Mode) -> Answer:
    """Answer a question by words and, where it can be embedded, by meaning; say why where that failed."""
    if embedded is None:
        return ask(query, None, True)
    try:
        return ask(query, embedded(query), mode is Mode.HYBRID)
    except (ModelFault, IndexModel, IndexDamaged, IndexMissing) as fault:
        # Where it is not the vectors that are damaged, words meet the same fault.
        if mode is Mode.SEMANTIC:
            raise
        return replace(ask(query, None, True), without_meaning=f"{fault.message}; {fault.hint}")
