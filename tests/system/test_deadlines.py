"""Calls that hang are given up, and keep nobody else waiting."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from searchkit.errors import SourceSilent
from searchkit.system.deadlines import Patience

SECONDS = 0.2
# Far more than anything takes, also on a busy machine.
LONG = 60.0


@pytest.fixture
def back() -> Iterator[threading.Event]:
    """Let everything that hangs return at the end."""
    event = threading.Event()
    yield event
    event.set()


def test_answers_and_errors_come_through() -> None:
    """What a call returns or raises is returned or raised."""
    patience = Patience(1, LONG)

    assert 3 == patience.call("here", lambda: 3)
    with pytest.raises(ZeroDivisionError):
        patience.call("here", lambda: 1 // 0)
    assert 4 == patience.call("here", lambda: 4)


def test_call_that_hangs_is_given_up(back: threading.Event) -> None:
    """Whoever waits gets a sentence, and others are answered meanwhile (issue 15)."""
    patience = Patience(2, SECONDS)

    with pytest.raises(SourceSilent, match="/mnt/dead does not answer"):
        patience.call("/mnt/dead", back.wait)

    assert 3 == patience.call("/home", lambda: 3)


def test_silent_subject_is_not_asked_again(back: threading.Event) -> None:
    """While a call hangs the next about the same subject is refused at once, and answered once that returned."""
    patience = Patience(2, SECONDS)
    asked: list[int] = []
    with pytest.raises(SourceSilent):
        patience.call("/mnt/dead", back.wait)

    with pytest.raises(SourceSilent):
        patience.call("/mnt/dead", lambda: asked.append(1))
    was_asked = list(asked)
    back.set()
    while True:
        try:
            patience.call("/mnt/dead", lambda: asked.append(2))
            break
        except SourceSilent:
            continue

    assert ([], [2]) == (was_asked, asked)


def test_threads_are_bounded(back: threading.Event) -> None:
    """However many ask, no more threads hang than there may be, and everybody gets an answer (issue 15)."""
    patience = Patience(3, SECONDS)
    before = threading.active_count()

    def ask(number: int) -> str:
        try:
            patience.call(f"/mnt/{number % 10}", back.wait)
        except SourceSilent:
            return "silent"
        return "answered"

    with ThreadPoolExecutor(20) as pool:
        said = list(pool.map(ask, range(100)))

    assert ["silent"] * 100 == said
    assert threading.active_count() - before <= 3


def test_threads_come_back(back: threading.Event) -> None:
    """Once what hung has returned, all threads are there again."""
    patience = Patience(2, SECONDS)
    for number in range(2):
        with pytest.raises(SourceSilent):
            patience.call(f"/mnt/{number}", back.wait)
    with pytest.raises(SourceSilent):
        patience.call("/home", lambda: 3)

    back.set()
    for thread in threading.enumerate():
        if thread.name == "searchkit-patience":
            thread.join(LONG)

    assert [3, 3] == [patience.call(f"/mnt/{number}", lambda: 3) for number in range(2)]
