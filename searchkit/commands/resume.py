"""`searchkit resume`: reopens a session."""

import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from searchkit.commands.completing import complete_session
from searchkit.commands.meant import meant
from searchkit.commands.options import common
from searchkit.commands.printing import print_json, print_lines, warn
from searchkit.engine import Engine
from searchkit.errors import UsageError
from searchkit.render import json
from searchkit.render.plain import one_line, safe
from searchkit.resume import arguments, command
from searchkit.types import Session


@click.command()
@common
@click.argument("id", shell_complete=complete_session)
@click.option("--run", is_flag=True, help="Run the command instead of printing it.")
def resume(id: str, index: str | None, as_json: bool, run: bool) -> None:
    """Print the command that reopens a session.

    ID is the id of a session, the beginning of one, or the number of a result of the last search.
    """
    with Engine(index) as engine:
        session = meant(engine, id)
    has_directory = session.project is not None and Path(session.project).is_dir()
    if session.is_gone:
        warn("the transcript is no longer on disk, so Claude Code cannot reopen the session")
    if session.project is None:
        warn("it is not known in which directory the session was")
    elif not has_directory:
        warn(f"the directory {one_line(session.project)} does not exist")
    if run:
        _run(session, has_directory)
    if as_json:
        print_json(json.resume(session, has_directory))
    else:
        print_lines([safe(command(session))])


def _run(session: Session, has_directory: bool) -> NoReturn:
    """Become Claude Code, in the directory of the session."""
    if not has_directory:
        raise UsageError("the session can be reopened only in its directory", "leave out --run to see the command")
    os.chdir(session.project or "")
    sys.stdout.flush()
    program, *_ = words = arguments(session)
    try:
        os.execvp(program, words)
    except OSError as error:
        hint = "install Claude Code, or leave out --run and run the command yourself"
        raise UsageError(f"cannot run {program}: {error.strerror}", hint) from error
