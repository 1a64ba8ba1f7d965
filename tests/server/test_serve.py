"""`searchkit serve` starts the process, says where it is reached, and ends it."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from searchkit.cli.commands import serve as serving
from searchkit.client import connect, control
from searchkit.system import locks as alone
from tests.server.residence import SECONDS_FOR_ANYTHING, SESSION, Residence, request, wait_for
from tests.support.running import Run
from tests.support.transcript import Home


@pytest.fixture
def ended(home: Home, run: Run, tmp_path: Path) -> None:
    """Make the index that `run` uses, and end whatever serves it after the test."""
    home.session(SESSION).prompt("find the slow query")
    run("index")


@pytest.fixture(autouse=True)
def no_process_is_left(tmp_path: Path) -> Iterator[None]:
    """End what a test started."""
    yield
    control.stop(tmp_path / "index")


def test_starts_and_finds_and_ends(run: Run, ended: None, tmp_path: Path) -> None:
    """It starts the process, finds it the next time, and ends it; the index then has none."""
    first = run("serve", "--json").json
    second = run("serve", "--json").json
    told = run("status").out
    stopped = run("serve", "--stop", "--json").json
    again = run("serve", "--stop")

    assert first == second
    assert str(connect.socket_path(tmp_path / "index")) == first["socket"]
    assert f"by process {first['pid']}" in told
    assert {"stopped": first["pid"]} == stopped
    assert (0, "No process serves that index.\n") == (again.status, again.err)
    assert "by no process" in run("status").out


def test_tells_the_address_of_the_port(run: Run, ended: None, tmp_path: Path) -> None:
    """With --port it tells the address that holds the token, and tells it again without."""
    told = run("serve", "--port", "0").out.splitlines()
    again = run("serve", "--json").json["address"]
    residence = Residence(tmp_path)
    bearer = f"Bearer {told[1].partition('/#token=')[2]}"
    port = int(told[1].rpartition(":")[2].partition("/")[0])

    reply = residence.send(request("/v1/health", Host=f"127.0.0.1:{port}", Authorization=bearer), port)

    assert told[1] == again
    assert 200 == reply.status


def test_port_that_is_taken(run: Run, ended: None) -> None:
    """A port that another program has is an error that names it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        answer = run("serve", "--port", str(port))

    assert 2 == answer.status
    assert f"cannot listen on port {port}" in answer.err


def test_another_port(run: Run, ended: None) -> None:
    """Where it listens on a port already, another one is refused with what to do."""
    run("serve", "--port", "0")

    answer = run("serve", "--port", "1")

    assert 2 == answer.status
    assert "--stop" in answer.err


def test_no_index(run: Run) -> None:
    """Without an index there is nothing to serve."""
    answer = run("serve", "--json")

    assert 2 == answer.status
    assert "IndexMissing" == answer.json["error"]["kind"]


def test_index_of_another_format(run: Run, ended: None, tmp_path: Path) -> None:
    """An index of another format is refused with the command to run, and nothing is started."""
    (tmp_path / "index" / "manifest.json").write_text('{"format": 99}')

    answer = run("serve")

    assert 2 == answer.status
    assert "--rebuild" in answer.err
    assert control.health(tmp_path / "index") is None


def test_other_roots_start_it_anew(run: Run, ended: None, tmp_path: Path) -> None:
    """Asked for other roots than the process follows, another takes its place; otherwise it stays."""
    other = Home(tmp_path / "other")
    first = run("serve", "--json").json["pid"]

    second = run("serve", "--json", "--root", str(other.root)).json["pid"]
    third = run("serve", "--json").json["pid"]

    assert first != second
    assert second == third


def test_ends_one_that_hangs(residence: Residence, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that answers no more is killed."""
    process = residence.serve()
    process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(control, "ENDING_SECONDS", 0.2)

    answer = run("serve", "--stop", "--json")

    assert {"stopped": process.pid} == answer.json
    assert process.poll() is not None


def test_ends_one_whose_starter_does_not_wait_for_it(residence: Residence, run: Run) -> None:
    """What is left of a process until its starter asks for it is not taken for the process."""
    # This test is the starter, and asks only afterwards.
    process = residence.serve()
    stopping = subprocess.run(
        [sys.executable, "-m", "searchkit.cli.main", "serve", "--stop", "--json"],
        capture_output=True,
        check=False,
        timeout=SECONDS_FOR_ANYTHING,
    )

    assert (0, {"stopped": process.pid}) == (stopping.returncode, json.loads(stopping.stdout))
    process.wait()


def test_signals_nobody_who_does_not_hold_the_lock(residence: Residence, run: Run) -> None:
    """The id in a lock that nobody holds may be anybody's by now."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as bystander:
        connect.lock_path(residence.index).write_text(str(bystander.pid))
        with socket.socket(socket.AF_UNIX) as listening:
            # Nobody accepts, so nobody answers.
            listening.bind(str(connect.socket_path(residence.index)))
            listening.listen()

            answer = run("serve", "--stop", "--json")

        is_alive = bystander.poll() is None
        bystander.kill()

    assert ({"stopped": None}, True) == (answer.json, is_alive)


def test_leaves_a_successor_alone(residence: Residence, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once another process has the lock the old one is gone, and whoever has its id now is not killed."""
    monkeypatch.setattr(control, "ENDING_SECONDS", 0.1)
    sleeping = [sys.executable, "-c", "import time; time.sleep(600)"]
    lock = alone.hold(connect.lock_path(residence.index))
    assert lock is not None
    with (
        subprocess.Popen(sleeping) as bystander,
        subprocess.Popen(sleeping) as successor,
        socket.socket(socket.AF_UNIX) as listening,
        ThreadPoolExecutor() as pool,
    ):
        connect.lock_path(residence.index).write_text(str(successor.pid))
        listening.bind(str(connect.socket_path(residence.index)))
        listening.listen()
        stopping = pool.submit(control.stop, residence.index)
        asking, _ = listening.accept()
        with asking:
            asking.recv(65_536)
            asking.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps({"pid": bystander.pid}).encode())

        done, _ = wait([stopping], SECONDS_FOR_ANYTHING / 10)

        are_alive = [one.poll() is None for one in (bystander, successor)]
        bystander.kill()
        successor.kill()
        # Whoever still waits for the lock gets it.
        os.close(lock)

    assert ({stopping}, [True, True]) == (done, are_alive)
    assert bystander.pid == stopping.result()


def test_stays_with_one_that_is_silent(residence: Residence, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --foreground it stays while the process lives, also where that answers nothing for a while."""
    process = residence.serve()
    heard: list[control.Fields | None] = []
    ask = control.health

    def listened(index: Path) -> control.Fields | None:
        heard.append(ask(index))
        return heard[-1]

    monkeypatch.setattr(control, "health", listened)
    monkeypatch.setattr(serving, "LOOK_SECONDS", 0.01)
    with ThreadPoolExecutor() as pool:
        staying = pool.submit(run, "serve", "--foreground")
        wait_for(lambda: len(heard) > 1)
        process.send_signal(signal.SIGSTOP)

        wait_for(lambda: heard.count(None) > 1 or staying.done())

        has_stayed = not staying.done()
        process.kill()
        answer = staying.result(SECONDS_FOR_ANYTHING)

    assert has_stayed
    assert 0 == answer.status
