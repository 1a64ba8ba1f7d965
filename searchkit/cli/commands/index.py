"""`searchkit index`: brings the index up to date, once or for as long as it runs."""

import shutil
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

import click

from searchkit.cli.commands import WENT_WRONG
from searchkit.cli.console import complain, print_json, print_lines, say, warn
from searchkit.cli.options import common, root_option
from searchkit.engine import Engine
from searchkit.errors import SourceError
from searchkit.indexing.ingest import Progress, Summary
from searchkit.render import health, terminal
from searchkit.sources.base import DEMO
from searchkit.sources.registry import app_of
from searchkit.system.malloc import give_back
from searchkit.text.format import size
from searchkit.text.sanitize import one_line

# Files that could not be read are named up to this many.
MOST_FAILURES = 10


@click.command()
@common
@root_option
@click.option("--watch", is_flag=True, help="Stay, and follow changes; --json then prints a value per pass.")
@click.option(
    "--no-vectors",
    is_flag=True,
    envvar="SEARCHKIT_NO_VECTORS",
    help="Index words only; what was embedded before stays.",
)
@click.option(
    "--multilingual/--no-multilingual",
    "multilingual",
    default=None,
    help="Also embed for other languages than English, as it is done unless --model names a model; or remove that.",
)
@click.option("--model", metavar="NAME", help="Embed with this model of sentence-transformers, by name or path.")
@click.option(
    "--rebuild", is_flag=True, help="Read everything again; what is no longer on disk is kept if the index can be read."
)
@click.option("--no-wait", is_flag=True, help="Leave at once if another process is writing the index.")
def index(
    index: str | None,
    as_json: bool,
    roots: tuple[str, ...],
    watch: bool,
    no_vectors: bool,
    multilingual: bool | None,
    model: str | None,
    rebuild: bool,
    no_wait: bool,
) -> int:
    """Bring the index up to date."""
    give_back()
    with Engine(index, roots, model, multilingual=multilingual) as engine:
        if watch:
            return _watch(engine, as_json, not no_vectors)
        is_first = not engine.has_index()
        try:
            with Bar() as bar:
                done = engine.index(bar.update, _say_who_writes, not no_wait, rebuild, not no_vectors)
        except KeyboardInterrupt:
            say("What was read is kept; the next run goes on from there.")
            raise
        _show_summary(done, bar.seconds, as_json)
        if not engine.counts().files:
            places = ", ".join(str(root / app_of(root).signs[0]) for root in engine.roots)
            raise SourceError(f"there are no transcripts below {places}", f"name another directory with --root; {DEMO}")
        if is_first:
            _say_what_is_deleted(engine)
    return WENT_WRONG if done.failures else 0


def _watch(engine: Engine, as_json: bool, with_vectors: bool) -> int:
    """Follow changes until interrupted; the first pass says what there was to read, later ones what came."""
    passes = 0
    is_first = not engine.has_index()
    with Bar() as bar:
        for done in engine.watch(bar.update, _say_who_writes, with_vectors):
            bar.clear()
            if not passes or done.files or done.gone:
                _show_summary(done, bar.seconds, as_json)
            if not passes and is_first:
                _say_what_is_deleted(engine)
            if not passes:
                say("Watching. Ctrl-C ends it.")
            passes += 1
            bar.restart()
    return 0


def _show_summary(done: Summary, seconds: float, as_json: bool) -> None:
    if as_json:
        from searchkit.render.wire.health import summary_of

        print_json(summary_of(done, seconds))
    else:
        print_lines(terminal.summary(done, seconds))
    if done.without_meaning:
        warn(f"found by words only: {one_line(done.without_meaning)}")
    for failure in done.failures[:MOST_FAILURES]:
        complain(f"not read: {one_line(failure)}")
    if done.failures:
        more = len(done.failures) - MOST_FAILURES
        rest = f"and {more:,} more; " if more > 0 else ""
        say(f"  {rest}all else is indexed; mend or remove these, and the next run reads them")


def _say_what_is_deleted(engine: Engine) -> None:
    with suppress(SourceError):
        for line in health.warning(engine.retention()):
            warn(line)


def _say_who_writes(holder: str) -> None:
    say(f"The index is being written by {holder}; waiting for it.")


# A bar on a terminal that says how far, how fast, and how long still; silent elsewhere.


BAR_WIDTH = 24


class Bar:
    """Draws progress on stderr while its block runs; each phase counts its own time."""

    def __init__(self) -> None:
        """Draw nothing yet."""
        self._started = self._phase_started = time.monotonic()
        self._phase = ""
        self._is_drawn = False

    def __enter__(self) -> Self:
        """Begin to count time."""
        self.restart()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the line of the bar."""
        self.clear()

    @property
    def seconds(self) -> float:
        """How long it has been."""
        return time.monotonic() - self._started

    def restart(self) -> None:
        """Begin to count time again."""
        self._started, self._phase = time.monotonic(), ""

    def clear(self) -> None:
        """Take the bar off the screen."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False

    def update(self, progress: Progress) -> None:
        """Draw again."""
        if not sys.stderr.isatty():
            return
        if progress.phase != self._phase:
            self._phase, self._phase_started = progress.phase, time.monotonic()
        shown = size if progress.phase == "reading" else _parts
        whole = max(1, progress.done + progress.left)
        rate = progress.done / max(0.001, time.monotonic() - self._phase_started)
        filled = BAR_WIDTH * progress.done // whole
        left = progress.left / rate if rate else 0
        line = (
            f"{progress.phase} [{'#' * filled}{'-' * (BAR_WIDTH - filled)}]"
            f" {shown(progress.done)} of {shown(whole)}, {shown(rate)}/s, {left // 60:.0f}:{left % 60:02.0f} left"
        )
        columns = shutil.get_terminal_size().columns
        sys.stderr.write(f"\r\x1b[K{line[: columns - 1]}")
        sys.stderr.flush()
        self._is_drawn = True


def _parts(number: float) -> str:
    return f"{number:,.0f}"
