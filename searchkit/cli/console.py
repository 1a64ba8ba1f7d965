"""Whom a command talks to: somebody before a terminal, a pipe, or a client of the resident process.

Commands ask here how wide a line may be and whether colours are seen, and print through it, so that they
are the same wherever they run.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextvars import ContextVar

import click

from searchkit.text.sanitize import printed

# Lines get no longer on wide terminals: they would be hard to read. The first is for where there is no terminal.
DEFAULT_WIDTH = 100
MOST_WIDTH = 120


class Audience:
    """Whoever reads the streams of this process."""

    @property
    def environment(self) -> Mapping[str, str]:
        """What was set in the shell that the command was typed in."""
        return os.environ

    @property
    def width(self) -> int:
        """How many columns a line may take."""
        return min(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, MOST_WIDTH)

    @property
    def is_watching(self) -> bool:
        """Whether somebody sees results as they come, rather than a program."""
        return sys.stdout.isatty()

    @property
    def is_coloured(self) -> bool:
        """Whether somebody sees colours, and wants them."""
        variables = self.environment
        return self.is_watching and not variables.get("NO_COLOR") and variables.get("TERM") != "dumb"

    @property
    def is_ascii(self) -> bool:
        """Whether what is printed can have no other characters than those of ASCII."""
        try:
            "│├└─●○…".encode(sys.stdout.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return True
        return False

    def print(self, lines: Iterable[str]) -> None:
        """Print lines of a result."""
        try:
            for line in lines:
                click.echo(printed(line))
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read our output has seen enough. Caught here because click would leave with status 1,
            # and redirected because Python would complain when it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)

    def page(self, lines: Iterable[str]) -> None:
        """Print lines of a result, in a pager if somebody would have to scroll back."""
        # Few results are so long.
        from searchkit.cli.paging import print_paged

        print_paged(lines, self)

    def say(self, line: str) -> None:
        """Say something beside the result."""
        click.echo(printed(line), err=True)


_present: ContextVar[Audience] = ContextVar("audience")
_own = Audience()


def audience() -> Audience:
    """Return whom the command that is running talks to."""
    return _present.get(_own)


def address(listener: Audience) -> None:
    """Let what runs in this context from now on talk to somebody else."""
    _present.set(listener)
