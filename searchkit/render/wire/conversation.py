"""What `show ID --json` prints: a message inside its conversation."""

from searchkit.conversation import resume
from searchkit.conversation import types as conversations
from searchkit.render.wire.base import Agent, Entry, Time, Wire, agent, entry
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
