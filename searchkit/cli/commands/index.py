"""`searchkit index`: brings the index up to date, once or for as long as it runs."""

import shutil
import sys
import threading
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
from searchkit.system.process import give_back
from searchkit.text.format import size
from searchkit.text.sanitize import command_line, one_line

# Files that could not be read are named up to this many.
MOST_FAILURES = 10
# Searches to try that the first run names.
MOST_EXAMPLES = 3


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
@click.option(
    "--mask-secrets/--keep-secrets",
    default=None,
    help="Keep secrets out of the index, or in it, now and in later runs; what is in already stays.",
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
    mask_secrets: bool | None,
    no_wait: bool,
) -> int:
    """Bring the index up to date."""
    give_back()
    with Engine(index, roots, model, multilingual=multilingual) as engine:
        if watch:
            return _watch(engine, as_json, not no_vectors, mask_secrets)
        is_first = not engine.has_index()
        try:
            with Bar() as bar:
                done = engine.index(bar.update, _say_who_writes, not no_wait, rebuild, not no_vectors, mask_secrets)
        except KeyboardInterrupt:
            say("What was read is kept; the next run goes on from there.")
            raise
        _show_summary(done, bar.seconds, as_json)
        if not engine.counts().files:
            places = ", ".join(str(root / app_of(root).signs[0]) for root in engine.roots)
            raise SourceError(f"there are no transcripts below {places}", f"name another directory with --root; {DEMO}")
        if is_first:
            if not as_json:
                _say_what_was_found(engine, index)
            _say_what_is_deleted(engine)
    return WENT_WRONG if done.failures else 0


def _watch(engine: Engine, as_json: bool, with_vectors: bool, is_masking: bool | None) -> int:
    """Follow changes until interrupted; the first pass says what there was to read, later ones what came."""
    passes = 0
    is_first = not engine.has_index()
    with Bar() as bar:
        for done in engine.watch(bar.update, _say_who_writes, with_vectors, is_masking):
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


def _say_what_was_found(engine: Engine, index: str | None) -> None:
    """Say what the index holds, and what to try with it."""
    # Once for each index.
    from searchkit.search.examples import RECENT_SESSIONS, examples

    sessions = engine.sessions()
    say(*terminal.found(sessions))
    tried = engine.ask(lambda backend: list(examples(backend, sessions[:RECENT_SESSIONS])))[:MOST_EXAMPLES]
    where = f" {named}" if index and (named := command_line("--index", index)) else ""
    written = [(f"searchkit search {one.query}{where}", one.meaning) for one in tried]
    width = max((len(command) for command, _ in written), default=0)
    if written:
        say("Try:", *(f"  {command:<{width}}  # {meaning}" for command, meaning in written))


def _say_what_is_deleted(engine: Engine) -> None:
    with suppress(SourceError):
        for line in health.warning(engine.retention()):
            warn(line)


def _say_who_writes(holder: str) -> None:
    say(f"The index is being written by {holder}; waiting for it.")


# Bars on a terminal, one for words and one for meaning: how far, how fast, and how long still. Silent elsewhere.


BAR_WIDTH = 20
# A narrower terminal has no room for the bar beside its figures.
LEAST_COLUMNS = 72
# What a line says between two answers of the work: that time passes, and what that means for the rest.
TICK_SECONDS = 0.5
# Nothing is known of a rate before.
LEAST_SECONDS = 1.0
# What each phase is a part of, and what it does.
_STAGES = {
    "reading": ("words", "reading"),
    "words": ("words", "indexing"),
    "meaning": ("meaning", "embedding"),
}


class Bar:
    """Draws progress on stderr while its block runs; each phase counts its own time."""

    def __init__(self) -> None:
        """Draw nothing yet."""
        self._started = self._bar_started = self._phase_started = time.monotonic()
        self._progress: Progress | None = None
        self._is_drawn = False
        self._drawing = threading.Lock()
        self._is_over = threading.Event()

    def __enter__(self) -> Self:
        """Begin to count time, and to draw it while nothing else is said."""
        self.restart()
        if sys.stderr.isatty():
            threading.Thread(target=self._tick, name="searchkit-bar", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave a line for the last bar."""
        self._is_over.set()
        if kind is None:
            self._finish()
        self.clear()

    @property
    def seconds(self) -> float:
        """How long it has been."""
        return time.monotonic() - self._started

    def restart(self) -> None:
        """Begin to count time again."""
        with self._drawing:
            self._started = self._bar_started = self._phase_started = time.monotonic()
            self._progress = None

    def clear(self) -> None:
        """Take the bar off the screen."""
        with self._drawing:
            self._clear()

    def update(self, progress: Progress) -> None:
        """Draw again."""
        if not sys.stderr.isatty():
            return
        before = self._progress
        if before is not None and _STAGES[before.phase][0] != _STAGES[progress.phase][0]:
            self._finish()
            say("You can search now: searchkit search WORDS. What means the same in other words is found from here on.")
        with self._drawing:
            # What was done before it was first said took time from the beginning; what begins with nothing begins now.
            begins = before is None and not progress.done
            if begins or (before is not None and before.phase != progress.phase):
                self._phase_started = time.monotonic()
            self._progress = progress
            self._draw()

    def _finish(self) -> None:
        """Leave a line that says how long a bar took, and begin the next."""
        with self._drawing:
            self._clear()
            if self._progress is not None and time.monotonic() - self._bar_started >= LEAST_SECONDS:
                name = _STAGES[self._progress.phase][0]
                took = _minutes(time.monotonic() - self._bar_started)
                sys.stderr.write(f"{name:<8}[{'#' * BAR_WIDTH}] done in {took}\n")
            self._bar_started = self._phase_started = time.monotonic()
            self._progress = None

    def _tick(self) -> None:
        while not self._is_over.wait(TICK_SECONDS):
            with self._drawing:
                if self._progress is not None and not self._is_over.is_set():
                    self._draw()

    def _clear(self) -> None:
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False

    def _draw(self) -> None:
        assert self._progress is not None
        columns = shutil.get_terminal_size().columns
        line = drawn(self._progress, time.monotonic() - self._phase_started, columns)
        sys.stderr.write(f"\r\x1b[K{line[: columns - 1]}")
        sys.stderr.flush()
        self._is_drawn = True


def drawn(progress: Progress, seconds: float, columns: int) -> str:
    """Write a bar, how far it is, and, once that is known, how fast it goes and how long it still takes."""
    name, doing = _STAGES[progress.phase]
    shown = size if progress.phase == "reading" else _parts
    whole = max(1, progress.done + progress.left)
    filled = BAR_WIDTH * progress.done // whole
    bar = f"{name:<8}[{'#' * filled}{'-' * (BAR_WIDTH - filled)}] {doing}"
    line = f"{bar if columns >= LEAST_COLUMNS else name} {shown(progress.done)} of {shown(whole)}"
    if not progress.left:
        return f"{line}, finishing, {_minutes(seconds)}"
    if not progress.done or seconds < LEAST_SECONDS:
        return f"{line}, {_minutes(seconds)}"
    rate = progress.done / seconds
    return f"{line}, {shown(rate)}/s, {_minutes(progress.left / rate)} left"


def _minutes(seconds: float) -> str:
    return f"{seconds // 60:.0f}:{seconds % 60:02.0f}"


def _parts(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number == round(number) else f"{number:.1f}"
