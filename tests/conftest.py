"""A root to write transcripts below, and the index made of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from searchkit.backends.base import Backend
from searchkit.backends.embedded import EmbeddedBackend, open_to_write
from searchkit.ingest import ingest
from searchkit.sources.claude import ClaudeSource
from tests.transcript import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A root with one project and nothing in it."""
    return Home(tmp_path / "claude")


@pytest.fixture
def indexed(home: Home, tmp_path: Path) -> Iterator[Callable[[], Backend]]:
    """Give a function that brings the index of `home` up to date and opens it to read."""
    directory = tmp_path / "index"
    with ExitStack() as opened:

        def update() -> Backend:
            with open_to_write(directory) as backend:
                ingest(ClaudeSource([home.root]), backend)
            return opened.enter_context(closing(EmbeddedBackend(directory)))

        yield update
