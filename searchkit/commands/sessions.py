"""`searchkit sessions`: lists sessions."""

import time

import click

from searchkit.commands import NOTHING_FOUND
from searchkit.commands.options import common
from searchkit.commands.printing import print_json, print_lines, width
from searchkit.engine import Engine
from searchkit.questions import Condition, Filter
from searchkit.render import json, terminal


@click.command()
@common
@click.option("--project", help="Part of the project's path.")
@click.option("--branch", help="Part of the branch's name.")
@click.option("--model", help="Part of the model's name.")
@click.option("--title", help="Part of the title.")
@click.option("--file", help="Part of the path of a file that the session touched.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many sessions.")
def sessions(index: str | None, as_json: bool, limit: int, **filters: str | None) -> int:
    """List sessions, newest first."""
    with Engine(index) as engine:
        asked = tuple(Filter(name=name, values=(value,)) for name, value in filters.items() if value)
        found = engine.sessions(Condition(filters=asked), limit)
        if as_json:
            print_json(json.sessions(found))
        else:
            print_lines(terminal.sessions(found, width(), time.time()))
            if not found:
                click.echo("No session is meant by that.", err=True)
    return 0 if found else NOTHING_FOUND
