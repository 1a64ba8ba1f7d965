"""One writer at a time, also where the directory is moved away while one waits."""

import threading
from pathlib import Path

import pytest

from searchkit.backends.local.open import writing
from searchkit.errors import IndexBusy

SECONDS_FOR_ANYTHING = 60.0


def test_writer_waits_for_whoever_writes_where_the_directory_was(tmp_path: Path) -> None:
    """A lock that moved away with its directory lets nobody write beside the holder of the one that came after it."""
    place, entered, waits = tmp_path / "index", threading.Event(), threading.Event()
    place.mkdir()

    def write() -> None:
        with writing(place / "lock", wait=True, on_wait=lambda holder: waits.set()):
            entered.set()

    waiting = threading.Thread(target=write)
    with writing(place / "lock", wait=False):
        waiting.start()
        assert waits.wait(SECONDS_FOR_ANYTHING)
        place.rename(tmp_path / "old")
        place.mkdir()
        after = writing(place / "lock", wait=False)
        after.__enter__()
    waits.clear()

    # It got the lock that it waited for, saw that this is another's by now, and waits for that.
    assert waits.wait(SECONDS_FOR_ANYTHING)
    assert not entered.is_set()
    after.__exit__(None, None, None)
    waiting.join(SECONDS_FOR_ANYTHING)
    assert entered.is_set()


def test_lock_is_free_behind_an_error(tmp_path: Path) -> None:
    """Whatever ends the writing, the next writer need not wait."""
    with pytest.raises(ZeroDivisionError), writing(tmp_path / "lock", wait=False):
        raise ZeroDivisionError

    with writing(tmp_path / "lock", wait=False), pytest.raises(IndexBusy), writing(tmp_path / "lock", wait=False):
        pass
