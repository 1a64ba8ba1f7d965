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
    except KeyboardInterrupt:
        status = 130
    if status is None:
        from searchkit.cli.main import main as run_here
        from searchkit.system.process import spare

        spare()
        run_here()
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
