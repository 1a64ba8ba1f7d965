"""The options that several commands take."""

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def common(command: Command) -> Command:
    """Add what every command takes."""
    # Whoever hands commands to the resident process has read it before.
    command = click.option("--no-resident", is_flag=True, expose_value=False, help="Do it in this process.")(command)
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")(command)
    return click.option("--index", metavar="DIR", help="Where the index is.")(command)


root_option = click.option("--root", "roots", metavar="DIR", multiple=True, help="A directory that holds projects/.")
rerank_option = click.option(
    "--rerank",
    "reranker",
    metavar="MODEL",
    default="",
    help="Let a cross-encoder, by name or path, reorder the first results.",
)
