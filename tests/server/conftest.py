"""A process for each test that wants one of its own, and one for all that only ask."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.server.residence import SESSION, Residence

SAMPLE = Path(__file__).parent.parent.parent / "searchkit" / "sample"


@pytest.fixture
def residence(tmp_path: Path) -> Iterator[Residence]:
    """An index with one message, and no process yet."""
    with closing(Residence(tmp_path)) as made:
        made.home.session(SESSION).prompt("find the slow query")
        made.build()
        yield made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Residence]:
    """The sample, with vectors, served by one process for all tests of a module."""
    with closing(Residence(tmp_path_factory.mktemp("served"))) as made:
        made.home.root = SAMPLE
        made.build(with_vectors=True)
        made.serve("--port", "0")
        yield made
