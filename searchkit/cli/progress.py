"""A bar on a terminal that says how far, how fast, and how long still; silent elsewhere."""

import shutil
import sys
import time
from types import TracebackType
from typing import Self

from searchkit.indexing.ingest import Progress
from searchkit.text.format import size

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
