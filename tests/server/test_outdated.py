"""A process that runs code of yesterday leaves the field to that of today."""

import os
import sys
import types
from pathlib import Path

import pytest

from searchkit.server import run_command
from searchkit.server.run_command import is_outdated


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of the package, loaded from a file."""
    file = tmp_path / "loaded.py"
    file.write_text("")
    loaded = types.ModuleType("searchkit.loaded")
    loaded.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "searchkit.loaded", loaded)
    # What is found out here is of no other test's concern.
    monkeypatch.setattr(run_command, "_last", {"at": float("-inf"), "verdict": False})
    monkeypatch.setattr(run_command, "_seen", {})
    return file


def test_code_that_is_as_it_was_is_not_outdated(module: Path) -> None:
    """Asking once more changes nothing, however old the files are."""
    assert [False, False] == [is_outdated(), is_outdated()]


def test_code_that_was_written_anew_is_outdated(module: Path) -> None:
    """An upgrade writes files, whatever time it gives them."""
    before = is_outdated()
    os.utime(module, (0, 0))

    assert [False, True] == [before, is_outdated()]


def test_code_that_was_removed_is_outdated(module: Path) -> None:
    """So does an uninstallation take them away."""
    before = is_outdated()
    module.unlink()

    assert [False, True] == [before, is_outdated()]
