"""Long results in a pager, where somebody sits before a terminal; in a pipe, never."""

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from searchkit.cli.console import Audience
from searchkit.text.sanitize import printed

if TYPE_CHECKING:
    from subprocess import Popen

DEFAULT_PAGER = "less -R"
# What git sets as well, unless the user has: end where all fits, show colours, leave the text on the screen.
LESS = "FRX"


def print_paged(lines: Iterable[str], reader: Audience) -> None:
    """Print lines for somebody, in a pager if there are more than the terminal has."""
    arguments = _arguments() if sys.stdout.isatty() and sys.stdin.isatty() else []
    if not arguments:
        reader.print(lines)
        return
    following = iter(lines)
    # A line is left for the prompt of the shell.
    first = list(islice(following, shutil.get_terminal_size().lines - 1))
    second = list(islice(following, 1))
    pager = _started(arguments) if second else None
    if pager is None:
        reader.print(chain(first, second, following))
    else:
        _feed(pager, chain(first, second, following), reader.is_coloured)


def _arguments() -> list[str]:
    """Return the pager with its arguments; nothing where the user wants none."""
    try:
        return shlex.split(os.environ.get("PAGER", DEFAULT_PAGER))
    except ValueError:
        return []


def _started(arguments: list[str]) -> "Popen[bytes] | None":
    """Start a pager; None where it cannot be run."""
    # Few results are so long.
    from subprocess import PIPE, Popen

    with suppress(OSError):
        return Popen(arguments, stdin=PIPE, env={"LESS": LESS, **os.environ})
    return None


def _feed(pager: "Popen[bytes]", lines: Iterator[str], is_coloured: bool) -> None:
    """Hand lines to a pager until it has seen enough, and wait for it to end."""
    # An interrupt is for the pager: leaving before it would leave the terminal as the pager had it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert pager.stdin is not None
        with suppress(BrokenPipeError), pager.stdin as file:
            for line in lines:
                shown = printed(line if is_coloured else click.unstyle(line))
                file.write(f"{shown}\n".encode(sys.stdout.encoding or "utf-8", "replace"))
        pager.wait()
    finally:
        signal.signal(signal.SIGINT, before)
