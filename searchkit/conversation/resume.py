"""The command that reopens a session in Claude Code."""

import msgspec

from searchkit.text import sanitize
from searchkit.types import Heading, Session


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """A session that may be reopened, and what stands in the way or is worth knowing before."""

    session: Session
    has_directory: bool
    is_interrupted: bool
    forked_from: str | None = None
    worktree: str | None = None


def command(session: Heading) -> str | None:
    """Write the line for a shell; Claude Code finds a session only from the directory of its project.

    There is none for a session that `refusal` says something about.
    """
    words = arguments(session)
    reopen = sanitize.command_line(*words) if words else None
    change = sanitize.command_line("cd", sanitize.path(session.project)) if session.project else None
    if reopen is None or (session.project and change is None):
        return None
    return f"{change} && {reopen}" if change else reopen


def arguments(session: Heading) -> list[str] | None:
    """List the program and its arguments, to be run in the directory of the project; None where the id is no id."""
    return ["claude", "--resume", session.id] if sanitize.is_id(session.id) else None


def refusal(session: Heading) -> str | None:
    """Say why there is no command that reopens a session, if there is none: its transcript may say anything."""
    if not sanitize.is_id(session.id):
        return "the id of that session is none that Claude Code gives, so no command is made of it"
    if command(session) is None:
        return "the directory of that session has hidden characters in its name, so no command is made of it"
    return None
