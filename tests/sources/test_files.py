"""Only regular files are read: whatever else has the name of a transcript is passed over, and never waited for."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from searchkit.sources.jsonl import open_regular
from tests.server.residence import SECONDS_FOR_ANYTHING, SESSION
from tests.support.transcript import Home

OTHER = "22222222-2222-4222-8222-222222222222"


def pipe(path: Path) -> None:
    """Make a pipe that nobody writes to."""
    os.mkfifo(path)


def link_to_pipe(path: Path) -> None:
    """Make a link, inside the root, to a pipe."""
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def link_to_device(path: Path) -> None:
    """Make a link to what can be read without end."""
    path.symlink_to("/dev/zero")


def listening(path: Path) -> None:
    """Make a socket."""
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def run_searchkit(home: Home, index: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a process of its own, which must end."""
    command = [sys.executable, "-m", "searchkit.__main__", *arguments]
    environment = {**os.environ, "SEARCHKIT_ROOTS": str(home.root), "SEARCHKIT_INDEX": str(index)}
    return subprocess.run(
        command,
        env=environment | {"SEARCHKIT_NO_VECTORS": "1", "SEARCHKIT_NO_RESIDENT": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS_FOR_ANYTHING,
    )


@pytest.mark.parametrize("make", [pipe, link_to_pipe, link_to_device, listening])
@pytest.mark.parametrize(
    "place",
    [
        "projects/-work/{other}.jsonl",
        "projects/-work/{other}/tool-results/x.txt",
        "projects/-work/memory/x.md",
        "projects/-work/sessions-index.json",
        "history.jsonl",
        "todos/{other}.json",
        "plans/x.md",
    ],
)
def test_what_is_no_file_does_not_stop_index(
    home: Home, tmp_path: Path, place: str, make: Callable[[Path], None]
) -> None:
    """`index` ends, and what lies beside the pipe is found (issue 15)."""
    home.session(SESSION).prompt("find the slow query")
    path = home.root / place.format(other=OTHER)
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)

    indexed = run_searchkit(home, tmp_path / "index", "index")
    found = run_searchkit(home, tmp_path / "index", "search", "slow")

    assert (0, 0) == (indexed.returncode, found.returncode), indexed.stderr
    assert "slow query" in found.stdout


@pytest.mark.parametrize("make", [pipe, link_to_pipe, listening])
def test_what_becomes_a_pipe_after_it_was_listed(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A file that was one when it was listed, and is a pipe when it is opened, is refused at once (issue 15)."""
    path = tmp_path / "transcript.jsonl"
    make(path)
    lines = [
        "from searchkit.sources.jsonl import Mark, Shape, compare, pieces",
        f"path = {str(path)!r}",
        "for read in (lambda: list(pieces(path, Mark())), lambda: compare(path, Shape(1, 2, 3, 4), Mark())):",
        "    try:",
        "        read()",
        "    except OSError:",
        "        print('refused')",
    ]

    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=SECONDS_FOR_ANYTHING
    )

    assert (0, "refused\nrefused\n") == (done.returncode, done.stdout), done.stderr


@pytest.mark.parametrize("path", ["/dev/zero", "/", "/nowhere/at/all"])
def test_devices_and_directories_are_refused(path: str) -> None:
    """What is no regular file is an error of the operating system's kind, which is reported and skipped (issue 15)."""
    with pytest.raises(OSError, match=path):
        open_regular(path)


def test_descriptors_of_what_is_refused_are_closed() -> None:
    """A refusal leaves nothing open."""
    before = os.dup(0)
    os.close(before)

    with pytest.raises(OSError, match="no regular file"):
        open_regular("/dev/zero")

    after = os.dup(0)
    os.close(after)
    assert before == after


def test_leased_file_is_read_once_it_is_free(tmp_path: Path) -> None:
    """A file that another program has a lease on is waited for a moment, and then read (issue 15)."""
    fcntl = pytest.importorskip("fcntl")
    if not hasattr(fcntl, "F_SETLEASE"):
        pytest.skip("only Linux has leases")
    path = tmp_path / "transcript.jsonl"
    path.write_text("{}\n")
    holder = (
        "import fcntl, os, signal, sys\n"
        f"held = os.open({str(path)!r}, os.O_RDWR)\n"
        "signal.signal(signal.SIGIO, lambda *_: fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK))\n"
        "fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        said = other.stdout.readline()
        try:
            if said != "held\n":
                pytest.skip("this file system has no leases")
            with open_regular(str(path)) as opened:
                assert b"{}\n" == opened.read()
        finally:
            other.communicate()
