"""`searchkit demo`: a tour over bundled sample transcripts."""

import time
from importlib import resources

import click

from searchkit import config
from searchkit.commands.options import common
from searchkit.commands.printing import print_json, print_lines, width
from searchkit.engine import Engine
from searchkit.render import json, terminal

QUESTIONS = (
    "who turned off certificate verification",
    "why were customers charged twice",
    "why was the product list slow",
)


@click.command()
@common
def demo(index: str | None, as_json: bool) -> None:
    """Show searches over bundled sample transcripts."""
    place = index or str(config.resolve().index.with_name("searchkit-demo"))
    with (
        resources.as_file(resources.files("searchkit") / "sample") as sample,
        Engine(place, [sample]) as engine,
    ):
        engine.index()
        answers = {question: engine.search(question, 2) for question in QUESTIONS}
        if as_json:
            counts = engine.counts()
            print_json({"searches": [json.search(asked, found, counts, 0, 0) for asked, found in answers.items()]})
            return
        for question, found in answers.items():
            click.secho(f"\n$ searchkit search {question}\n", bold=True)
            print_lines(terminal.results(found, question, width(), time.time()))
    click.echo(f"Try it: searchkit search --index {place} WORDS", err=True)
