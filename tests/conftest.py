"""A root to write transcripts below, the index made of it, and commands run on that."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from searchkit.backends.base import Backend
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.open import open_to_write
from searchkit.cli import main
from searchkit.indexing.ingest import ingest
from searchkit.sources.claude import ClaudeSource
from tests.support.running import Answer, Run
from tests.support.transcript import Home


@pytest.fixture(autouse=True, scope="session")
def surroundings() -> Iterator[None]:
    """Let no command start a process that outlives the tests, unless a test wants just that, and all be as wide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEARCHKIT_NO_RESIDENT", "1")
        patch.delenv("COLUMNS", raising=False)
        yield


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
            return opened.enter_context(closing(LocalBackend(directory)))

        yield update


@pytest.fixture
def run(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Give a function that runs a command on the index of `home`."""
    monkeypatch.setenv("SEARCHKIT_ROOTS", str(home.root))
    monkeypatch.setenv("SEARCHKIT_INDEX", str(tmp_path / "index"))
    monkeypatch.setenv("HOME", str(tmp_path))
    # What has no need of vectors should not wait for them.
    monkeypatch.setenv("SEARCHKIT_NO_VECTORS", "1")

    def run_command(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["searchkit", *arguments])
        with pytest.raises(SystemExit) as left:
            main.main()
        printed = capsys.readouterr()
        return Answer(int(left.value.code or 0), printed.out, printed.err)

    return run_command


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, which the test may fill."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
