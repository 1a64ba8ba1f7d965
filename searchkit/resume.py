"""The command that reopens a session in Claude Code."""

import shlex

import msgspec

from searchkit.types import Heading, Session


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """A session that may be reopened, and what stands in the way or is worth knowing before."""

    session: Session
    has_directory: bool
    is_interrupted: bool
    forked_from: str | None = None
    worktree: str | None = None


def command(session: Heading) -> str:
    """Write the line for a shell; Claude Code finds a session only from the directory of its project."""
    reopen = shlex.join(arguments(session))
    return f"cd {shlex.quote(session.project)} && {reopen}" if session.project else reopen


def arguments(session: Heading) -> list[str]:
    """List the program and its arguments, to be run in the directory of the project."""
    return ["claude", "--resume", session.id]
