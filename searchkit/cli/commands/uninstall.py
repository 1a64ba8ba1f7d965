"""`searchkit uninstall`: takes back what `install` did."""

import click

from searchkit.cli import plugin_files
from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.output import say
from searchkit.cli.plugin_files import change, changing_options


@click.command()
@changing_options
def uninstall(agent: str, index: str | None, as_json: bool, yes: bool, dry_run: bool) -> int:
    """Take searchkit away from Claude Code; shows first what is removed.

    Only what `searchkit install` wrote is taken away: everything else stays as it is, byte for byte. What somebody
    changed in it since is copied before.
    """
    done = change(plugin_files.to_uninstall, plugin_files.uninstall, as_json=as_json, yes=yes, dry_run=dry_run)
    if not as_json:
        if not done.changes:
            say(f"Nothing is installed in {done.target}.")
        elif done.is_done:
            say(f"Removed from {done.target}.")
    return 0 if done.changes else NOTHING_FOUND
