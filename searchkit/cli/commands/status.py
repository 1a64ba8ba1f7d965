"""`searchkit status`: says what is indexed and how far."""

import click

from searchkit.cli.engine import opened
from searchkit.cli.options import common, root_option
from searchkit.cli.output import print_json, print_lines
from searchkit.client.control import health
from searchkit.render import terminal


@click.command()
@common
@root_option
def status(index: str | None, as_json: bool, roots: tuple[str, ...]) -> None:
    """Say what is indexed and how far."""
    with opened(index, roots) as engine:
        found = engine.status()
        running = health(engine.settings.index)
        if as_json:
            from searchkit.render.wire import health as wire

            print_json(wire.status(found, wire.resident(running)))
        else:
            print_lines(terminal.status(found))
            print_lines([terminal.served(running["pid"] if running else None)])
