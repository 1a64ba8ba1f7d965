"""What an agent reads: messages and passages, cut, as fields and as text, and hints where nothing is found."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from searchkit.backends.base import TYPED, Stored
from searchkit.conversation.types import Said
from searchkit.engine import Engine
from searchkit.errors import SourceError
from searchkit.mcp.caller import LeftOut
from searchkit.query import filters
from searchkit.query.types import Query
from searchkit.render import search
from searchkit.render.search import no_sessions
from searchkit.search.snippets import PASSAGE_CHARACTERS
from searchkit.search.types import Answer, Result, Shown
from searchkit.text.format import stamp
from searchkit.text.sanitize import one_line, safe
from searchkit.types import Role

# A title and a prompt are for telling one from another.
TITLE_CHARACTERS = 80
PROJECT_CHARACTERS = 4 * TITLE_CHARACTERS
ASKED_CHARACTERS = 160
# Of passages beside the best one: one more per session, and shorter.
MAX_OTHERS = 1
OTHER_CHARACTERS = 120
# Of each part of a line of text.
PART_CHARACTERS = 400


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a conversation, cut where it is long; `show` with its uuid shows more."""

    uuid: str
    kind: str = ""
    role: str = ""
    tool: str = ""
    is_error: bool = False
    time: str = ""
    text: str = ""
    cut: Annotated[int, Meta(description="How many characters are not shown.")] = 0
    is_hit: bool = False


class Passage(Message, frozen=True, kw_only=True, omit_defaults=True):
    """The best passage of a session, what a person had asked there, and further passages."""

    session: str = ""
    title: str = ""
    project: str = ""
    branch: str = ""
    agent: str = ""
    asked: Annotated[str, Meta(description="What was asked in the turn that it is from.")] = ""
    score: float = 0.0
    others: list[Message] = []


def line(text: str | None, most: int) -> str:
    """Write a text on one line, cut to so many characters."""
    # What is cut off need not be cleaned; white space folds, and hidden characters go.
    written = one_line((text or "")[: 4 * most])
    return written if len(written) <= most else f"{written[: most - 1]}…"


def moment(milliseconds: int | None) -> str:
    """Write a time to the minute."""
    written = stamp(milliseconds)
    return f"{written[:16]}Z" if written else ""


def message(stored: Stored, most: int, begin: int = 0, is_hit: bool = False) -> Message:
    """Quote a part: so many characters of it, from somewhere on."""
    part = stored.part
    text = part.text[begin : begin + most]
    return Message(
        uuid=part.uuid,
        kind=part.kind.value,
        role=part.role.value,
        tool=line(part.tool, TITLE_CHARACTERS),
        is_error=part.is_error,
        time=moment(stored.link.time),
        text=safe(text),
        cut=len(part.text) - len(text),
        is_hit=is_hit,
    )


def passage(found: Result) -> Passage:
    """Quote a result of a search."""
    best, session = found.best, found.session
    stored = best.stored
    home = stored.link.places[0]
    return Passage(
        **asdict(_snippet(best, PASSAGE_CHARACTERS)),
        session=home.session or "",
        title=line(session.title if session else None, TITLE_CHARACTERS),
        project=line(session.project if session else stored.link.context.cwd, PROJECT_CHARACTERS),
        branch=line(stored.link.context.branch, TITLE_CHARACTERS),
        agent=home.agent or "",
        asked=asked_in(found),
        score=round(best.ranked.score, 3),
        others=[_snippet(one, OTHER_CHARACTERS) for one in found.others[:MAX_OTHERS]],
    )


def asked_in(found: Result) -> str:
    """Return what was typed in the turn that a result is from, unless that is the result."""
    typed = (
        entry.stored
        for entry in found.thread
        if isinstance(entry, Said) and entry.stored.part.role is Role.USER and entry.stored.part.kind in TYPED
    )
    first = next(typed, None)
    return "" if first is None or first.id == found.best.stored.id else line(first.part.text, ASKED_CHARACTERS)


def join(*parts: str) -> str:
    """Write what is not empty on one line, with dots between."""
    return " · ".join(line(part, PART_CHARACTERS) for part in parts if part)


def message_lines(one: Message, with_time: bool = True) -> Iterator[str]:
    """Write who speaks, and the text below it, indented: nothing in it can be taken for ours."""
    failed = "failed" if one.is_error else ""
    asked_for = "asked for" if one.is_hit else ""
    yield "  " + join(f"uuid {one.uuid}", one.kind, one.tool, failed, asked_for, one.time if with_time else "")
    yield from (f"    {row}" for row in one.text.splitlines())
    if one.cut:
        yield f"    ({one.cut} characters not shown)"


def passage_lines(one: Passage) -> Iterator[str]:
    """Write where a passage is from, what was asked there, and what it says."""
    yield join(one.time, one.project, one.title, f"session {one.session}", f"agent {one.agent}" if one.agent else "")
    yield from asked_lines(one.asked)
    yield from message_lines(one, with_time=False)
    yield from (row for other in one.others for row in message_lines(other, with_time=False))


def asked_lines(asked: str) -> Iterator[str]:
    """Write what was asked, if anything is known of it."""
    if asked:
        yield f"  asked: {asked}"


def _snippet(shown: Shown, most: int) -> Message:
    return replace(message(shown.stored, 0), text=line(shown.passage.text, most), cut=0)


# Why there is no result, and what to ask instead: an empty answer must not read as absence.


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
        *filters.respelled(found.respelled),
        *search.missing(found),
        *found.query.notes,
        *search.unfinished(found),
    ]
    return _lines([*said, f"Found by words only: {found.without_meaning}"] if found.without_meaning else said)


def respelled(found: Answer) -> list[str]:
    """Say which words were looked for instead of those that were asked for."""
    return _lines(list(filters.respelled(found.respelled)))


def unknown(engine: Engine, query: Query) -> list[str]:
    """Name the filters that nothing answers to, with what is near."""
    return _lines(
        [
            f"Nothing has {one.name}:{one.value}" + (f"; there are {', '.join(one.nearest)}" if one.nearest else "")
            for one in filters.unknown(query.condition, engine.values)
        ]
    )


def unlisted(engine: Engine, query: Query) -> list[str]:
    """Say what keeps all sessions away."""
    return _lines(list(no_sessions(query.condition, engine.values, engine.sessions)))


def _lines(said: Sequence[str]) -> list[str]:
    return [line(one, HINT_CHARACTERS) for one in said[:MOST_HINTS]]
