"""Asks again where nothing holds any word of a question, for those words that are spelt most like them."""

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from searchkit.query.types import Clause, Match, Query
from searchkit.search.types import Answer


def answered(ask: Callable[[Query], Answer], query: Query) -> Answer:
    """Return the answer to a question, or, where all its words seem misspelt, to the one that was probably meant.

    Such an answer has the text that was typed, and says in `respelled` what was looked for instead.
    """
    found = ask(query)
    # A word like nothing that there is, is no slip of the hand: what else was typed is then guesswork, too.
    if found.results or not found.missing or len(found.suggestions) < len(found.missing):
        return found
    instead = {word: found.suggestions[word][0] for word in found.missing}
    meant = replace(query, clauses=tuple(_respelled(clause, instead) for clause in query.clauses))
    if meant == query:
        return found
    again = ask(meant)
    if not again.results:
        return found
    return replace(again, missing=found.missing, suggestions=found.suggestions, respelled=instead)


def _respelled(clause: Clause, instead: Mapping[str, str]) -> Clause:
    """Put other words into a clause; what was quoted, begun, or excluded was meant as it was typed."""
    if clause.is_excluded:
        return clause
    terms = (
        replace(term, text=_put(term.text, instead)) if term.match is Match.WORD else term for term in clause.terms
    )
    return replace(clause, terms=tuple(terms))


def _put(text: str, instead: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda found: instead.get(found[0].casefold(), found[0]), text)
