"""The log says why the process ended, whatever that was, and holds nothing of any transcript."""

import asyncio
import signal
import stat
import threading
from pathlib import Path

import pytest

from searchkit.client import connect
from searchkit.errors import NotPrivate
from searchkit.server import server
from tests.server.residence import SECONDS_FOR_ANYTHING, SESSION, Residence, request

SECRET = "crocodile"


def written(residence: Residence) -> str:
    return connect.log_path(residence.index).read_text()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGSEGV, "Segmentation fault"),
        (signal.SIGBUS, "Bus error"),
        (signal.SIGABRT, "Aborted"),
        (signal.SIGFPE, "Floating"),
        (signal.SIGILL, "Illegal instruction"),
    ],
)
def test_crash_is_in_the_log(residence: Residence, number: signal.Signals, words: str) -> None:
    """What kills the process at once leaves a line in the log, with where each thread was (issue 15)."""
    residence.home.session(SESSION).prompt(f"find the {SECRET}")
    residence.build()
    process = residence.serve()
    assert 1 == residence.found(SECRET)

    process.send_signal(number)

    assert -number == process.wait(SECONDS_FOR_ANYTHING)
    log = written(residence)
    assert f"Fatal Python error: {words}" in log
    assert "searchkit/server/server.py" in log.replace("\\", "/")
    assert SECRET not in log


def test_next_process_tells_of_a_kill(residence: Residence) -> None:
    """After SIGKILL, which nobody can write down, the next process does it; one that left is not told of (issue 15)."""
    killed = residence.serve()
    killed.kill()
    killed.wait(SECONDS_FOR_ANYTHING)
    left = residence.serve()
    left.terminate()
    left.wait(SECONDS_FOR_ANYTHING)
    residence.serve()

    log = written(residence)

    assert f"process {killed.pid} before this one did not leave by itself" in log
    assert f"process {left.pid} before this one" not in log
    assert f"process {left.pid} leaves: SIGTERM" in log


def test_log_says_that_it_was_told_to_leave(residence: Residence) -> None:
    """`serve --stop` is a reason of its own (issue 15)."""
    process = residence.serve()

    residence.send(request("/v1/stop", "POST"))

    assert 0 == process.wait(SECONDS_FOR_ANYTHING)
    assert f"process {process.pid} leaves: it was told to" in written(residence)


def test_log_stays_small_and_private(residence: Residence) -> None:
    """However often it is written to, two bounded files remain, which only their owner reads (issue 15)."""
    log = connect.log_path(residence.index)
    log.write_text("x" * server.MOST_BYTES)
    log.chmod(0o644)

    residence.serve()

    made = sorted(residence.index.glob("resident.log*"))
    assert [log, log.with_name("resident.log.1")] == made
    assert [0o600, 0o600] == [stat.S_IMODE(path.stat().st_mode) for path in made]
    assert all(path.stat().st_size <= server.MOST_BYTES for path in made)


def test_crash_after_a_new_log_was_begun(residence: Residence) -> None:
    """A crash is written into the log that is in use, not into the one before (issue 15)."""
    log = connect.log_path(residence.index)
    log.write_text("x" * server.MOST_BYTES)
    process = residence.serve()

    process.send_signal(signal.SIGSEGV)

    process.wait(SECONDS_FOR_ANYTHING)
    assert "Fatal Python error: Segmentation fault" in log.read_text()


def test_faults_are_told_without_their_message(tmp_path: Path) -> None:
    """What nobody caught, in a thread or in a task, is told by its kind and place; its message may quote a text."""

    def fail() -> None:
        raise ValueError(SECRET)

    async def fail_unseen() -> None:
        asyncio.get_running_loop().set_exception_handler(server.task_died)
        asyncio.get_running_loop().call_soon(fail)
        await asyncio.sleep(0)

    with server.kept(tmp_path):
        thread = threading.Thread(target=fail, name="searchkit-failing")
        thread.start()
        thread.join()
        asyncio.run(fail_unseen())

    log = connect.log_path(tmp_path).read_text()
    assert "the thread searchkit-failing died" in log
    assert "a task failed" in log
    assert 2 == log.count("\nValueError")
    assert SECRET not in log


def test_log_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """What a link leads to is not written to (issue 15)."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    connect.log_path(tmp_path).symlink_to(precious)

    with pytest.raises(NotPrivate, match="symbolic link"), server.kept(tmp_path):
        pass

    assert "precious" == precious.read_text()
