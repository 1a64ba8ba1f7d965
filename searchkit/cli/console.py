"""What a command prints, for whom: a terminal, a pipe, or a client of the resident process; and the pager."""

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from searchkit import config
from searchkit.cli.commands import NotHere
from searchkit.errors import UsageError
from searchkit.query.filters import respelled
from searchkit.search.types import Answer
from searchkit.text.format import count
from searchkit.text.sanitize import one_line, printed, safe
from searchkit.text.secrets import MARK, mask, masks

if TYPE_CHECKING:
    from subprocess import Popen

    from searchkit.engine import Engine


# Whom a command talks to: somebody before a terminal, a pipe, or a client of the resident process.
#
# Commands ask here how wide a line may be and whether colours are seen, and print through it, so that they
# are the same wherever they run.

# Lines get no longer on wide terminals: they would be hard to read. The first is for where there is no terminal.
DEFAULT_WIDTH = 100
MOST_WIDTH = 120


class Audience:
    """The reader of this process's streams."""

    @property
    def environment(self) -> Mapping[str, str]:
        """What was set in the shell that the command was typed in."""
        return os.environ

    @property
    def width(self) -> int:
        """How many columns a line may take."""
        return min(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, MOST_WIDTH)

    @property
    def rows(self) -> int | None:
        """How many lines the screen has; None where nobody sees one."""
        return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).lines if self.is_watching else None

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

    def print(self, lines: Iterable[str], is_masked: bool = False) -> None:
        """Print lines of a result, of which secrets may have been masked before."""
        try:
            for line in leaving(lines, is_masked):
                click.echo(line)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of our output has seen enough. Caught here because click would leave with status 1,
            # and redirected because Python would complain when it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)

    def page(self, lines: Iterable[str]) -> None:
        """Print lines of a result, in a pager if somebody would have to scroll back."""
        # Few results are so long.

        print_paged(lines, self)

    def say(self, line: str) -> None:
        """Say something beside the result."""
        for one in leaving([line]):
            click.echo(one, err=True)


LINES_AT_ONCE = 100
# What of the lines that left was masked.
_marks: "ContextVar[set[str] | None]" = ContextVar("marks", default=None)


def leaving(lines: Iterable[str], is_masked: bool = False) -> Iterator[str]:
    """Let lines leave for a terminal, a file or a pipe, with their secrets masked; JSON was masked before."""
    following = iter(lines)
    # Many lines are looked through at once, and the first at once.
    size = 1
    while several := list(islice(following, size)):
        size = 1 if is_masked else LINES_AT_ONCE
        plain = click.unstyle("\n".join(several))
        if not is_masked and mask(plain) != plain:
            # A secret that is coloured in part is still one.
            masked = ((line, mask(click.unstyle(line))) for line in several)
            several = [line if written == click.unstyle(line) else written for line, written in masked]
            plain = click.unstyle("\n".join(several))
        if (marks := _marks.get()) is not None and MARK in plain:
            marks.update(plain[start:end] for start, end in masks(plain))
        yield from map(printed, several)


@contextmanager
def telling_of_masks() -> Iterator[None]:
    """Say at the end of a command, once, that secrets were masked in what it printed."""
    marks: set[str] = set()
    before = _marks.set(marks)
    try:
        yield
    finally:
        _marks.reset(before)
        if marks:
            masked = count(len(marks), "secret is", "secrets are")
            say(f"{masked} masked; search, show and sessions show them with --reveal.")


_present: ContextVar[Audience] = ContextVar("audience")
_own = Audience()


def audience() -> Audience:
    """Return whom the command that is running talks to."""
    return _present.get(_own)


def address(listener: Audience) -> None:
    """Let what runs in this context from now on talk to somebody else."""
    _present.set(listener)


# Long results in a pager, where somebody sits before a terminal; in a pipe, never.

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
            for line in leaving(lines):
                shown = line if is_coloured else click.unstyle(line)
                file.write(f"{shown}\n".encode(sys.stdout.encoding or "utf-8", "replace"))
        pager.wait()
    finally:
        signal.signal(signal.SIGINT, before)


# What commands print: results on stdout, everything else on stderr, and results into private files.


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of a result."""
    audience().print(lines)


def page_lines(lines: Iterable[str]) -> None:
    """Print lines of a result, in a pager where somebody would have to scroll back."""
    audience().page(lines)


def print_json(value: msgspec.Struct) -> None:
    """Print a result for programs."""
    audience().print([json_text(value)], is_masked=True)


def json_text(value: msgspec.Struct) -> str:
    """Write a result for programs, so that it can be printed on a terminal, too."""
    # What people read is printed without it.
    from searchkit.render.wire.base import encode

    return encode(value, is_indented=True)


def print_json_lines(values: Iterable[msgspec.Struct]) -> None:
    """Print many results for programs, each on a line."""
    from searchkit.render.wire.base import encode

    audience().print((encode(value) for value in values), is_masked=True)


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


def save(path: Path, lines: Iterable[str], is_masked: bool = False) -> None:
    """Write lines to a file, whole or not at all, without colours, of which secrets may have been masked before."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                written = (click.unstyle(line) for line in leaving(lines, is_masked))
                file.writelines(f"{line}\n".encode("utf-8", "replace") for line in written)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "name another file with --output") from error


# Which engine a command asks: one of its own, or the one that the resident process holds open.


_lent: "ContextVar[Engine]" = ContextVar("engine")


@contextmanager
def opened(index: str | None, roots: Sequence[str] = (), model: str | None = None) -> "Iterator[Engine]":
    """Give the engine that was lent, which is that of the index, or one that is closed afterwards."""
    engine = _lent.get(None)
    if engine is None:
        # Help and completion need no engine.
        from searchkit.engine import Engine

        with Engine(index, roots, model) as own:
            yield own
        return
    held = engine.settings
    if config.resolve([str(root) for root in roots], str(held.index), audience().environment, model) != held:
        raise NotHere
    yield engine


def lend(engine: "Engine") -> None:
    """Let commands that run in this context use an engine, which stays open after them."""
    _lent.set(engine)


def is_own() -> bool:
    """Say whether the command runs in a process of the user's own, rather than in the resident one."""
    return _lent.get(None) is None


def must_be_own() -> None:
    """Refuse to go on where the resident process runs the command: it is not to touch files of its clients."""
    if not is_own():
        raise NotHere
