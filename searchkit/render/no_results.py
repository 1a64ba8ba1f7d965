"""Why a search found nothing, and what could have been meant."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from searchkit.query.suggestions import unknown
from searchkit.query.types import Condition
from searchkit.search.types import Answer
from searchkit.text.format import count
from searchkit.text.sanitize import one_line

# Why a search has no result.
EmptyBecause = Literal["no_match", "filtered", "not_indexed"]
# A pasted text is not shown again.
MOST_CHARACTERS = 200
NOTHING_ASKED = 'Nothing was asked: type words, a "quoted phrase", or a filter such as kind:plan or after:7d.'


def empty_because(found: Answer) -> EmptyBecause | None:
    """Say why there is no result: nothing matches, filters keep it away, or it is not indexed yet."""
    if found.results:
        return None
    if found.hidden:
        return "filtered"
    return "not_indexed" if found.pending or not found.parts else "no_match"


def reasons(found: Answer, values: Callable[[str], Sequence[str]], files_behind: int) -> Iterator[str]:
    """Say what stands between the question and an answer; `values` tells which there are of a filter."""
    if not found.parts and not found.pending:
        yield "Nothing is indexed yet: run searchkit index."
        return
    if not found.query.clauses and found.query.condition == Condition():
        yield NOTHING_ASKED
        return
    text = one_line(found.query.text)[:MOST_CHARACTERS]
    if found.hidden:
        yield f"Nothing matches with these filters; without them {count(found.hidden, 'part')} would."
    else:
        yield f"Nothing matches {text!r}."
    for value in unknown(found.query.condition, values):
        near = ", ".join(map(one_line, value.nearest))
        hint = f"; {'did you mean' if value.are_near else 'there are'} {near}" if near else ""
        yield f"Nothing has {value.name}:{one_line(value.value)}{hint}."
    yield from missing(found)
    if files_behind:
        files = count(files_behind, "file is", "files are")
        yield f"{files} newer than the index: searchkit index reads what is new."
    yield from unfinished(found)


def unfinished(found: Answer) -> Iterator[str]:
    """Say what a pattern was not tried on, and what is not searchable yet."""
    if found.unseen:
        yield f"The pattern was not tried on {count(found.unseen, 'part')} that may match; add words or filters."
    if found.pending:
        yield f"{count(found.pending, 'part')} still to be indexed: searchkit index completes it."


def missing(found: Answer) -> Iterator[str]:
    """Name the words that nothing holds, with those most like them, unless those were looked for."""
    for word in found.missing:
        if word in found.respelled:
            continue
        alike = " or ".join(map(one_line, found.suggestions.get(word, ())))
        hint = f"; did you mean {alike}?" if alike else "."
        yield f"No {one_line(word)[:MOST_CHARACTERS]!r} anywhere{hint}"
