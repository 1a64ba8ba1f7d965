"""Runs the command line and tells, on file descriptor 3, what the index is just doing.

With small limits a little corpus goes through all that a large one does: many batches, many
commits, a second process. They hold in this process only.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.catalog.store import SqliteCatalog
from searchkit.backends.local.vectors import table
from searchkit.backends.local.vectors.store import LanceVectors
from searchkit.backends.local.words import store

# What reads is imported by the command that needs it, which is too late for the limits.
from searchkit.cli import main as cli
from searchkit.indexing import embed_parts, ingest, worker
from searchkit.sources import jsonl

REPORTS = 3
PHASES: dict[type, tuple[str, ...]] = {
    SqliteCatalog: ("checkpoints", "write", "settle"),
    LanceVectors: ("pending", "twins", "keep", "tidy"),
    LocalBackend: ("keep_up", "follow", "close"),
}
LIMITED = (ingest, worker, jsonl, store, embed_parts, table)


def main() -> None:
    """Take limits as NAME=NUMBER up to `--`, then arguments of searchkit."""
    split = sys.argv.index("--")
    limits = dict(argument.split("=") for argument in sys.argv[1:split])
    for name, limit in limits.items():
        (module,) = (module for module in LIMITED if name in vars(module))
        setattr(module, name, int(limit))
    for kind, phases in PHASES.items():
        for phase in phases:
            setattr(kind, phase, _telling(phase, getattr(kind, phase)))
    sys.argv = ["searchkit", *sys.argv[split + 1 :]]
    cli.main()


def _telling(phase: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def told(*arguments: Any) -> Any:
        os.write(REPORTS, phase.encode() + b"\n")
        return method(*arguments)

    return told


if __name__ == "__main__":
    main()
