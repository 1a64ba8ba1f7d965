"""What `context --json` prints: the same pack as the Markdown."""

from typing import Annotated

from msgspec import Meta

from searchkit.context import types as packs
from searchkit.context.markdown import done
from searchkit.conversation.types import Folded
from searchkit.render.search import EmptyBecause, empty_because
from searchkit.render.wire.base import Time, Wire
from searchkit.text import tokens
from searchkit.text.format import stamp
from searchkit.text.sanitize import safe


class Beside(Wire, frozen=True, kw_only=True):
    """A step that is quoted beside a passage."""

    uuid: str
    kind: str
    tool: str | None
    is_error: bool
    text: str


class Excerpt(Wire, frozen=True, kw_only=True):
    """A passage with the question that led to it, the steps, the outcome, and where it is from."""

    number: int
    session: str | None
    agent: str | None
    file: str
    uuid: str
    part: str
    kind: str
    role: str
    tool: str | None
    is_error: bool
    timestamp: Time
    project: str | None
    branch: str | None
    title: str | None
    agent_app: str | None
    files: list[str]
    question: str | None
    passage: str | None
    beside: list[Beside]
    steps: list[str]
    outcome: str | None
    score: float
    is_gone: bool


class Pack(Wire, frozen=True, kw_only=True):
    """What another agent should know; its tokens are those of the same pack as Markdown."""

    query: str
    tokens: int
    max_tokens: int
    tokenizer: str
    is_sure: Annotated[
        bool, Meta(description="Whether the best passage is sure to be about the query; else these are the nearest.")
    ]
    excerpts: list[Excerpt]
    empty_because: EmptyBecause | None
    respelled: dict[str, str]


def pack(found: packs.Pack) -> Pack:
    """Make a pack."""
    return Pack(
        query=found.answer.query.text,
        tokens=found.tokens,
        max_tokens=found.max_tokens,
        tokenizer=tokens.name(),
        is_sure=found.is_sure,
        excerpts=[_excerpt(one) for one in found.excerpts],
        empty_because=empty_because(found.answer),
        respelled=dict(found.answer.respelled),
    )


def _excerpt(one: packs.Excerpt) -> Excerpt:
    stored, session = one.shown.stored, one.session
    part, context = stored.part, stored.link.context
    home = stored.link.places[0]
    quotations = [entry for entry in one.entries if isinstance(entry, packs.Quotation)]
    return Excerpt(
        number=one.number,
        session=home.session,
        agent=home.agent,
        file=home.file,
        uuid=part.uuid,
        part=stored.id,
        kind=part.kind.value,
        role=part.role.value,
        tool=part.tool,
        is_error=part.is_error,
        timestamp=stamp(stored.link.time),
        project=session.project if session else context.cwd,
        branch=context.branch,
        title=session.title if session else None,
        agent_app=session.app if session else None,
        files=list(one.files),
        question=_quoted(one, packs.Place.QUESTION),
        passage=_quoted(one, packs.Place.PASSAGE),
        beside=[_beside(entry) for entry in quotations if entry.place is packs.Place.BESIDE],
        steps=[line for entry in one.entries if isinstance(entry, Folded) and (line := done(entry))],
        outcome=_quoted(one, packs.Place.OUTCOME),
        score=round(one.shown.ranked.score, 4),
        is_gone=session.is_gone if session else False,
    )


def _quoted(one: packs.Excerpt, place: packs.Place) -> str | None:
    text = one.quoted(place)
    return None if text is None else safe(text)


def _beside(quotation: packs.Quotation) -> Beside:
    part = quotation.stored.part
    return Beside(
        uuid=part.uuid, kind=part.kind.value, tool=part.tool, is_error=part.is_error, text=safe(quotation.text)
    )
