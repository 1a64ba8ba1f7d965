"""`searchkit resume`: reopens a session."""

import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from searchkit.commands.completing import complete_session
from searchkit.commands.last import is_number, recall
from searchkit.commands.options import common
from searchkit.commands.printing import print_json, print_lines, warn
from searchkit.engine import Engine
from searchkit.errors import UsageError
from searchkit.questions import Condition, Filter
from searchkit.render import json
from searchkit.render.plain import day, one_line, safe
from searchkit.resume import arguments, command
from searchkit.types import Session

# Sessions that are listed where a beginning of an id could mean several.
MOST_CANDIDATES = 10


@click.command()
@common
@click.argument("id", shell_complete=complete_session)
@click.option("--run", is_flag=True, help="Run the command instead of printing it.")
def resume(id: str, index: str | None, as_json: bool, run: bool) -> None:
    """Print the command that reopens a session.

    ID is the id of a session, the beginning of one, or the number of a result of the last search.
    """
    with Engine(index) as engine:
        session = _find(engine, id)
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


def _find(engine: Engine, asked: str) -> Session:
    """Find the session that is meant, or say which could be."""
    if is_number(asked):
        asked = recall(engine.settings.index, int(asked)).session or ""
        if not asked:
            raise UsageError("that result belongs to no session", "searchkit sessions lists those there are")
    named = engine.named([asked])
    if asked in named:
        return named[asked]
    condition = Condition(filters=(Filter(name="session", values=(asked,)),))
    found = engine.sessions(condition, MOST_CANDIDATES + 1) if asked else []
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no session has an id that begins with {one_line(asked)!r}", "searchkit sessions lists them")
    listed = [f"{one.id}  {day(one.ended)}  {one_line(one.title or '')[:60]}" for one in found[:MOST_CANDIDATES]]
    more = ["and more"] if len(found) > MOST_CANDIDATES else []
    raise UsageError(f"several sessions have an id that begins with {one_line(asked)!r}", "\n  ".join(listed + more))


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
