"""How a question was understood, in words: for `--explain`."""

from collections.abc import Iterator

from searchkit.query.parse import filters
from searchkit.query.types import Clause, Match, Query, Term
from searchkit.text.format import stamp
from searchkit.text.sanitize import one_line

_HOW = {
    Match.WORD: "{} in any form",
    Match.PHRASE: 'exactly "{}"',
    Match.PREFIX: "words that begin with {}",
    Match.FUZZY: "words like {}",
    Match.REGEX: "words with /{}/",
}


def understood(query: Query) -> Iterator[str]:
    """Say what is looked for, what must and must not be there, and what narrows the search."""
    groups = {
        "looking for": [clause for clause in query.clauses if not clause.is_required and not clause.is_excluded],
        "required": [clause for clause in query.clauses if clause.is_required],
        "excluded": [clause for clause in query.clauses if clause.is_excluded],
    }
    for name, clauses in groups.items():
        if clauses:
            yield f"{name}: {', '.join(map(_clause, clauses))}"
    for name, value in filters(query.condition).items():
        yield f"only {name}: {one_line(str(value))}"
    if query.period is not None:
        spans = (f"{stamp(span.start) or 'ever'} to {stamp(span.end) or 'now'}" for span in query.period.spans)
        yield f"higher, because the question names it: {', '.join(spans)}"
    for note in query.notes:
        yield one_line(note)


def _clause(clause: Clause) -> str:
    return " or ".join(map(_term, clause.terms))


def _term(term: Term) -> str:
    return _HOW[term.match].format(one_line(term.text))
