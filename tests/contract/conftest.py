"""A backend of each kind, for the contract suites."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from searchkit.backends.base import Backend
from searchkit.backends.local.backend import LocalBackend
from tests.reference import ReferenceBackend

IMPLEMENTATIONS: dict[str, Callable[[Path], Backend]] = {
    "reference": lambda directory: ReferenceBackend(),
    "local": lambda directory: LocalBackend(directory, is_writable=True),
}


@pytest.fixture(params=IMPLEMENTATIONS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """An empty backend of each kind."""
    with closing(IMPLEMENTATIONS[request.param](tmp_path / "index")) as opened:
        yield opened


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalBackend]:
    """An empty local backend, for what only a store on disk can promise."""
    with closing(LocalBackend(tmp_path / "index", is_writable=True)) as opened:
        yield opened
