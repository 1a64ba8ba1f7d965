"""Why there is no result, and what to ask instead: an empty answer must not read as absence."""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from searchkit.engine import Engine
from searchkit.errors import SourceError
from searchkit.mcp.caller import LeftOut
from searchkit.mcp.quoting import line
from searchkit.query import suggestions
from searchkit.query.types import Query
from searchkit.render import search
from searchkit.render.search import no_sessions
from searchkit.search.types import Answer

Reason = Literal["no_match", "filtered", "left_out", "not_indexed", "not_known"]

HINT_CHARACTERS = 300
MOST_HINTS = 6


def reason(found: Answer, query: Query, left: Sequence[LeftOut]) -> Reason | None:
    """Say why nothing was found; what was left out may hide something that no filter of the question did."""
    because = search.empty_because(found)
    is_filtered = bool(query.condition.filters or query.condition.periods)
    if because == "filtered":
        return "left_out" if left and not is_filtered else "filtered"
    return "not_indexed" if because == "not_indexed" else None if because is None else "no_match"


def hints(engine: Engine, found: Answer, query: Query) -> list[str]:
    """Say what could be asked instead of a question that found nothing, or no more."""
    if found.results:
        return ["There are no more results."]
    try:
        behind = engine.behind().files
    except SourceError:
        behind = 0
    return _lines([*query.notes, *search.reasons(replace(found, query=query), engine.values, behind)])


def remarks(found: Answer) -> list[str]:
    """Say what a page of results does not say by itself."""
    said = [
        *suggestions.respelled(found.respelled),
        *search.missing(found),
        *found.query.notes,
        *search.unfinished(found),
    ]
    return _lines([*said, f"Found by words only: {found.without_meaning}"] if found.without_meaning else said)


def respelled(found: Answer) -> list[str]:
    """Say which words were looked for instead of those that were asked for."""
    return _lines(list(suggestions.respelled(found.respelled)))


def unknown(engine: Engine, query: Query) -> list[str]:
    """Name the filters that nothing answers to, with what is near."""
    return _lines(
        [
            f"Nothing has {one.name}:{one.value}" + (f"; there are {', '.join(one.nearest)}" if one.nearest else "")
            for one in suggestions.unknown(query.condition, engine.values)
        ]
    )


def unlisted(engine: Engine, query: Query) -> list[str]:
    """Say what keeps all sessions away."""
    return _lines(list(no_sessions(query.condition, engine.values, engine.sessions)))


def _lines(said: Sequence[str]) -> list[str]:
    return [line(one, HINT_CHARACTERS) for one in said[:MOST_HINTS]]
