"""What `show ID --json` prints: a conversation with named fields, a promise to the programs that read them."""

from searchkit.conversation import resume
from searchkit.conversation.types import Branch, Conversation, Entry, Fix, Said
from searchkit.render.answer_json import Fields, agent_fields, entry_fields
from searchkit.text.format import stamp


def fields(found: Conversation, is_full: bool) -> Fields:
    """Show a conversation; what was asked for is given whole, other texts only if all is wanted."""
    session = found.session
    return {
        "session": session.id if session else None,
        "title": session.title if session else None,
        "project": session.project if session else None,
        "branch": session.branch if session else None,
        "agent_app": session.app if session else None,
        "is_gone": session.is_gone if session else None,
        "resume": resume.command(session) if session else None,
        "agent": found.above[-1].name if found.above else None,
        "above": [agent_fields(agent) for agent in found.above],
        "thread": [entry_fields(entry, is_full or _is_hit(entry)) for entry in found.entries],
        "earlier": found.earlier,
        "later": found.later,
        "branches": [_branch(branch) for branch in found.branches],
        "fixes": [_fix(fix, is_full) for fix in found.fixes],
        "also_in": list(found.also_in),
        "abandoned": found.left_at is not None,
        "left_at": found.left_at,
    }


def _is_hit(entry: Entry) -> bool:
    return isinstance(entry, Said) and entry.is_hit


def _branch(branch: Branch) -> Fields:
    return {
        "at": branch.at,
        "first": branch.first,
        "records": branch.records,
        "ended": stamp(branch.ended),
        "session": branch.session,
        "abandoned": branch.is_abandoned,
    }


def _fix(fix: Fix, is_full: bool) -> Fields:
    several = {
        "failed_call": fix.failed_call,
        "failed": fix.failed,
        "passed_call": fix.passed_call,
        "passed": fix.passed,
    }
    told = {name: entry_fields(Said(stored=stored), is_full) for name, stored in several.items()}
    return {"edits": fix.edits, **told}
