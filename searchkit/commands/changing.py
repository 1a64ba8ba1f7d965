"""How commands that change files outside of the index do so: shown first, asked, and done."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from searchkit.commands.installing import Change
from searchkit.commands.printing import print_json, print_lines, say
from searchkit.errors import UsageError
from searchkit.render.plain import safe

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def change(
    target: Path,
    changes: Sequence[Change],
    carry_out: Callable[[], Path | None],
    *,
    as_json: bool,
    yes: bool,
    dry_run: bool,
) -> bool:
    """Show changes, make them if that is wanted, and say whether they were made."""
    if not as_json:
        for one in changes:
            print_lines(_coloured(line) for line in one.diff())
    is_done = bool(changes) and not dry_run and (yes or _confirmed())
    kept = carry_out() if is_done else None
    if as_json:
        told = [{"path": one.path, "change": one.kind, "diff": one.diff()} for one in changes]
        print_json({"target": str(target), "changes": told, "is_done": is_done, "copies": str(kept) if kept else None})
    elif kept:
        say(f"Copies of what was there are in {kept}.")
    return is_done


def _coloured(line: str) -> str:
    return click.style(safe(line), fg=_COLOURS.get(line[:1]))


def _confirmed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("this asks before it changes anything, and there is no terminal to ask at", "add --yes")
    return click.confirm("Do it?", err=True)
