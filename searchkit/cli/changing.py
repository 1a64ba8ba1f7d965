"""How commands that change files of an agent do so: shown first, asked, and done."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import msgspec

from searchkit.cli import plugin_files
from searchkit.cli.console import audience
from searchkit.cli.engine import must_be_own
from searchkit.cli.options import Command, common
from searchkit.cli.plugin_files import Change
from searchkit.cli.printing import print_json, print_lines, say
from searchkit.errors import UsageError
from searchkit.text.sanitize import safe

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """What there was to change and where, and whether it was done."""

    target: Path
    changes: Sequence[Change]
    is_done: bool


def changing_options(command: Command) -> Command:
    """Add whom a change is for, and how sure one is of it."""
    return sure_options(click.argument("agent", type=click.Choice(["claude"]))(command))


def sure_options(command: Command) -> Command:
    """Add how sure one is of a change."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Only show what would be changed."),
        click.option("--yes", is_flag=True, help="Do it without asking."),
        common,
    ):
        command = option(command)
    return command


def change(
    plan: Callable[[Path], Sequence[Change]],
    carry_out: Callable[[Path, Sequence[Change], Path], Path | None],
    *,
    as_json: bool,
    yes: bool,
    dry_run: bool,
    target: Path | None = None,
) -> Changed:
    """Show what a plan would change, where the plugin goes or elsewhere, and do it if that is wanted."""
    must_be_own()
    if as_json and not (yes or dry_run):
        raise UsageError("with --json nothing is shown before it is changed", "add --dry-run to see it, or --yes")
    environment = audience().environment
    target = target or plugin_files.place(environment)
    changes = plan(target)
    if not as_json:
        for one in changes:
            print_lines(_coloured(line) for line in one.diff())
    is_done = bool(changes) and not dry_run and (yes or _confirmed())
    kept = carry_out(target, changes, plugin_files.copies_directory(environment)) if is_done else None
    if as_json:
        told = [{"path": one.path, "change": one.kind, "diff": one.diff()} for one in changes]
        print_json({"target": str(target), "changes": told, "is_done": is_done, "copies": str(kept) if kept else None})
    elif kept:
        say(f"Copies of what was there are in {kept}.")
    return Changed(target=target, changes=changes, is_done=is_done)


def _coloured(line: str) -> str:
    return click.style(safe(line), fg=_COLOURS.get(line[:1]))


def _confirmed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("this asks before it changes anything, and there is no terminal to ask at", "add --yes")
    return click.confirm("Do it?", err=True)
