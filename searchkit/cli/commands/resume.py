"""`searchkit resume`: reopens a session."""

import os
import sys
from collections.abc import Iterator
from typing import NoReturn

import click

from searchkit.cli.console import must_be_own, opened, print_json, print_lines, warn
from searchkit.cli.options import common, complete_session
from searchkit.cli.session_argument import meant
from searchkit.conversation.resume import Resumption, app, arguments, command, refusal
from searchkit.errors import UsageError
from searchkit.text.sanitize import one_line
from searchkit.types import Session


@click.command()
@common
@click.argument("id", shell_complete=complete_session)
@click.option("--run", is_flag=True, help="Run the command instead of printing it.")
def resume(id: str, index: str | None, as_json: bool, run: bool) -> None:
    """Print the command that reopens a session.

    ID is the id of a session or of one of its messages, the beginning of one, or the number of a result of
    the last search.
    """
    if run:
        must_be_own()
    with opened(index) as engine:
        found = engine.resumption(meant(engine, id))
    if refused := refusal(found.session):
        raise UsageError(refused, "searchkit show tells what was said in it")
    for remark in _remarks(found):
        warn(remark)
    if run:
        _run(found.session, found.has_directory)
    if as_json:
        from searchkit.render.wire.sessions import reopening

        print_json(reopening(found))
    else:
        print_lines(filter(None, [command(found.session)]))


def _remarks(found: Resumption) -> Iterator[str]:
    """Say what stands in the way, and what is worth knowing before the session is reopened."""
    session = found.session
    if session.is_gone:
        yield f"the transcript is no longer on disk, so {app(session).title} cannot reopen the session"
    if session.project is None:
        yield "it is not known in which directory the session was"
    elif not found.has_directory:
        yield f"the directory {one_line(session.project)} does not exist"
    if found.forked_from:
        yield f"the session was forked from {one_line(found.forked_from)}, which goes on by itself"
    if found.worktree and found.worktree != session.project:
        yield f"the session worked in the worktree {one_line(found.worktree)}"
    if found.is_interrupted:
        yield "the session was interrupted: its last message still waits for an answer"


def _run(session: Session, has_directory: bool) -> NoReturn:
    """Become the program that wrote the session, in its directory."""
    if not has_directory:
        raise UsageError("the session can be reopened only in its directory", "leave out --run to see the command")
    os.chdir(session.project or "")
    sys.stdout.flush()
    words = arguments(session)
    assert words is not None
    try:
        os.execvp(words[0], words)
    except OSError as error:
        hint = f"install {app(session).title}, or leave out --run and run the command yourself"
        raise UsageError(f"cannot run {words[0]}: {error.strerror}", hint) from error
