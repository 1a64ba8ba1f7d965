"""`searchkit demo`: a tour over bundled sample transcripts."""

import time
from importlib import resources

import click

from searchkit import config
from searchkit.cli.console import audience, print_json, print_lines, say
from searchkit.cli.options import common
from searchkit.engine import Engine
from searchkit.render import search
from searchkit.text.sanitize import command_line

# Of those in tests/data/sample_questions.json, some whose answer comes first.
QUESTIONS = (
    "who turned off certificate verification",
    "process killed out of memory on edge boxes",
    "would caching have solved the slow catalogue",
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
            from searchkit.render.wire.search import Tour, answer

            print_json(Tour(searches=[answer(found) for found in answers.values()]))
            return
        for question, found in answers.items():
            print_lines(["", click.style(f"$ searchkit search {question}", bold=True), ""])
            print_lines(search.answer(found, audience().width, time.time()))
    if try_it := command_line("searchkit", "search", "--index", place, "WORDS"):
        say(f"Try it: {try_it}")
