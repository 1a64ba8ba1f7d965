"""`searchkit sessions`: lists sessions."""

import click

from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.console import audience, opened, print_json, print_lines, say, warn
from searchkit.cli.options import Question, by_title, common, filter_options, understood, words_argument
from searchkit.render import search, terminal


@click.command(cls=Question)
@common
@words_argument(is_required=False)
@filter_options
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many sessions.")
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
