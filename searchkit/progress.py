"""A bar on a terminal that says how far, how fast, and how long still; silent elsewhere."""

import shutil
import sys
import time
from types import TracebackType
from typing import Self

from searchkit.ingest import Progress
from searchkit.render.plain import size

BAR_WIDTH = 28


class Bar:
    """Draws progress on stderr while its block runs."""

    def __init__(self, label: str) -> None:
        """Name what is under way."""
        self._label = label
        self._started = time.monotonic()
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
        """Begin to count time anew."""
        self._started = time.monotonic()

    def clear(self) -> None:
        """Take the bar off the screen."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False

    def update(self, progress: Progress) -> None:
        """Draw anew."""
        if not sys.stderr.isatty():
            return
        whole = max(1, progress.bytes_read + progress.bytes_left)
        seconds = max(0.001, self.seconds)
        rate = progress.bytes_read / seconds
        filled = BAR_WIDTH * progress.bytes_read // whole
        left = progress.bytes_left / rate if rate else 0
        line = (
            f"{self._label} [{'#' * filled}{'-' * (BAR_WIDTH - filled)}]"
            f" {size(progress.bytes_read)} of {size(whole)}, {size(rate)}/s, {left // 60:.0f}:{left % 60:02.0f} left"
        )
        columns = shutil.get_terminal_size().columns
        sys.stderr.write(f"\r\x1b[K{line[: columns - 1]}")
        sys.stderr.flush()
        self._is_drawn = True
