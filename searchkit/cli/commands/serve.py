"""`searchkit serve` and `status`: the process that keeps an index open, and what is indexed and how far."""

import time
from pathlib import Path

import click

from searchkit import config
from searchkit.backends.registry import find_store
from searchkit.cli.console import opened, print_json, print_lines, say
from searchkit.cli.options import common, root_option
from searchkit.client import control
from searchkit.client.control import health
from searchkit.render import terminal
from searchkit.render.wire.health import Serving, Stopped
from searchkit.text.secrets import revealed

MOST_PORT = 65_535
# How often a command that stays checks whether the process is still there; that also keeps it from leaving.
LOOK_SECONDS = 5.0


@click.command()
@common
@root_option
@click.option(
    "--port",
    type=click.IntRange(0, MOST_PORT),
    help="Listen on this loopback port, too; 0 is any free one. It wants a token; the address holds that of the page.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the page in a browser; any free port, unless --port.")
@click.option("--stop", "is_stopped", is_flag=True, help="End the process.")
@click.option("--foreground", is_flag=True, help="Stay until interrupted, and end the process then.")
def serve(
    index: str | None,
    as_json: bool,
    roots: tuple[str, ...],
    port: int | None,
    is_opened: bool,
    is_stopped: bool,
    foreground: bool,
) -> int:
    """Start the process that keeps the index open.

    It answers all commands, agents and the page, follows changes in the transcripts, makes vectors while nobody
    waits, and leaves by itself when nobody has asked for a while. Commands start it, too.
    """
    directory = config.resolve(roots, index).index
    if is_stopped:
        process = control.stop(directory)
        if as_json:
            print_json(Stopped(stopped=process))
        else:
            say(f"Ended process {process}." if process else "No process serves that index.")
        return 0
    find_store(directory).check()
    running = control.start(directory, roots)
    if port is None and is_opened:
        port = 0
    address = control.listen(directory, port) if port is not None else control.address(directory)
    # The address holds a token of our own.
    with revealed():
        if as_json:
            socket = control.socket(directory)
            print_json(Serving(pid=running["pid"], index=str(directory), socket=socket, address=address))
        else:
            print_lines([f"Process {running['pid']} serves {directory}", *([address] if address else [])])
    if is_opened and address:
        click.launch(str(control.first_page(directory, address)))
    if foreground:
        _stay(directory)
    return 0


def _stay(directory: Path) -> None:
    """Wait until the process is gone; interrupted, end it."""
    try:
        while control.is_running(directory):
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        control.stop(directory)


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
