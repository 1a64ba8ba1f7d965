"""`searchkit mcp`: the MCP server, for agents to start."""

import sys
from importlib import import_module

import click

from searchkit.cli.console import must_be_own
from searchkit.cli.options import common


@click.command()
@common
def mcp(index: str | None, as_json: bool) -> int:
    """Answer an agent over the Model Context Protocol, on stdin and stdout.

    An agent starts this by itself: `searchkit install claude` tells Claude Code how, and other clients take the
    command `searchkit mcp`. It passes everything to the process that keeps the index open, and starts that if need be.
    """
    must_be_own()
    arguments = [*(["--index", index] if index else []), *(one for one in sys.argv if one == "--no-resident")]
    # A shell above the commands: `__main__` gets there without any of them, for an agent should not wait for click.
    sys.exit(import_module("searchkit.mcp.bridge").main(arguments))
