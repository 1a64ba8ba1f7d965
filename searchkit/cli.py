"""The command line: finds the command that is meant, runs it, and turns what goes wrong into words and a status."""

import logging
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from searchkit import __version__
from searchkit.commands import INTERRUPTED, WENT_WRONG
from searchkit.commands.printing import complain, print_json
from searchkit.errors import SearchkitError, UsageError
from searchkit.render import json

# Each is a module of searchkit.commands that holds a command of its name.
COMMANDS = (
    "completion",
    "context",
    "demo",
    "doctor",
    "index",
    "prune",
    "resume",
    "search",
    "sessions",
    "show",
    "stats",
    "status",
    "tree",
)


def main() -> NoReturn:
    """Run the command line and leave with the status that others rely on."""
    wants_json = "--json" in sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        # Text that the terminal's encoding lacks must not end in a traceback.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING, stream=sys.stderr)
    try:
        color = False if os.environ.get("NO_COLOR") else None
        sys.exit(cli.main(prog_name="searchkit", standalone_mode=False, color=color) or 0)
    except SearchkitError as error:
        if wants_json:
            print_json(json.error(error))
        complain(error.message, error.hint)
    except click.ClickException as error:
        if wants_json:
            print_json(json.error(UsageError(error.format_message(), "searchkit --help lists commands and options")))
        error.show()
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted. What was read is kept; the next run goes on from there.", err=True)
        sys.exit(INTERRUPTED)
    except Exception as error:  # the outermost shell: whatever it is, it is not "nothing found"
        failure = SearchkitError(f"{type(error).__name__}: {error}", "this is a fault of searchkit; please report it")
        if wants_json:
            print_json(json.error(failure))
        logging.getLogger("searchkit").debug("unexpected", exc_info=True)
        complain(failure.message, failure.hint)
    sys.exit(WENT_WRONG)


class Commands(click.Group):
    """A group that imports a command only when it is run, and all of them only when help lists them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every command."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, or return None for what is none."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"searchkit.commands.{cmd_name}"), cmd_name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="searchkit")
def cli() -> None:
    """Search everything Claude Code wrote, also what it has since deleted."""


if __name__ == "__main__":
    main()
