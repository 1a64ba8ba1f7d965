"""What `sessions`, `prune`, `resume` and `stats` print with `--json`."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from searchkit import types
from searchkit.conversation.resume import Resumption, command
from searchkit.render.wire.base import Time, Wire
from searchkit.text.format import stamp

Dollars = Annotated[float | None, Meta(description="In dollars.")]
Estimated = Annotated[float, Meta(description="The part of the cost that is an estimate by list prices.")]
Unpriced = Annotated[int, Meta(description="Responses whose cost nobody said and whose model has no price.")]
ApiMs = Annotated[int | None, Meta(description="How long the client waited for the model, where it says so.")]
OutputPerSecond = Annotated[float | None, Meta(description="Tokens written in a second of api_ms.")]


class Cost(Wire, frozen=True, kw_only=True):
    """What a session cost in dollars, without what it inherited from the session that it was forked from."""

    usd: float
    is_estimate: bool
    inherited: float


class Session(Wire, frozen=True, kw_only=True):
    """A session."""

    session: str
    title: str | None
    project: str | None
    branch: str | None
    agent_app: str
    started: Time
    ended: Time
    records: int
    prompts: int
    agents: int
    is_gone: bool
    cost: Cost | None
    api_ms: ApiMs
    output_per_second: OutputPerSecond


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
    agent_app: str
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
    cost: Dollars
    estimated: Estimated
    unpriced: Unpriced
    api_ms: ApiMs
    output_per_second: OutputPerSecond


class Total(Wire, frozen=True, kw_only=True):
    """types.Figures of everything that was asked for."""

    sessions: int
    prompts: int
    responses: int
    calls: int
    failed: int
    tokens: Tokens
    cost: Dollars
    estimated: Estimated
    unpriced: Unpriced
    api_ms: ApiMs
    output_per_second: OutputPerSecond


class Group(Wire, frozen=True, kw_only=True):
    """types.Figures of one day, project, model or tool."""

    label: Annotated[str | None, Meta(description="What has no label, such as a day, is under null.")]
    sessions: int
    prompts: int
    responses: int
    calls: int
    failed: int
    tokens: Tokens
    cost: Dollars
    estimated: Estimated
    unpriced: Unpriced
    api_ms: ApiMs
    output_per_second: OutputPerSecond


class Stats(Wire, frozen=True, kw_only=True):
    """types.Figures about one's own history."""

    total: Total
    groups: dict[str, list[Group]]


def listing(found: Sequence[types.Session], costs: Mapping[str, types.Cost]) -> Listing:
    """Make a list of sessions, and what each cost."""
    return Listing(sessions=_sessions(found, costs))


def sessions(found: Sequence[types.Session], costs: Mapping[str, types.Cost], total: int) -> Sessions:
    """Make a page of sessions."""
    return Sessions(sessions=_sessions(found, costs), total=total)


def pruned(found: Sequence[types.Session], costs: Mapping[str, types.Cost], is_done: bool) -> Pruned:
    """Make a list of sessions to forget."""
    return Pruned(sessions=_sessions(found, costs), is_done=is_done)


def reopening(found: Resumption) -> Reopening:
    """Make what says how a session is reopened."""
    return Reopening(
        session=found.session.id,
        title=found.session.title,
        project=found.session.project,
        agent_app=found.session.app,
        resume=command(found.session),
        has_directory=found.has_directory,
        is_gone=found.session.is_gone,
        is_interrupted=found.is_interrupted,
        forked_from=found.forked_from,
        worktree=found.worktree,
    )


def stats(total: types.Figures, groups: Mapping[types.Grouping, Sequence[tuple[str, types.Figures]]]) -> Stats:
    """Make figures, all of them and by group."""
    return Stats(
        total=Total(sessions=total.sessions, prompts=total.prompts, **asdict(work(total))),
        groups={by.value: [_group(label, figures) for label, figures in found] for by, found in groups.items()},
    )


def work(figures: types.Figures) -> Work:
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
        estimated=figures.estimated,
        unpriced=figures.unpriced,
        api_ms=figures.api_ms or None,
        output_per_second=figures.output_per_second,
    )


def cost(found: types.Cost | None) -> Cost | None:
    """Make what a session cost."""
    return Cost(usd=found.usd, is_estimate=found.is_estimate, inherited=found.inherited) if found else None


def _group(label: str, figures: types.Figures) -> Group:
    return Group(label=label or None, sessions=figures.sessions, prompts=figures.prompts, **asdict(work(figures)))


def _sessions(found: Sequence[types.Session], costs: Mapping[str, types.Cost]) -> list[Session]:
    return [_session(one, costs.get(one.id)) for one in found]


def _session(one: types.Session, spent: types.Cost | None) -> Session:
    return Session(
        session=one.id,
        title=one.title,
        project=one.project,
        branch=one.branch,
        agent_app=one.app,
        started=stamp(one.started),
        ended=stamp(one.ended),
        records=one.records,
        prompts=one.prompts,
        agents=one.agents,
        is_gone=one.is_gone,
        cost=cost(spent),
        api_ms=spent.api_ms or None if spent else None,
        output_per_second=spent.output_per_second if spent else None,
    )
