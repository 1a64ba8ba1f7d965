"""`searchkit stats`: figures about one's own history."""

import click

from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.console import audience, opened, print_json, print_lines, say, warn
from searchkit.cli.options import Question, by_title, common, filter_options, understood, words_argument
from searchkit.render import stats as drawing
from searchkit.render.search import unknown_values
from searchkit.types import Figures, Grouping

GROUPINGS = [by.value for by in Grouping if by is not Grouping.TOTAL]


@click.command(cls=Question)
@common
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
