"""`searchkit install`: lets an agent use searchkit."""

from functools import partial

import click

from searchkit.cli import plugin_files
from searchkit.cli.output import say
from searchkit.cli.plugin_files import change, changing_options
from searchkit.text.sanitize import command_line


@click.command()
@changing_options
def install(agent: str, index: str | None, as_json: bool, yes: bool, dry_run: bool) -> int:
    """Let Claude Code use searchkit; shows first what is written.

    The plugin (an MCP server, a skill and the command /recall) is put into a directory of its own below skills/ in
    Claude Code's directory, CLAUDE_CONFIG_DIR or ~/.claude. No other file is touched. With --index, that index is
    searched.
    """
    plan = partial(plugin_files.to_install, index=index)
    done = change(plan, plugin_files.install, as_json=as_json, yes=yes, dry_run=dry_run)
    if not as_json:
        if not done.changes:
            say(f"It is installed already, in {done.target}.")
        elif done.is_done:
            say(f"Installed in {done.target}; the next session of Claude Code has it as searchkit@skills-dir.")
            server = command_line(*plugin_files.command(), "mcp") or "searchkit mcp"
            say(f"A version that loads no plugins from there takes: claude mcp add --scope user searchkit -- {server}")
    return 0
