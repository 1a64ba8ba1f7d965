"""`searchkit install`, `uninstall`, `keep` and `completion`: what other programs are given of searchkit."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from searchkit.cli import plugin_files
from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.console import opened, print_json, print_lines, say
from searchkit.cli.options import VARIABLE, common, root_option
from searchkit.cli.plugin_files import Change, change, changing_options, copied, read, sure_options, write
from searchkit.errors import UsageError
from searchkit.render.wire.health import Script
from searchkit.sources.claude.retention_settings import SETTINGS, NoSettings, longer
from searchkit.sources.registry import by_app
from searchkit.text.sanitize import command_line
from searchkit.types import FOREVER_DAYS, MIN_DAYS


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


@click.command()
@sure_options
@root_option
@click.option(
    "--days",
    type=click.IntRange(MIN_DAYS, FOREVER_DAYS),
    default=FOREVER_DAYS,
    show_default=True,
    help="Keep them for so many days; a longer time that is set already stays.",
)
def keep(index: str | None, as_json: bool, yes: bool, dry_run: bool, roots: tuple[str, ...], days: int) -> int:
    """Let Claude Code keep its transcripts; shows the change of its settings first, and asks.

    Claude Code deletes transcripts after 30 days unless cleanupPeriodDays in settings.json says otherwise. That
    number is raised for each root, and all else in the file stays as it is, byte for byte.
    """
    with opened(index, roots) as engine:
        places = by_app(engine.roots).get("claude", [])
    if not places:
        raise UsageError(
            "none of the roots is one of Claude Code", "name the directory that holds projects/ with --root"
        )
    target = Path(os.path.commonpath(places))
    plan = partial(to_keep, roots=places, days=days)
    done = change(plan, raise_period, as_json=as_json, yes=yes, dry_run=dry_run, target=target)
    if not as_json:
        if not done.changes:
            say(f"Claude Code keeps transcripts for {days:,} days or longer already.")
        elif done.is_done:
            say(f"From its next start on, Claude Code keeps transcripts for {days:,} days.")
    return 0


# Writes into Claude Code's settings how long it keeps transcripts, and nothing else.


def to_keep(target: Path, roots: Sequence[Path], days: int) -> list[Change]:
    """Return what would change in the settings of all roots, by paths below `target`.

    The user's own settings get the number where they have none; those of a project only where they say a smaller one.
    """
    found = []
    for root in roots:
        if not root.is_dir():
            raise UsageError(f"{root} is not a directory", "name the directory that holds projects/ with --root")
        for name in SETTINGS:
            before = read(root / name)
            try:
                after = longer(before, days, is_added=name == SETTINGS[0])
            except NoSettings as error:
                hint = f"mend it by hand, or set cleanupPeriodDays to {days} in it: nothing was touched"
                raise UsageError(f"{root / name} is damaged: {error}", hint) from error
            found.append(Change(path=str((root / name).relative_to(target)), before=before, after=after))
    return [change for change in found if change.before != change.after]


def raise_period(target: Path, changes: Sequence[Change], copies: Path) -> Path | None:
    """Make the changes, and return where copies of the old files are; raises where a file was changed meanwhile."""
    for edit in changes:
        if read(target / edit.path) != edit.before:
            raise UsageError(f"{target / edit.path} was changed just now", "run it again: nothing was touched")
    try:
        kept = copied(target, [edit for edit in changes if edit.before is not None], copies)
        for edit in changes:
            assert edit.after is not None
            # Many keep their settings elsewhere and link to them: the link stays.
            write((target / edit.path).resolve(), edit.after)
    except OSError as error:
        raise UsageError(f"cannot write below {target}: {error}", "see who may write there") from error
    return kept


PROGRAM = "searchkit"


@click.command()
@common
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str, index: str | None, as_json: bool) -> None:
    """Print the script by which a shell completes commands, options and values.

    \b
    bash, in ~/.bashrc:                      eval "$(searchkit completion bash)"
    zsh, in ~/.zshrc:                        eval "$(searchkit completion zsh)"
    fish, in ~/.config/fish/config.fish:     searchkit completion fish | source
    """
    found = get_completion_class(shell)
    assert found is not None
    script = found(click.get_current_context().find_root().command, {}, PROGRAM, VARIABLE).source()
    if as_json:
        print_json(Script(shell=shell, script=script))
    else:
        print_lines([script])
