"""How commands print: results on stdout, complaints on stderr, and quietly away when nobody reads on."""

import os
import shutil
import sys
from collections.abc import Iterable

import click
import orjson

from searchkit.render.plain import escaped, safe

# Lines get no longer on wide terminals: they would be hard to read. The first is for where there is no terminal.
DEFAULT_WIDTH = 100
MOST_WIDTH = 120


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of a result."""
    try:
        for line in lines:
            click.echo(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough. Caught here because click would leave with status 1,
        # and redirected because Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def print_json(value: object) -> None:
    """Print a result for programs."""
    print_lines([json_text(value)])


def json_text(value: object) -> str:
    """Write a result for programs, so that it can be printed on a terminal, too."""
    return escaped(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def print_json_lines(values: Iterable[object]) -> None:
    """Print many results for programs, each on a line."""
    print_lines(escaped(orjson.dumps(value).decode()) for value in values)


def warn(message: str) -> None:
    """Say on stderr what may surprise."""
    click.echo(f"{click.style('note:', fg='yellow', bold=True)} {message}", err=True)


def complain(message: str, hint: str = "") -> None:
    """Say on stderr what is wrong and what to do."""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {safe(message)}", err=True)
    if hint:
        click.echo(f"  {safe(hint)}", err=True)


def width() -> int:
    """Return how many columns a line may take."""
    return min(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, MOST_WIDTH)
