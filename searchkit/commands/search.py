"""`searchkit search`: finds messages."""

import time

import click

from searchkit.commands import NOTHING_FOUND
from searchkit.commands.options import common
from searchkit.commands.printing import print_json, print_lines, width
from searchkit.engine import Engine
from searchkit.render import json, terminal
from searchkit.render.plain import count, one_line


@click.command()
@common
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 1000), help="How many results.")
def search(words: tuple[str, ...], index: str | None, as_json: bool, limit: int) -> int:
    """Find messages by their words."""
    # Bytes that are no text come as lone surrogates, which nothing could print or search.
    asked = " ".join(words).encode("utf-8", "replace").decode()
    with Engine(index) as engine:
        started = time.monotonic()
        found = engine.search(asked, limit)
        took_ms = (time.monotonic() - started) * 1000
        if as_json:
            print_json(json.search(asked, found, engine.counts(), engine.pending(), took_ms))
        else:
            print_lines(terminal.results(found, asked, width(), time.time()))
            if not found and (pending := engine.pending()):
                click.echo(f"Nothing so far: {count(pending, 'part')} still to be indexed. Try again later.", err=True)
            elif not found:
                click.echo(f"Nothing matches {one_line(asked)[:200]!r}.", err=True)
    return 0 if found else NOTHING_FOUND
