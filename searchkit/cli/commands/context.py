"""`searchkit context`: packs what another agent should know."""

import click

from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.commands.search import files_behind
from searchkit.cli.console import audience, must_be_own, opened, print_json, print_lines, say, warn, warn_of
from searchkit.cli.options import (
    Question,
    common,
    complete_session,
    filter_options,
    rerank_option,
    understood,
    words_argument,
)
from searchkit.config import DEFAULT_TOKENS
from searchkit.context.markdown import markdown
from searchkit.errors import TooFewTokens, UsageError
from searchkit.query.types import Condition, Filter
from searchkit.render import search
from searchkit.sources.apps import APPS
from searchkit.text.sanitize import one_line

# Where agents tell their commands which session they are run in.
CURRENT = tuple(name for app in APPS.values() for name in app.session_variables)


@click.command(cls=Question)
@common
@words_argument(is_required=True)
@click.option(
    "--max-tokens",
    default=DEFAULT_TOKENS,
    show_default=True,
    type=click.IntRange(1),
    help="How many tokens it may take, all included.",
)
@click.option("--limit", default=30, show_default=True, type=click.IntRange(1, 100), help="How many sessions at most.")
@click.option(
    "--exclude-session",
    "excluded",
    metavar="ID",
    multiple=True,
    help="Leave out this session: its id, or the beginning of it.",
    shell_complete=complete_session,
)
@click.option("--exclude-current", is_flag=True, help=f"Leave out the session that {' or '.join(CURRENT)} names.")
@filter_options
@rerank_option
def context(
    words: tuple[str, ...],
    index: str | None,
    as_json: bool,
    max_tokens: int,
    limit: int,
    excluded: tuple[str, ...],
    exclude_current: bool,
    filters: list[tuple[str, str]],
    reranker: str,
) -> int:
    """Pack what earlier sessions say about something, for another agent.

    WORDS are those of `searchkit search`. It prints the best passages as Markdown, each with the question that led
    to it, what came of it, and where it is from. With --json, too, the tokens are those of the Markdown.
    """
    query = understood(words, filters)
    # It may be too new to be indexed, and then there is nothing to leave out.
    current = (_current(),) if exclude_current else ()
    with opened(index) as engine:
        if reranker:
            must_be_own()
        for beginning in filter(None, excluded):
            if not engine.sessions(Condition(filters=(Filter(name="session", values=(beginning,)),)), limit=1):
                warn(f"no session has an id that begins with {one_line(beginning)!r}, so none is left out for it")
        try:
            found = engine.context(query, max_tokens, limit=limit, without=(*excluded, *current), rerank=reranker)
        except TooFewTokens as refused:
            raise UsageError(refused.message, f"use --max-tokens {refused.least} or more") from refused
        warn_of(found.answer)
        if as_json:
            from searchkit.render.wire.context import pack

            print_json(pack(found))
        elif found.excerpts:
            print_lines([markdown(found).rstrip("\n")])
        else:
            say(*search.reasons(found.answer, engine.values, files_behind(engine)))
    return 0 if found.excerpts else NOTHING_FOUND


def _current() -> str:
    named = [value for name in CURRENT if (value := audience().environment.get(name))]
    if not named:
        hint = "name the session with --exclude-session ID"
        raise UsageError(f"the current session is not known: {' and '.join(CURRENT)} are not set", hint)
    return named[0]
