"""`searchkit keep`: lets Claude Code keep its transcripts."""

import os
from functools import partial
from pathlib import Path

import click

from searchkit.cli import keeping
from searchkit.cli.changing import change, sure_options
from searchkit.cli.engine import opened
from searchkit.cli.options import root_option
from searchkit.cli.printing import say
from searchkit.types import FOREVER_DAYS, MIN_DAYS


@click.command()
@sure_options
@root_option
@click.option(
    "--days",
    type=click.IntRange(MIN_DAYS, FOREVER_DAYS),
    default=FOREVER_DAYS,
    show_default=True,
    help="Keep them for so many days; a longer time that is set already stays.",
)
def keep(index: str | None, as_json: bool, yes: bool, dry_run: bool, roots: tuple[str, ...], days: int) -> int:
    """Let Claude Code keep its transcripts; shows the change of its settings first, and asks.

    Claude Code deletes transcripts after 30 days unless cleanupPeriodDays in settings.json says otherwise. That
    number is raised for each root, and all else in the file stays as it is, byte for byte.
    """
    with opened(index, roots) as engine:
        places = engine.roots
    target = Path(os.path.commonpath(places))
    plan = partial(keeping.to_keep, roots=places, days=days)
    done = change(plan, keeping.keep, as_json=as_json, yes=yes, dry_run=dry_run, target=target)
    if not as_json:
        if not done.changes:
            say(f"Claude Code keeps transcripts for {days:,} days or longer already.")
        elif done.is_done:
            say(f"From its next start on, Claude Code keeps transcripts for {days:,} days.")
    return 0
