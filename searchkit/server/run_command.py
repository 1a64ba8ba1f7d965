"""Runs a command for a client of the resident process, as if it had been typed here."""

import os
import sys
import time
from collections.abc import Iterable, Mapping
from contextvars import copy_context
from typing import Any

import click
import msgspec

from searchkit import __version__
from searchkit.cli.commands import NotHere
from searchkit.cli.console import DEFAULT_WIDTH, MOST_WIDTH, Audience, address, leaving, lend
from searchkit.engine import Engine
from searchkit.errors import UsageError

# Whether the code that the process runs is still that on the disk: searchkit may be upgraded under it.


# Looking at the files of 240 modules takes a millisecond: too long to do it for every look around or question.
_last: dict[str, Any] = {"at": float("-inf"), "verdict": False}
_seen: dict[str, int] = {}


def is_outdated(after_seconds: float = 0.0) -> bool:
    """Say whether a module of ours changed or went since it was first looked at; so long, the last verdict holds."""
    if time.monotonic() - _last["at"] >= after_seconds:
        _last.update(verdict=_is_other(), at=time.monotonic())
    return bool(_last["verdict"])


def _is_other() -> bool:
    loaded = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "searchkit"]
    files = [file for module in loaded if (file := getattr(module, "__file__", None))]
    try:
        now = {file: os.stat(file).st_mtime_ns for file in files}
    except OSError:
        return True
    return any(_seen.setdefault(file, written) != written for file, written in now.items())


# An upgrade takes longer than this.
OUTDATED_SECONDS = 1.0


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A command, and what is known of the terminal it was typed at."""

    version: str
    index: str
    arguments: list[str]
    environment: dict[str, str]
    columns: int | None
    rows: int | None = None
    is_watching: bool
    is_told: bool
    is_ascii: bool


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What the command printed where, in its order, and the status it left with."""

    status: int
    printed: list[tuple[str, str]]


class Elsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """The command is for a process of the client's own."""

    elsewhere: bool = True


def run(engine: Engine, request: bytes) -> bytes:
    """Run a command that a client sent, with an engine, and return what to send back."""
    try:
        asked = msgspec.json.decode(request, type=Asked)
    except msgspec.MsgspecError as error:
        raise UsageError(f"that is no command: {error}", "searchkit itself sends them") from error
    # Another time zone means other days, and another version, or other code of this one, may mean anything.
    is_ours = asked.version == __version__ and asked.environment.get("TZ") == os.environ.get("TZ")
    if not is_ours or is_outdated(OUTDATED_SECONDS) or asked.index != str(engine.settings.index):
        return msgspec.json.encode(Elsewhere())
    # A command would say that an index is missing which is only being rebuilt; the engine pool waits for it.
    engine.store.check()
    return msgspec.json.encode(copy_context().run(_run, engine, asked))


def _run(engine: Engine, asked: Asked) -> Said | Elsewhere:
    # What runs commands takes a while to import, and the process may be asked for other things first.
    from searchkit.cli import main

    client = Client(asked)
    address(client)
    lend(engine)
    try:
        return Said(status=main.run(asked.arguments), printed=client.printed)
    except NotHere:
        return Elsewhere()


class Client(Audience):
    """The terminal of a client; what is printed is kept for it."""

    def __init__(self, asked: Asked) -> None:
        """Take what is known of the terminal."""
        self._asked = asked
        self.printed: list[tuple[str, str]] = []

    @property
    def environment(self) -> Mapping[str, str]:
        """What was set in the shell of the client."""
        return self._asked.environment

    @property
    def width(self) -> int:
        """How many columns a line may take."""
        return min(self._asked.columns or DEFAULT_WIDTH, MOST_WIDTH)

    @property
    def rows(self) -> int | None:
        """How many lines the screen of the client has."""
        return self._asked.rows if self._asked.is_watching else None

    @property
    def is_watching(self) -> bool:
        """Whether the client prints to a terminal."""
        return self._asked.is_watching

    @property
    def is_ascii(self) -> bool:
        """Whether the terminal has no other characters than those of ASCII."""
        return self._asked.is_ascii

    def print(self, lines: Iterable[str], is_masked: bool = False) -> None:
        """Keep lines of a result."""
        self._keep("out", lines, self._asked.is_watching, is_masked)

    def page(self, lines: Iterable[str]) -> None:
        """Keep lines of a result that the client may show in a pager."""
        self._keep("page", lines, self._asked.is_watching)

    def say(self, line: str) -> None:
        """Keep what is said beside the result."""
        self._keep("err", [line], self._asked.is_told)

    def _keep(self, channel: str, lines: Iterable[str], is_seen: bool, is_masked: bool = False) -> None:
        shows_colours = is_seen and not self.environment.get("NO_COLOR")
        left = leaving(lines, is_masked)
        kept = "".join(f"{line if shows_colours else click.unstyle(line)}\n" for line in left)
        if kept:
            self.printed.append((channel, kept))
