"""What `search`, `search --queries`, `demo` and `eval` print with `--json`, and facets over HTTP."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from searchkit.conversation import resume
from searchkit.query.filters import respelled
from searchkit.query.parse import filters
from searchkit.render.search import EmptyBecause, empty_because
from searchkit.render.wire.base import Entry, Time, Wire, entry
from searchkit.search import types as searches
from searchkit.text.format import stamp
from searchkit.types import Place

# So many of the other sessions that hold the same part are named, unless all is wanted.
MAX_SESSIONS = 50


class Question(Wire, frozen=True, kw_only=True):
    """How a query was understood."""

    text: str
    mode: str
    filters: Annotated[
        dict[str, Any],
        Meta(description="Values by name, with a hyphen before the name of what excludes; times are in UTC."),
    ]


class Coverage(Wire, frozen=True, kw_only=True):
    """How much is indexed, how much of it by meaning, and what is still to be read."""

    parts: int
    embedded: int
    behind: int


class Channels(Wire, frozen=True, kw_only=True):
    """What each channel that was asked gave."""

    keyword: float
    semantic: float | UnsetType = UNSET
    rerank: float | UnsetType = UNSET


class Shown(Wire, frozen=True, kw_only=True):
    """A part, and the passage of it that is shown."""

    uuid: str
    part: str
    role: str
    kind: str
    tool: str | None
    language: str | None
    is_error: bool
    timestamp: Time
    snippet: str
    highlights: Annotated[
        list[tuple[int, int]], Meta(description="Where in the snippet the words are: begin and end, in characters.")
    ]


class Conclusion(Wire, frozen=True, kw_only=True):
    """A part that answers what was found, and the passage to show of it."""

    uuid: str
    part: str
    text: Annotated[str, Meta(description="On one line, without Markdown.")]
    highlights: list[tuple[int, int]]


class Result(Wire, frozen=True, kw_only=True):
    """A result: the best part, where it is from, the turns around it, and other parts of the same session."""

    rank: int
    score: float
    channels: Channels
    uuid: str
    part: str
    role: str
    kind: str
    tool: str | None
    language: str | None
    is_error: bool
    timestamp: Time
    snippet: str
    highlights: list[tuple[int, int]]
    session: str | None
    agent: str | None
    also_in: Annotated[list[str], Meta(description="Other sessions that hold the same part.")]
    project: str | None
    title: str | None
    agent_app: Annotated[str | None, Meta(description="The program that wrote the session.")]
    branch: str | None
    model: str | None
    thread: list[Entry]
    others: list[Shown]
    answer: Annotated[
        Conclusion | None,
        Meta(
            description="What answers a prompt or a step that was found, or what a report says beside its snippet, "
            "such as its last paragraph."
        ),
    ]
    resume: Annotated[str | None, Meta(description="The command that reopens the session.")]


class Answer(Wire, frozen=True, kw_only=True):
    """The answer to a search."""

    query: Question
    coverage: Coverage
    total: Annotated[
        int,
        Meta(
            description="How many parts hold any of the words, or, where none does, are near in meaning; "
            "whatever the limit."
        ),
    ]
    took_ms: int
    results: list[Result]
    empty_because: EmptyBecause | None
    hidden_by_filters: int
    unseen: int
    missing: list[str]
    did_you_mean: dict[str, list[str]]
    respelled: dict[str, str]
    notes: list[str]
    facets: dict[str, dict[str, int]] | UnsetType = UNSET


class Facets(Wire, frozen=True, kw_only=True):
    """How many matches have each value."""

    total: int
    respelled: dict[str, str]
    facets: dict[str, dict[str, int]]


class Values(Wire, frozen=True, kw_only=True):
    """The values that a filter has in the index, those that most sessions have first."""

    values: list[str]


class Batch(Wire, frozen=True, kw_only=True):
    """The answer to one of many queries; the id is the one of its line."""

    id: Any
    results: list[Result]
    respelled: dict[str, str] | UnsetType = UNSET


class Tour(Wire, frozen=True, kw_only=True):
    """The searches of the demonstration."""

    searches: list[Answer]


class Scores(Wire, frozen=True, kw_only=True):
    """How well questions of one type were answered, in percent, by message and by session."""

    questions: int
    message: dict[str, float]
    session: dict[str, float]


class Evaluation(Wire, frozen=True, kw_only=True):
    """How well labelled questions were answered, by type."""

    mode: str
    k: int
    types: dict[str, Scores]


def answer(found: searches.Answer, mode: str = "keyword", is_full: bool = False) -> Answer:
    """Make the answer to a search."""
    return Answer(
        query=Question(text=found.query.text, mode=mode, filters=filters(found.query.condition)),
        coverage=Coverage(parts=found.parts, embedded=found.embedded, behind=found.pending),
        total=found.total,
        took_ms=round(found.seconds * 1000),
        results=results(found.results, is_full),
        empty_because=empty_because(found),
        hidden_by_filters=found.hidden,
        unseen=found.unseen,
        missing=list(found.missing),
        did_you_mean={word: list(alike) for word, alike in found.suggestions.items()},
        respelled=dict(found.respelled),
        notes=[*found.query.notes, *respelled(found.respelled)],
        facets=_counts(found.facets) if found.facets else UNSET,
    )


def facets(found: searches.Answer) -> Facets:
    """Make the facets of all matches."""
    return Facets(total=found.total, respelled=dict(found.respelled), facets=_counts(found.facets))


def batch(id: object, found: searches.Answer, is_full: bool) -> Batch:
    """Make the answer to one of many queries."""
    respelt = dict(found.respelled) if found.respelled else UNSET
    return Batch(id=id, results=results(found.results, is_full), respelled=respelt)


def results(found: Sequence[searches.Result], is_full: bool = False) -> list[Result]:
    """Make each result with its thread, cut to a few thousand characters unless all is wanted."""
    return [_result(rank, result, is_full) for rank, result in enumerate(found, 1)]


def _result(rank: int, result: searches.Result, is_full: bool) -> Result:
    best, session = result.best, result.session
    stored = best.stored
    home, *others = stored.link.places
    return Result(
        rank=rank,
        score=round(best.ranked.score, 4),
        channels=_channels(best.ranked),
        **asdict(_shown(best)),
        session=home.session,
        agent=home.agent,
        also_in=_sessions(others, home, is_full),
        project=session.project if session else stored.link.context.cwd,
        title=session.title if session else None,
        agent_app=session.app if session else None,
        branch=stored.link.context.branch,
        model=stored.link.context.model,
        thread=[entry(one, is_full) for one in result.thread],
        others=[_shown(other) for other in result.others],
        answer=_conclusion(result.answer) if result.answer else None,
        resume=resume.command(session) if session else None,
    )


def _sessions(others: Iterable[Place], home: Place, is_full: bool) -> list[str]:
    """Name the other sessions that hold a part; a listing of the client's is in nearly all of them."""
    sessions = sorted({place.session for place in others if place.session} - {home.session})
    return sessions if is_full else sessions[:MAX_SESSIONS]


def _channels(ranked: searches.Ranked) -> Channels:
    return Channels(
        keyword=round(ranked.hit.score, 4),
        semantic=UNSET if ranked.meaning is None else round(ranked.meaning, 4),
        rerank=UNSET if ranked.judged is None else round(ranked.judged, 4),
    )


def _shown(shown: searches.Shown) -> Shown:
    part, link = shown.stored.part, shown.stored.link
    return Shown(
        uuid=part.uuid,
        part=shown.stored.id,
        role=part.role.value,
        kind=part.kind.value,
        tool=part.tool,
        language=part.language,
        is_error=part.is_error,
        timestamp=stamp(link.time),
        snippet=shown.passage.text,
        highlights=list(shown.passage.highlights),
    )


def _conclusion(answer: searches.Conclusion) -> Conclusion:
    return Conclusion(
        uuid=answer.stored.part.uuid,
        part=answer.stored.id,
        text=answer.passage.text,
        highlights=list(answer.passage.highlights),
    )


def _counts(facets: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {name: dict(counts) for name, counts in facets.items()}
