"""The first thing that runs: a command is handed to the resident process, or what runs it here is loaded."""

import sys

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command line."""
    try:
        status = _answered()
        if status is None:
            from searchkit.cli.main import main as run_here
            from searchkit.system.imports import spare

            spare()
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
    from searchkit.cli.forward import answered

    return answered(sys.argv[1:])


if __name__ == "__main__":
    main()
