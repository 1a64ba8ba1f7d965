"""`searchkit install`: lets an agent use searchkit."""

import shlex

import click

from searchkit.commands import installing
from searchkit.commands.audience import audience
from searchkit.commands.changing import change
from searchkit.commands.opening import must_be_own
from searchkit.commands.options import common
from searchkit.commands.printing import say


@click.command()
@common
@click.argument("agent", type=click.Choice(["claude"]))
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
def install(agent: str, index: str | None, as_json: bool, yes: bool, dry_run: bool) -> int:
    """Let Claude Code use searchkit; shows first what is written.

    The plugin (an MCP server, a skill and the command /recall) is put into a directory of its own below skills/ in
    Claude Code's directory, CLAUDE_CONFIG_DIR or ~/.claude. No other file is touched. With --index, that index is
    searched.
    """
    must_be_own()
    environment = audience().environment
    target = installing.place(environment)
    changes = installing.to_install(target, index)
    copies = installing.copies_directory(environment)
    is_done = change(
        target,
        changes,
        lambda: installing.install(target, changes, copies),
        as_json=as_json,
        yes=yes,
        dry_run=dry_run,
    )
    if not as_json:
        if not changes:
            say(f"It is installed already, in {target}.")
        elif is_done:
            say(f"Installed in {target}; the next session of Claude Code has it as searchkit@skills-dir.")
            server = shlex.join([*installing.command(), "mcp"])
            say(f"A version that loads no plugins from there takes: claude mcp add --scope user searchkit -- {server}")
    return 0
