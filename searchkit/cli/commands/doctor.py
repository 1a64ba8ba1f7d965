"""`searchkit doctor`: says how healthy transcripts and index are, and what to do."""

import click

from searchkit.cli.commands import WENT_WRONG
from searchkit.cli.console import audience, opened, print_json, print_lines, say
from searchkit.cli.options import common, reveal_option
from searchkit.errors import SourceError
from searchkit.render import health
from searchkit.types import Finding


@click.command()
@common
@reveal_option
@click.option("--full", is_flag=True, help="Show every place, and what is usual, too.")
@click.option("--deep", is_flag=True, help="Verify every text and row of the index against its checksum, not a sample.")
@click.option("--secrets", is_flag=True, help="List the secrets that the index holds, masked, instead.")
def doctor(index: str | None, as_json: bool, full: bool, deep: bool, secrets: bool) -> int:
    """Say whether transcripts and index are well, what is worth knowing, and what to do.

    Each kind of finding is fine, worth knowing, or something to act on. The status is 2 where something is wrong
    with the index.
    """
    if secrets:
        return _list_secrets(index, as_json, full)
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


def _list_secrets(index: str | None, as_json: bool, is_full: bool) -> int:
    """Say where secrets lie: of each kind the first few, or all."""
    with opened(index) as engine:
        places = list(engine.secrets())
    if as_json:
        from searchkit.render.wire.health import secrets_of

        print_json(secrets_of(places))
    else:
        print_lines(health.secrets(places, is_full))
        say(health.secrets_hint(places))
    return 0
