"""Runs the command line and tells, on file descriptor 3, what the index is just doing.

With small limits a little corpus goes through all that a large one does: many batches, many
commits, a second process. The limits are found by name, wherever they are defined.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

from searchkit import cli
from searchkit.backends.embedded import EmbeddedBackend

REPORTS = 3
PHASES = ("checkpoints", "write", "settle", "follow", "close")


def main() -> None:
    """Take limits as NAME=NUMBER up to `--`, then arguments of searchkit."""
    split = sys.argv.index("--")
    limits = dict(argument.split("=") for argument in sys.argv[1:split])
    for module in [module for name, module in sys.modules.items() if name.startswith("searchkit")]:
        for name in limits.keys() & vars(module).keys():
            setattr(module, name, int(limits[name]))
    for phase in PHASES:
        setattr(EmbeddedBackend, phase, _telling(phase, getattr(EmbeddedBackend, phase)))
    sys.argv = ["searchkit", *sys.argv[split + 1 :]]
    cli.main()


def _telling(phase: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def told(*arguments: Any) -> Any:
        os.write(REPORTS, phase.encode() + b"\n")
        return method(*arguments)

    return told


if __name__ == "__main__":
    main()
