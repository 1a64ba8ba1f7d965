"""`searchkit doctor`: says how healthy transcripts and index are, and what to do."""

import click

from searchkit.cli.commands import WENT_WRONG
from searchkit.cli.console import audience, opened, print_json, print_lines
from searchkit.cli.options import common
from searchkit.errors import SourceError
from searchkit.render import health
from searchkit.types import Finding


@click.command()
@common
@click.option("--full", is_flag=True, help="Show every place, and what is usual, too.")
@click.option("--deep", is_flag=True, help="Verify every text and row of the index against its checksum, not a sample.")
def doctor(index: str | None, as_json: bool, full: bool, deep: bool) -> int:
    """Say whether transcripts and index are well, what is worth knowing, and what to do.

    Each kind of finding is fine, worth knowing, or something to act on. The status is 2 where something is wrong
    with the index.
    """
    with opened(index) as engine:
        found, kept = list(engine.findings(deep)), None
        try:
            kept = engine.retention()
            found += health.of_retention(kept)
        except SourceError as error:
            found.append(Finding(kind=health.SILENT, file=str(engine.roots[0]), line=0, detail=error.message))
        grouped = health.groups(found)
        if as_json:
            from searchkit.render.wire.health import examination

            print_json(examination(grouped, found, kept))
        else:
            print_lines(health.examination(grouped, full, audience().width))
    return WENT_WRONG if any(map(health.is_of_index, found)) else 0
