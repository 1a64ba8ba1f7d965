"""`searchkit doctor`: says what is wrong."""

import click

from searchkit.commands import WENT_WRONG
from searchkit.commands.opening import opened
from searchkit.commands.options import common
from searchkit.commands.printing import print_json, print_lines
from searchkit.render import json, terminal


@click.command()
@common
@click.option("--full", is_flag=True, help="Show every place, not the first few of each kind.")
def doctor(index: str | None, as_json: bool, full: bool) -> int:
    """Say what is wrong in the transcripts or in the index."""
    with opened(index) as engine:
        found = list(engine.findings())
        if as_json:
            print_json(json.findings(found))
        else:
            print_lines(terminal.findings(found, full))
    return WENT_WRONG if any(finding.kind.startswith("index:") for finding in found) else 0
