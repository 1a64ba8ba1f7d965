"""What `sessions`, `prune`, `resume` and `stats` print with `--json`."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from searchkit.conversation.resume import Resumption, command
from searchkit.render.wire.base import Time, Wire
from searchkit.text.format import stamp
from searchkit.types import Figures, Grouping
from searchkit.types import Session as StoredSession


class Session(Wire, frozen=True, kw_only=True):
    """A session."""

    session: str
    title: str | None
    project: str | None
    branch: str | None
    started: Time
    ended: Time
    records: int
    prompts: int
    agents: int
    is_gone: bool


class Listing(Wire, frozen=True, kw_only=True):
    """Sessions, newest first."""

    sessions: list[Session]


class Sessions(Listing, frozen=True, kw_only=True):
    """A page of sessions, newest first, and how many there are."""

    total: int


class Pruned(Listing, frozen=True, kw_only=True):
    """The sessions that were forgotten, or would be."""

    is_done: bool


class Reopening(Wire, frozen=True, kw_only=True):
    """How a session is reopened."""

    session: str
    title: str | None
    project: str | None
    resume: str | None
    has_directory: bool
    is_gone: bool
    is_interrupted: bool
    forked_from: str | None
    worktree: str | None


class Tokens(Wire, frozen=True, kw_only=True):
    """Tokens, counted once for each response."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class Work(Wire, frozen=True, kw_only=True):
    """What was answered and done, and what it cost."""

    responses: int
    calls: int
    failed: int
    tokens: Tokens
    cost: float | None


class Total(Wire, frozen=True, kw_only=True):
    """Figures of everything that was asked for."""

    sessions: int
    prompts: int
    responses: int
    calls: int
    failed: int
    tokens: Tokens
    cost: float | None


class Group(Wire, frozen=True, kw_only=True):
    """Figures of one day, project, model or tool."""

    label: Annotated[str | None, Meta(description="What has no label, such as a day, is under null.")]
    sessions: int
    prompts: int
    responses: int
    calls: int
    failed: int
    tokens: Tokens
    cost: float | None


class Stats(Wire, frozen=True, kw_only=True):
    """Figures about one's own history."""

    total: Total
    groups: dict[str, list[Group]]


def listing(found: Sequence[StoredSession]) -> Listing:
    """Make a list of sessions."""
    return Listing(sessions=_sessions(found))


def sessions(found: Sequence[StoredSession], total: int) -> Sessions:
    """Make a page of sessions."""
    return Sessions(sessions=_sessions(found), total=total)


def pruned(found: Sequence[StoredSession], is_done: bool) -> Pruned:
    """Make a list of sessions to forget."""
    return Pruned(sessions=_sessions(found), is_done=is_done)


def reopening(found: Resumption) -> Reopening:
    """Make what says how a session is reopened."""
    return Reopening(
        session=found.session.id,
        title=found.session.title,
        project=found.session.project,
        resume=command(found.session),
        has_directory=found.has_directory,
        is_gone=found.session.is_gone,
        is_interrupted=found.is_interrupted,
        forked_from=found.forked_from,
        worktree=found.worktree,
    )


def stats(total: Figures, groups: Mapping[Grouping, Sequence[tuple[str, Figures]]]) -> Stats:
    """Make figures, all of them and by group."""
    return Stats(
        total=Total(sessions=total.sessions, prompts=total.prompts, **asdict(work(total))),
        groups={by.value: [_group(label, figures) for label, figures in found] for by, found in groups.items()},
    )


def work(figures: Figures) -> Work:
    """Make what was answered and done."""
    return Work(
        responses=figures.responses,
        calls=figures.calls,
        failed=figures.failed,
        tokens=Tokens(
            input=figures.input,
            output=figures.output,
            cache_read=figures.cache_read,
            cache_write=figures.cache_write,
        ),
        cost=figures.cost,
    )


def _group(label: str, figures: Figures) -> Group:
    return Group(label=label or None, sessions=figures.sessions, prompts=figures.prompts, **asdict(work(figures)))


def _sessions(found: Sequence[StoredSession]) -> list[Session]:
    return [
        Session(
            session=session.id,
            title=session.title,
            project=session.project,
            branch=session.branch,
            started=stamp(session.started),
            ended=stamp(session.ended),
            records=session.records,
            prompts=session.prompts,
            agents=session.agents,
            is_gone=session.is_gone,
        )
        for session in found
    ]
