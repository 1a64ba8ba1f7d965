"""The first thing that runs: hands a command to the resident process, or loads what runs it here."""

import os
import sys

from searchkit import __version__
from searchkit.client import connect
from searchkit.errors import SearchkitError
from searchkit.system import paths

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn


def main() -> "NoReturn":
    """Run the command line."""
    try:
        status = _answered()
        if status is None:
            from searchkit.system.process import spare

            spare()
            from searchkit.cli.main import main as run_here

            run_here()
    except KeyboardInterrupt:
        # Imports take most of the time of a short command.
        status = 130
    sys.exit(status)


def _answered() -> int | None:
    if sys.argv[1:2] == ["mcp"]:
        from searchkit.mcp import bridge

        if bridge.is_plain(sys.argv[2:]):
            return bridge.main(sys.argv[2:])
    return answered(sys.argv[1:])


# The resident process runs a command, and what it printed is printed as if the command had run here.


# What reads the index, and does nothing else. What the resident process cannot do of it, it leaves to us.
COMMANDS = frozenset({"context", "resume", "search", "sessions", "show", "stats", "status", "tree"})
OWN_OPTIONS = frozenset({"--no-resident", "-h", "--help"})
# What a command is told of the shell that it was typed in, beside the variables of the agent programs.
VARIABLES = (
    "HOME", "LOCALAPPDATA", "NO_COLOR", "SEARCHKIT_MODE", "SEARCHKIT_MODEL", "SEARCHKIT_NO_VECTORS", "SEARCHKIT_ROOTS",
    "TERM", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
)  # fmt: skip
RUN = "/v1/run"


def answered(arguments: "Sequence[str]") -> int | None:
    """Return the status of a command that the resident process ran, or None where it is to be run here.

    A process that is not there yet is started, for the next command.
    """
    if (
        not arguments
        or arguments[0] not in COMMANDS
        or OWN_OPTIONS.intersection(arguments)
        or os.environ.get(connect.SWITCH)
    ):
        return None
    try:
        index = paths.index_directory(_index_option(arguments), os.environ)
    except SearchkitError:
        return None
    # Only to ask the process.
    import json

    try:
        status, body = connect.ask(index, "POST", RUN, json.dumps(_request(arguments, index)).encode())
        reply: dict[str, Any] = json.loads(body)
    except connect.NobodyThere:
        # Only where a process may have to be started.
        from searchkit.backends.registry import is_local_index

        if is_local_index(index):
            connect.start(index)
        return None
    except (connect.NoAnswer, ValueError) as fault:
        sys.stderr.write(f"note: the resident process gave no answer ({fault}); this comes without it\n")
        return None
    return _printed(reply) if status == 200 and "printed" in reply else None


def _index_option(arguments: "Sequence[str]") -> str | None:
    """Return what --index says, as click would read it."""
    said = None
    for number, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument.startswith("--index="):
            said = argument.partition("=")[2]
        elif argument == "--index" and number + 1 < len(arguments):
            said = arguments[number + 1]
    return said


def _request(arguments: "Sequence[str]", index: str) -> "dict[str, Any]":
    from searchkit.sources.apps import variables

    return {
        "version": __version__,
        "index": index,
        "arguments": list(arguments),
        "environment": {name: os.environ[name] for name in (*VARIABLES, *variables()) if name in os.environ},
        "columns": _size(0, "COLUMNS"),
        "rows": _size(1, "LINES"),
        "is_watching": sys.stdout.isatty(),
        "is_told": sys.stderr.isatty(),
        "is_ascii": _is_ascii(),
    }


def _size(number: int, variable: str) -> int | None:
    """Return how wide or how high the terminal is, as `shutil` does, or None where there is none."""
    said = os.environ.get(variable, "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno())[number] or None  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return None


def _is_ascii() -> bool:
    try:
        "│├└─●○…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def _printed(reply: "dict[str, Any]") -> int:
    """Print what a command printed, in its order, and return its status."""
    for stream in (sys.stdout, sys.stderr):
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    try:
        for channel, text in reply["printed"]:
            if channel == "page" and sys.stdout.isatty():
                from searchkit.cli.console import Audience
                from searchkit.text.secrets import revealed

                # The resident process masked what is to be masked.
                with revealed():
                    Audience().page(text.splitlines())
            else:
                stream = sys.stderr if channel == "err" else sys.stdout
                stream.write(text)
                stream.flush()
    except BrokenPipeError:
        # Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return int(reply["status"])


if __name__ == "__main__":
    main()
