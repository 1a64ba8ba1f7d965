"""`searchkit sessions`, `stats` and `resume`: which sessions there are, what they cost, how to go on with one."""

import os
import sys
from collections.abc import Iterator
from typing import NoReturn

import click

from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.console import audience, must_be_own, opened, print_json, print_lines, say, warn
from searchkit.cli.options import (
    Question,
    by_title,
    common,
    complete_session,
    filter_options,
    reveal_option,
    understood,
    words_argument,
)
from searchkit.cli.session_argument import meant
from searchkit.conversation.resume import Resumption, app, arguments, command, refusal
from searchkit.errors import UsageError
from searchkit.render import search, terminal
from searchkit.render import stats as drawing
from searchkit.render.search import unknown_values
from searchkit.text.sanitize import one_line
from searchkit.types import Figures, Grouping, Session


@click.command(cls=Question)
@common
@reveal_option
@words_argument(is_required=False)
@filter_options
@click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1), help="How many sessions.")
def sessions(
    words: tuple[str, ...], filters: list[tuple[str, str]], index: str | None, as_json: bool, limit: int
) -> int:
    """List sessions, newest first.

    WORDS are looked for in titles; filters may stand among them (project:shop after:7d -is:error).
    A filter holds for a session if it does for anything in it.
    What a session cost is what the client counted, or, with a tilde, an estimate from its tokens by list prices.
    """
    condition = by_title(understood(words, filters))
    with opened(index) as engine:
        everything = engine.sessions(condition)
        found = everything[:limit]
        costs = engine.costs([session.id for session in found])
        if as_json:
            from searchkit.render.wire.sessions import listing

            print_json(listing(found, costs))
        else:
            print_lines(terminal.sessions(found, costs, audience().width))
        if len(everything) > limit:
            say(f"{len(everything) - limit:,} more; --limit shows them")
        if not found:
            first, *others = search.no_sessions(condition, engine.values, engine.sessions)
            say(first)
            for line in others:
                warn(line)
    return 0 if found else NOTHING_FOUND


GROUPINGS = [by.value for by in Grouping if by is not Grouping.TOTAL]


@click.command(cls=Question)
@common
@reveal_option
@words_argument(is_required=False)
@click.option("--by", type=click.Choice(GROUPINGS), help="A line for each of these, instead of an overview.")
@filter_options
@click.option("--limit", default=30, show_default=True, type=click.IntRange(1), help="How many lines, with --by.")
def stats(
    words: tuple[str, ...], filters: list[tuple[str, str]], index: str | None, as_json: bool, by: str | None, limit: int
) -> int:
    """Show figures about your own history.

    Counted are prompts, responses with their tokens (each once), and tool calls. Filters choose
    sessions, as they do for the command sessions; those of models and tools also leave out what other
    models and tools did, and dates count what happened then.
    What a session cost is what the client counted, on the day on which it ended, else what its records
    say, else an estimate from its tokens by list prices, which is marked by a tilde; the table prices in
    the configuration file overrides these.

    \b
    --json prints {"total": F, "groups": {"day": [{"label": "2026-03-01", ...F}, ...], ...}}
    with groups day, project, model and tool, or the one of --by, and with F being
    {"sessions", "prompts", "responses", "calls", "failed",
     "tokens": {"input", "output", "cache_read", "cache_write"}, "cost",
     "estimated" (so much of the cost), "unpriced" (responses), "api_ms", "output_per_second"}
    """
    query = understood(words, filters)
    condition = by_title(query)
    with opened(index) as engine:
        wanted = (Grouping(by),) if by else drawing.OVERVIEW
        found = engine.figures(condition, (Grouping.TOTAL, *wanted))
        total, groups = found[Grouping.TOTAL].get("", Figures()), {one: found[one] for one in wanted}
        if as_json:
            from searchkit.render.wire import sessions as wire

            print_json(wire.stats(total, {one: drawing.ordered(labelled, one) for one, labelled in groups.items()}))
        elif not total.sessions:
            say("There is nothing to count.")
        elif by:
            print_lines(drawing.table(groups[Grouping(by)], Grouping(by), limit, audience().width))
        else:
            print_lines(drawing.overview(total, groups, audience().width))
        if not total.sessions:
            for line in unknown_values(condition, engine.values):
                warn(line)
    return 0 if total.sessions else NOTHING_FOUND


@click.command()
@common
@reveal_option
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
