"""What `show --json` and `tree --json` print: a message inside its conversation, and a session."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from searchkit.backends.base import Stored
from searchkit.conversation import resume
from searchkit.conversation import types as conversations
from searchkit.conversation.turns import count_steps, describe
from searchkit.render import outline as ways
from searchkit.render.wire.base import Agent, Entry, Time, Wire, agent, entry
from searchkit.render.wire.sessions import ApiMs, Dollars, Estimated, OutputPerSecond, Tokens, Unpriced, work
from searchkit.text.format import stamp


class Branch(Wire, frozen=True, kw_only=True):
    """Another way that the conversation went: from which record, with which, and how far."""

    at: str | None
    first: str
    records: int
    ended: Time
    session: str | None
    abandoned: bool


class Fix(Wire, frozen=True, kw_only=True):
    """A call that failed, and the same call passing later, with so many edits between."""

    edits: int
    failed_call: Entry
    failed: Entry
    passed_call: Entry
    passed: Entry


class Conversation(Wire, frozen=True, kw_only=True):
    """A message inside its conversation, with the turns around it."""

    session: str | None
    title: str | None
    project: str | None
    branch: str | None
    agent_app: str | None
    is_gone: bool | None
    resume: str | None
    agent: str | None
    above: list[Agent]
    thread: list[Entry]
    earlier: int
    later: int
    branches: list[Branch]
    fixes: list[Fix]
    also_in: list[str]
    abandoned: bool
    left_at: str | None


def conversation(found: conversations.Conversation, is_full: bool) -> Conversation:
    """Make a conversation; what was asked for is given whole, other texts only if all is wanted."""
    session = found.session
    return Conversation(
        session=session.id if session else None,
        title=session.title if session else None,
        project=session.project if session else None,
        branch=session.branch if session else None,
        agent_app=session.app if session else None,
        is_gone=session.is_gone if session else None,
        resume=resume.command(session) if session else None,
        agent=found.above[-1].name if found.above else None,
        above=[agent(one) for one in found.above],
        thread=[entry(one, is_full or _is_hit(one)) for one in found.entries],
        earlier=found.earlier,
        later=found.later,
        branches=[_branch(branch) for branch in found.branches],
        fixes=[_fix(fix, is_full) for fix in found.fixes],
        also_in=list(found.also_in),
        abandoned=found.left_at is not None,
        left_at=found.left_at,
    )


def _is_hit(entry: conversations.Entry) -> bool:
    return isinstance(entry, conversations.Said) and entry.is_hit


def _branch(branch: conversations.Branch) -> Branch:
    return Branch(
        at=branch.at,
        first=branch.first,
        records=branch.records,
        ended=stamp(branch.ended),
        session=branch.session,
        abandoned=branch.is_abandoned,
    )


def _fix(fix: conversations.Fix, is_full: bool) -> Fix:
    return Fix(
        edits=fix.edits,
        failed_call=entry(conversations.Said(stored=fix.failed_call), is_full),
        failed=entry(conversations.Said(stored=fix.failed), is_full),
        passed_call=entry(conversations.Said(stored=fix.passed_call), is_full),
        passed=entry(conversations.Said(stored=fix.passed), is_full),
    )


# A session, all of its branches side by side. Branches are a flat list, each with the turn that it leaves from:
# programs need not follow them down, and however deep they are nested, JSON has a limit to nesting.


class Touch(Wire, frozen=True, kw_only=True):
    """A file, and what was done with it."""

    path: str
    action: str


class Turn(Wire, frozen=True, kw_only=True):
    """A turn: what was asked, what was done, and what came of it."""

    uuid: str
    timestamp: Time
    duration_ms: int | None
    left_out: Annotated[int, Meta(description="Turns before it that are not shown; full shows them.")]
    compacted: bool
    asked: Entry | None
    steps: int
    did: str
    outcome: Entry | None


class Way(Wire, frozen=True, kw_only=True):
    """A way that a session or an agent went; `at` is the turn that it leaves from."""

    at: str | None
    depth: int
    agent: Agent | None
    session: str | None
    abandoned: bool
    broken: str | None
    turns: list[Turn]


class Outline(Wire, frozen=True, kw_only=True):
    """A session turn by turn, with its branches and agents."""

    session: str
    title: str | None
    project: str | None
    branch: str | None
    agent_app: str
    started: Time
    ended: Time
    is_gone: bool
    resume: str | None
    prompts: int
    records: int
    responses: int
    calls: int
    failed: int
    tokens: Tokens
    cost: Dollars
    estimated: Estimated
    unpriced: Unpriced
    api_ms: ApiMs
    output_per_second: OutputPerSecond
    turns_ms: Annotated[int | None, Meta(description="How long its turns took, of those that say so.")]
    models: list[str]
    files: list[Touch]
    facts: dict[str, str]
    ways: list[Way]


def outline(found: conversations.Outline, is_full: bool) -> Outline:
    """Make a session, all of its turns; texts are cut unless all is wanted."""
    session = found.session
    return Outline(
        session=session.id,
        title=session.title,
        project=session.project,
        branch=session.branch,
        agent_app=session.app,
        started=stamp(session.started),
        ended=stamp(session.ended),
        is_gone=session.is_gone,
        resume=resume.command(session),
        prompts=session.prompts,
        records=session.records,
        **asdict(work(found.figures)),
        turns_ms=found.turns_ms,
        models=list(found.models),
        files=[Touch(path=touch.path, action=touch.action) for touch in found.files],
        facts=dict(found.facts),
        ways=[_way(way, is_full) for way in ways.ways(found)],
    )


def _way(way: ways.Way, is_full: bool) -> Way:
    strand = way.strand
    return Way(
        at=way.at,
        depth=way.depth,
        agent=agent(way.agent) if way.agent else None,
        session=strand.session,
        abandoned=strand.is_abandoned,
        broken=strand.ending.value if strand.ending else None,
        turns=[_turn(turn, is_full) for turn in strand.turns],
    )


def _turn(turn: conversations.Turn, is_full: bool) -> Turn:
    return Turn(
        uuid=turn.record,
        timestamp=stamp(turn.time),
        duration_ms=turn.duration_ms,
        left_out=turn.left_out,
        compacted=turn.is_compacted,
        asked=_said(turn.asked, is_full),
        steps=count_steps(turn.steps),
        did=describe(turn.steps),
        outcome=_said(turn.outcome, is_full),
    )


def _said(stored: Stored | None, is_full: bool) -> Entry | None:
    return entry(conversations.Said(stored=stored), is_full) if stored else None
