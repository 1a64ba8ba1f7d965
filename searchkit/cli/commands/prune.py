"""`searchkit prune`: removes sessions from the index; `searchkit doctor`: checks the index, and repairs it."""

import sys
import time

import click

from searchkit.cli.commands import NOTHING_FOUND, WENT_WRONG
from searchkit.cli.console import audience, opened, print_json, print_lines, say
from searchkit.cli.options import common, reveal_option
from searchkit.cli.session_argument import meant
from searchkit.engine import Engine
from searchkit.errors import SourceError, UsageError
from searchkit.query.types import Condition, Filter
from searchkit.render import health, terminal
from searchkit.render.wire.health import pruned_secrets
from searchkit.render.wire.sessions import pruned
from searchkit.text.format import count
from searchkit.types import Finding

DAY_SECONDS = 86_400


@click.command()
@common
@reveal_option
@click.option("--older-than", metavar="DAYS", type=click.IntRange(1), help="Sessions that ended longer ago than this.")
@click.option("--project", help="Sessions of projects whose path holds this.")
@click.option("--session", "ids", multiple=True, help="This session, by its id or its beginning; may be repeated.")
@click.option("--gone", is_flag=True, help="Sessions whose transcript is no longer on disk.")
@click.option("--secrets", is_flag=True, help="All secrets, wherever they are, instead of sessions.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Only say what would be forgotten.")
def prune(
    index: str | None,
    as_json: bool,
    older_than: int | None,
    project: str | None,
    ids: tuple[str, ...],
    gone: bool,
    secrets: bool,
    yes: bool,
    dry_run: bool,
) -> int:
    """Forget sessions; says first which ones. With --secrets, forget secrets instead: masks take their place.

    What is forgotten stays so while its transcript grows; index --rebuild reads transcripts that are
    still there again, from their beginning. Once secrets were forgotten, those in what is read later are
    kept out, too, as with index --mask-secrets.
    """
    if secrets:
        if older_than or project or ids or gone:
            raise UsageError("--secrets is for the whole index", "leave out what chooses sessions")
        return _prune_secrets(index, as_json, yes, dry_run)
    if not (older_than or project or ids or gone):
        raise UsageError("prune wants to know what", "give --older-than, --project, --session, --gone or --secrets")
    if as_json and not (yes or dry_run):
        raise UsageError("with --json nothing is shown before it is forgotten", "add --dry-run to see it, or --yes")
    before = int((time.time() - older_than * DAY_SECONDS) * 1000) if older_than else None
    filters = (Filter(name="project", values=(project,)),) if project else ()
    with Engine(index) as engine:
        wanted = {meant(engine, one).id for one in ids}
        chosen = [
            session
            for session in engine.sessions(Condition(filters=filters))
            if (not wanted or session.id in wanted)
            and (not gone or session.is_gone)
            and (before is None or (session.ended is not None and session.ended < before))
        ]
        if not chosen:
            say("No sessions match.")
            if as_json:
                print_json(pruned([], {}, is_done=False))
            return NOTHING_FOUND
        costs = engine.costs([session.id for session in chosen])
        if not as_json:
            say(f"To forget: {count(len(chosen), 'session')}, for good.")
            print_lines(terminal.sessions(chosen, costs, audience().width))
        is_done = not dry_run and (yes or _confirmed())
        if is_done:
            engine.prune([session.id for session in chosen])
        if as_json:
            print_json(pruned(chosen, costs, is_done))
        elif is_done:
            say(f"Forgot {count(len(chosen), 'session')}.")
    return 0


def _prune_secrets(index: str | None, as_json: bool, is_certain: bool, is_dry_run: bool) -> int:
    """Forget the secrets of all texts; says first how many there are."""
    if as_json and not (is_certain or is_dry_run):
        raise UsageError("with --json nothing is shown before it is forgotten", "add --dry-run to see it, or --yes")
    with Engine(index) as engine:
        places = list(engine.secrets())
        texts = len({place.part for place in places})
        if not as_json:
            say(f"To forget: {count(len(places), 'secret')} in {count(texts, 'text')}, for good.")
        is_done = not is_dry_run and (is_certain or _confirmed())
        if is_done:
            texts = engine.prune_secrets()
        if as_json:
            print_json(pruned_secrets(places, is_done))
        elif is_done:
            say(f"Forgot the secrets of {count(texts, 'text')}; from now on they are kept out of the index.")
    return 0 if places else NOTHING_FOUND


def _confirmed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("prune asks before it forgets, and there is no terminal to ask at", "add --yes")
    return click.confirm("Forget them?", err=True)


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
