"""`searchkit uninstall`: takes back what `install` did."""

import click

from searchkit.commands import NOTHING_FOUND, installing
from searchkit.commands.audience import audience
from searchkit.commands.changing import change
from searchkit.commands.opening import must_be_own
from searchkit.commands.options import common
from searchkit.commands.printing import say


@click.command()
@common
@click.argument("agent", type=click.Choice(["claude"]))
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
def uninstall(agent: str, index: str | None, as_json: bool, yes: bool, dry_run: bool) -> int:
    """Take searchkit away from Claude Code; shows first what is removed.

    Only what `searchkit install` wrote is taken away: everything else stays as it is, byte for byte. What somebody
    changed in it since is copied before.
    """
    must_be_own()
    environment = audience().environment
    target = installing.place(environment)
    changes = installing.to_uninstall(target)
    copies = installing.copies_directory(environment)
    is_done = change(
        target,
        changes,
        lambda: installing.uninstall(target, changes, copies),
        as_json=as_json,
        yes=yes,
        dry_run=dry_run,
    )
    if not as_json:
        if not changes:
            say(f"Nothing is installed in {target}.")
        elif is_done:
            say(f"Removed from {target}.")
    return 0 if changes else NOTHING_FOUND
