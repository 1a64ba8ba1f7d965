"""The log of the process: a small file in the index, which never holds what a transcript says."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from searchkit.resident import place

# With the one before it, half a megabyte at most.
MOST_BYTES = 256 << 10


@contextmanager
def kept(index: Path) -> Iterator[None]:
    """Write what is logged meanwhile into the index; the process makes files for their owner only."""
    handler = RotatingFileHandler(place.log_path(index), maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8")
    handler.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # It tells of every start and every connection that ends early.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


class _Formatter(logging.Formatter):
    """Writes where an error arose, and not its message, which may quote what was asked or found."""

    def formatException(self, ei: object) -> str:  # noqa: N802  # logging names it so
        """Return the lines of code, and the kind of the error."""
        # Only a fault of the process's own comes here.
        import traceback

        assert isinstance(ei, tuple)
        return "".join([*traceback.format_tb(ei[2]), getattr(ei[0], "__name__", "")])
