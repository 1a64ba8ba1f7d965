"""A small history for agents to ask about: an error that was fixed, a file that was touched, a session that asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from searchkit import Engine
from tests.mcp.history import History, write


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Sessions on disk, and the index made of them; nobody changes them."""
    return write(tmp_path_factory.mktemp("history"))


@pytest.fixture
def engine(history: History) -> Iterator[Engine]:
    """An engine on that history."""
    with Engine(history.index, [history.root]) as opened:
        yield opened


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory for Claude Code, and nothing of the user's beside it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "configuration"))
    return tmp_path / "configuration"
