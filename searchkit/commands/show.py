"""`searchkit show`: a message inside its conversation."""

import time

import click

from searchkit.commands import NOTHING_FOUND
from searchkit.commands.last import is_number, recall
from searchkit.commands.options import common
from searchkit.commands.printing import print_json, print_lines, width
from searchkit.engine import Engine
from searchkit.render import conversation


@click.command()
@common
@click.argument("id")
@click.option("--before", default=3, show_default=True, type=click.IntRange(0, 1000), help="Turns before it.")
@click.option("--after", default=3, show_default=True, type=click.IntRange(0, 1000), help="Turns after it.")
@click.option("--full", is_flag=True, help="Show long texts whole.")
def show(id: str, index: str | None, as_json: bool, before: int, after: int, full: bool) -> int:
    """Show a message inside its conversation.

    ID is the id of a message or of a part of it, the beginning of one, or the number of a result of the
    last search.
    """
    with Engine(index) as engine:
        uuid = recall(engine.settings.index, int(id)).uuid if is_number(id) else id.partition("#")[0]
        found = engine.show(uuid, before, after)
        if as_json:
            print_json(conversation.fields(found, full))
        else:
            print_lines(conversation.lines(found, width(), time.time(), full))
    if not found.turns:
        click.echo("That message says nothing: there is no text in it.", err=True)
    return 0 if found.turns else NOTHING_FOUND
