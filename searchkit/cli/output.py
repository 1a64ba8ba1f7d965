"""What commands print: results on stdout, everything else on stderr, and results into private files."""

import os
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from searchkit.cli.console import audience
from searchkit.errors import UsageError
from searchkit.query.suggestions import respelled
from searchkit.search.types import Answer
from searchkit.text.sanitize import one_line, safe


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of a result."""
    audience().print(lines)


def print_json(value: msgspec.Struct) -> None:
    """Print a result for programs."""
    print_lines([json_text(value)])


def json_text(value: msgspec.Struct) -> str:
    """Write a result for programs, so that it can be printed on a terminal, too."""
    # What people read is printed without it.
    from searchkit.render.wire.base import encode

    return encode(value, is_indented=True)


def print_json_lines(values: Iterable[msgspec.Struct]) -> None:
    """Print many results for programs, each on a line."""
    from searchkit.render.wire.base import encode

    print_lines(encode(value) for value in values)


def say(*lines: str) -> None:
    """Say on stderr what there is to say beside a result."""
    for line in lines:
        audience().say(line)


def warn(message: str) -> None:
    """Say on stderr what may surprise."""
    say(f"{click.style('note:', fg='yellow', bold=True)} {message}")


def complain(message: str, hint: str = "") -> None:
    """Say on stderr what is wrong and what to do."""
    say(f"{click.style('error:', fg='red', bold=True)} {safe(message)}")
    if hint:
        say(f"  {safe(hint)}")


def warn_of(found: Answer) -> None:
    """Say what an answer had to do without, and which words it is for if not those that were typed."""
    for line in respelled(found.respelled):
        warn(line)
    if found.without_meaning:
        warn(f"found by words only: {one_line(found.without_meaning)}")
    if found.unjudged:
        warn(f"not reranked: {one_line(found.unjudged)}")
    if found.damage:
        warn(f"{one_line(found.damage)} is damaged; mend it: searchkit index --rebuild")


# A result in a file that only its owner can read: transcripts hold secrets.


def save(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, whole or not at all, without colours."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.writelines(f"{safe(click.unstyle(line))}\n".encode("utf-8", "replace") for line in lines)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "name another file with --output") from error
