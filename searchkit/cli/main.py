"""The command line: finds the command that is meant, runs it, and turns what goes wrong into words and a status."""

import errno
import gc
import logging
import sys
from importlib import import_module
from io import StringIO
from typing import NoReturn

import click

from searchkit import __version__
from searchkit.cli.commands import INTERRUPTED, WENT_WRONG, NotHere
from searchkit.cli.console import audience, complain, print_json, print_lines, say, telling_of_masks
from searchkit.errors import SearchkitError, UsageError
from searchkit.text.sanitize import safe
from searchkit.text.secrets import mask

# The module of cli.commands that holds each command.
COMMANDS = {
    "completion": "install",
    "context": "context",
    "demo": "demo",
    "doctor": "prune",
    "eval": "eval",
    "index": "index",
    "install": "install",
    "keep": "install",
    "mcp": "mcp",
    "prune": "prune",
    "resume": "sessions",
    "search": "search",
    "serve": "serve",
    "sessions": "sessions",
    "show": "show",
    "stats": "sessions",
    "status": "serve",
    "tree": "show",
    "uninstall": "install",
}


def main() -> NoReturn:
    """Run the command line and leave with the status that others rely on."""
    for stream in (sys.stdout, sys.stderr):
        # Text that the terminal's encoding lacks must not end in a traceback.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Harmless("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    status = run(sys.argv[1:])
    # Python would look through everything once more for garbage, which takes a tenth of the time of a search.
    gc.freeze()
    sys.exit(status)


class Harmless(logging.Formatter):
    """Writes what is logged as text: it names files, whose names may be anything."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return mask(safe(super().format(record)))


def run(arguments: list[str]) -> int:
    """Run a command, print for its audience what goes wrong, and return the status."""
    with telling_of_masks():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    wants_json = "--json" in arguments
    try:
        color = False if audience().environment.get("NO_COLOR") else None
        return int(cli.main(arguments, prog_name="searchkit", standalone_mode=False, color=color) or 0)
    except NotHere:
        raise
    except SearchkitError as error:
        if wants_json:
            _print_error(error)
        complain(error.message, error.hint)
    except click.ClickException as error:
        if wants_json:
            _print_error(UsageError(error.format_message(), "searchkit --help lists commands and options"))
        say(*_usage(error))
    except (KeyboardInterrupt, click.Abort):
        say("Interrupted.")
        return INTERRUPTED
    except OSError as error:
        # The disk is full, the file system refuses something: not a fault of the program.
        failure = SearchkitError(
            f"{error.filename or 'the file system'}: {error.strerror or error}", _system_hint(error)
        )
        if wants_json:
            _print_error(failure)
        complain(failure.message, failure.hint)
    except Exception as error:  # the outermost shell: whatever it is, it is not "nothing found"
        failure = SearchkitError(f"{type(error).__name__}: {error}", "this is a fault of searchkit; please report it")
        if wants_json:
            _print_error(failure)
        logging.getLogger("searchkit").debug("unexpected", exc_info=True)
        complain(failure.message, failure.hint)
    return WENT_WRONG


def _print_error(error: SearchkitError) -> None:
    # Only programs need it, and only when something went wrong.
    from searchkit.render.wire.base import error as wire_error

    print_json(wire_error(error))


def _system_hint(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room on that disk, then run this again; nothing is lost"
    return "see whether you may read and write there, then run this again"


def _usage(error: click.ClickException) -> list[str]:
    """Say what click has to say of a command that makes no sense to it."""
    written = StringIO()
    error.show(written)
    return written.getvalue().splitlines()


class Commands(click.Group):
    """A group that imports a command only when it is run, and all of them only when help lists them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every command."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, or return None for what is none."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"searchkit.cli.commands.{COMMANDS[cmd_name]}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; what is none may be what somebody wants to find."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            # Only needed where something was misspelt.
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f"did you mean {near[0]}?" if near else f"to look for it: searchkit search {args[0]}"
            raise click.UsageError(f"No such command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Alone, on a terminal, searchkit opens its full-screen interface.",
)
@click.option("--index", metavar="DIR", help="Where the index is, for the full-screen interface.")
@click.version_option(__version__, prog_name="searchkit")
@click.pass_context
def cli(context: click.Context, index: str | None) -> int | None:
    """Search everything Claude Code wrote, also what it has since deleted."""
    return None if context.invoked_subcommand else _interface(context, index)


def _interface(context: click.Context, index: str | None) -> int:
    """Show the full-screen interface, and do what was chosen in it; without a terminal, show help."""
    from searchkit.tui import start

    reason = start.refusal()
    if reason is not None:
        print_lines(context.get_help().splitlines())
        if reason:
            say(reason)
        return 0
    while True:
        outcome, directory = start.show(index)
        if outcome is None:
            return 0
        if outcome.action == "resume":
            return run(["resume", "--index", directory, "--run", "--", outcome.session])
        status = run([outcome.action, *(["--index", directory] if outcome.action == "index" else [])])
        if status or outcome.action == "demo":
            return status


if __name__ == "__main__":
    main()
