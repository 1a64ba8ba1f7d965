"""`searchkit demo`: a tour over bundled sample transcripts."""

import time
from importlib import resources

import click

from searchkit import config
from searchkit.commands.audience import audience
from searchkit.commands.options import common
from searchkit.commands.printing import print_json, print_lines, say
from searchkit.engine import Engine
from searchkit.errors import IndexVersion
from searchkit.render import answer, answer_json

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
        try:
            engine.index()
        except IndexVersion:
            # Of an older searchkit: the sample is all that there can be in it.
            engine.index(is_rebuild=True)
        answers = {question: engine.search(question, 2) for question in QUESTIONS}
        if as_json:
            print_json({"searches": [answer_json.answer(found) for found in answers.values()]})
            return
        for question, found in answers.items():
            click.secho(f"\n$ searchkit search {question}\n", bold=True)
            print_lines(answer.answer(found, audience().width, time.time()))
    say(f"Try it: searchkit search --index {place} WORDS")
