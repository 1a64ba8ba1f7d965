"""The command line: a thin shell over the engine. Results go to stdout, everything else to stderr."""

import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn

import click
import orjson

from searchkit import __version__, config
from searchkit.backends.base import Condition
from searchkit.engine import Engine
from searchkit.errors import SearchkitError, SourceError, UsageError
from searchkit.ingest import Summary
from searchkit.progress import Bar
from searchkit.render import json, terminal
from searchkit.render.plain import count, one_line

NOTHING_FOUND = 1
WENT_WRONG = 2
INTERRUPTED = 130
MOST_FAILURES = 10
DEMO_QUESTIONS = (
    "who turned off certificate verification",
    "why were customers charged twice",
    "why was the product list slow",
)


def main() -> NoReturn:
    """Run the command line and leave with the status that others rely on."""
    wants_json = "--json" in sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        # Text that the terminal's encoding lacks must not end in a traceback.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING, stream=sys.stderr)
    try:
        sys.exit(cli.main(standalone_mode=False, color=False if os.environ.get("NO_COLOR") else None) or 0)
    except SearchkitError as error:
        if wants_json:
            _print_json(json.error(error))
        _complain(error.message, error.hint)
    except click.ClickException as error:
        if wants_json:
            _print_json(json.error(UsageError(error.format_message(), "searchkit --help lists commands and options")))
        error.show()
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted. What was read is kept; the next run goes on from there.", err=True)
        sys.exit(INTERRUPTED)
    except Exception as error:  # the outermost shell: whatever it is, it is not "nothing found"
        failure = SearchkitError(f"{type(error).__name__}: {error}", "this is a fault of searchkit; please report it")
        if wants_json:
            _print_json(json.error(failure))
        logging.getLogger("searchkit").debug("unexpected", exc_info=True)
        _complain(failure.message, failure.hint)
    sys.exit(WENT_WRONG)


def _common(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")(command)
    return click.option("--index", metavar="DIR", help="Where the index is.")(command)


_ROOT = click.option("--root", "roots", metavar="DIR", multiple=True, help="A directory that holds projects/.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="searchkit")
def cli() -> None:
    """Search everything Claude Code wrote, also what it has since deleted."""


@cli.command()
@_common
@_ROOT
@click.option("--watch", is_flag=True, help="Stay, and follow changes; --json then prints a value per pass.")
@click.option("--no-vectors", is_flag=True, help="Index words only, as every run does so far.")
@click.option(
    "--rebuild", is_flag=True, help="Read everything anew; what is no longer on disk is kept if the index can be read."
)
@click.option("--no-wait", is_flag=True, help="Leave at once if another process is writing the index.")
def index(
    index: str | None,
    as_json: bool,
    roots: tuple[str, ...],
    watch: bool,
    no_vectors: bool,
    rebuild: bool,
    no_wait: bool,
) -> int:
    """Bring the index up to date."""
    with Engine(index, roots) as engine:
        if watch:
            return _watch(engine, as_json)
        with Bar() as bar:
            done = engine.index(bar.update, _say_who_writes, not no_wait, rebuild)
        _show_summary(done, bar.seconds, as_json)
        if not engine.counts().files:
            places = ", ".join(str(root / "projects") for root in engine.settings.roots)
            raise SourceError(f"there are no transcripts below {places}", "name another directory with --root")
    return WENT_WRONG if done.failures else 0


@cli.command()
@_common
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 1000), help="How many results.")
def search(words: tuple[str, ...], index: str | None, as_json: bool, limit: int) -> int:
    """Find messages by their words."""
    # Bytes that are no text come as lone surrogates, which nothing could print or search.
    asked = " ".join(words).encode("utf-8", "replace").decode()
    with Engine(index) as engine:
        started = time.monotonic()
        found = engine.search(asked, limit)
        took_ms = (time.monotonic() - started) * 1000
        if as_json:
            _print_json(json.search(asked, found, engine.counts(), engine.pending(), took_ms))
        else:
            _print(terminal.results(found, asked, _width(), time.time()))
            if not found and (pending := engine.pending()):
                click.echo(f"Nothing so far: {count(pending, 'part')} still to be indexed. Try again later.", err=True)
            elif not found:
                click.echo(f"Nothing matches {one_line(asked)[:200]!r}.", err=True)
    return 0 if found else NOTHING_FOUND


@cli.command()
@_common
@click.option("--project", help="Part of the project's path.")
@click.option("--branch", help="Part of the branch's name.")
@click.option("--model", help="Part of the model's name.")
@click.option("--title", help="Part of the title.")
@click.option("--file", help="Part of the path of a file that the session touched.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many sessions.")
def sessions(index: str | None, as_json: bool, limit: int, **filters: str | None) -> int:
    """List sessions, newest first."""
    with Engine(index) as engine:
        found = engine.sessions(Condition(**filters), limit)  # type: ignore[arg-type]  # the options are its fields
        if as_json:
            _print_json(json.sessions(found))
        else:
            _print(terminal.sessions(found, _width(), time.time()))
            if not found:
                click.echo("No session is meant by that.", err=True)
    return 0 if found else NOTHING_FOUND


@cli.command()
@_common
@_ROOT
def status(index: str | None, as_json: bool, roots: tuple[str, ...]) -> None:
    """Say what is indexed and how far."""
    with Engine(index, roots) as engine:
        found = engine.status()
        if as_json:
            _print_json(json.status(found))
        else:
            _print(terminal.status(found))


@cli.command()
@_common
@click.option("--full", is_flag=True, help="Show every place, not the first few of each kind.")
def doctor(index: str | None, as_json: bool, full: bool) -> int:
    """Say what is wrong in the transcripts or in the index."""
    with Engine(index) as engine:
        found = list(engine.findings())
        if as_json:
            _print_json(json.findings(found))
        else:
            _print(terminal.findings(found, full))
    return WENT_WRONG if any(finding.kind.startswith("index:") for finding in found) else 0


@cli.command()
@_common
@click.option("--older-than", metavar="DAYS", type=click.IntRange(1), help="Sessions that ended longer ago than this.")
@click.option("--project", help="Sessions of projects whose path holds this.")
@click.option("--session", "ids", multiple=True, help="This session; may be repeated.")
@click.option("--gone", is_flag=True, help="Sessions whose transcript is no longer on disk.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Only say what would be forgotten.")
def prune(
    index: str | None,
    as_json: bool,
    older_than: int | None,
    project: str | None,
    ids: tuple[str, ...],
    gone: bool,
    yes: bool,
    dry_run: bool,
) -> int:
    """Forget sessions; says first which ones.

    What is forgotten stays so while its transcript grows; index --rebuild reads transcripts that are
    still there anew, from their beginning.
    """
    if not (older_than or project or ids or gone):
        raise UsageError("prune wants to know what", "give --older-than, --project, --session or --gone")
    before = int((time.time() - older_than * 86_400) * 1000) if older_than else None
    with Engine(index) as engine:
        chosen = [
            session
            for session in engine.sessions(Condition(project=project, ids=ids or None))
            if (not gone or session.is_gone) and (before is None or (session.ended or 0) < before)
        ]
        if not chosen:
            click.echo("No session is meant by that.", err=True)
            return NOTHING_FOUND
        if not as_json:
            click.echo(f"To forget: {count(len(chosen), 'session')}, for good.", err=True)
            _print(terminal.sessions(chosen, _width(), time.time()))
        is_done = not dry_run and (yes or _confirmed())
        if is_done:
            engine.prune([session.id for session in chosen])
        if as_json:
            _print_json({**json.sessions(chosen), "is_done": is_done})
        elif is_done:
            click.echo(f"Forgot {count(len(chosen), 'session')}.", err=True)
    return 0


@cli.command()
@_common
def demo(index: str | None, as_json: bool) -> None:
    """Show searches over bundled sample transcripts."""
    place = index or str(config.resolve().index.with_name("searchkit-demo"))
    with (
        resources.as_file(resources.files("searchkit") / "sample") as sample,
        Engine(place, [sample]) as engine,
    ):
        engine.index()
        answers = {question: engine.search(question, 2) for question in DEMO_QUESTIONS}
        if as_json:
            counts = engine.counts()
            _print_json({"searches": [json.search(asked, found, counts, 0, 0) for asked, found in answers.items()]})
            return
        for question, found in answers.items():
            click.secho(f"\n$ searchkit search {question}\n", bold=True)
            _print(terminal.results(found, question, _width(), time.time()))
    click.echo(f"Try it: searchkit search --index {place} WORDS", err=True)


def _watch(engine: Engine, as_json: bool) -> int:
    """Follow changes until interrupted; the first pass says what there was to read, later ones what came."""
    passes = 0
    with Bar() as bar:
        for done in engine.watch(bar.update, _say_who_writes):
            bar.clear()
            if not passes or done.files or done.gone:
                _show_summary(done, bar.seconds, as_json)
            if not passes:
                click.echo("Watching. Ctrl-C ends it.", err=True)
            passes += 1
            bar.restart()
    return 0


def _confirmed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("prune asks before it forgets, and there is no terminal to ask at", "add --yes")
    return click.confirm("Forget them?", err=True)


def _show_summary(done: Summary, seconds: float, as_json: bool) -> None:
    if as_json:
        _print_json(json.summary(done, seconds))
    else:
        _print(terminal.summary(done, seconds))
    for failure in done.failures[:MOST_FAILURES]:
        _complain(f"not read: {one_line(failure)}", "")
    if done.failures:
        more = len(done.failures) - MOST_FAILURES
        rest = f"and {more:,} more; " if more > 0 else ""
        click.echo(f"  {rest}all else is indexed; mend or remove these, and the next run reads them", err=True)


def _say_who_writes(holder: str) -> None:
    click.echo(f"The index is being written by {holder}; waiting for it.", err=True)


def _complain(message: str, hint: str) -> None:
    click.echo(f"{click.style('error:', fg='red', bold=True)} {message}", err=True)
    if hint:
        click.echo(f"  {hint}", err=True)


def _print(lines: Iterable[str]) -> None:
    try:
        for line in lines:
            click.echo(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough. Caught here because click would leave with status 1,
        # and redirected because Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _print_json(value: object) -> None:
    _print([orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()])


def _width() -> int:
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


if __name__ == "__main__":
    sys.argv[0] = str(Path(sys.argv[0]).name)
    main()
