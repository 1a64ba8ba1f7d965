"""The process is there once, comes back at once, and leaves when it should."""

import json
import signal
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.local import layout
from searchkit.backends.local.open import writing
from searchkit.client import connect, control
from searchkit.system.files import write_private
from tests.server.residence import SECONDS_FOR_ANYTHING, SESSION, Residence, wait_for
from tests.support.answers import OTHER


def test_never_twice(residence: Residence) -> None:
    """Of 20 processes started at once one stays, and the others leave quietly."""
    processes = [residence.start() for _ in range(20)]

    said = wait_for(lambda: control.health(residence.index))
    stays = next(process for process in processes if process.pid == said["pid"])
    left = [process.wait(SECONDS_FOR_ANYTHING) for process in processes if process is not stays]

    assert [0] * 19 == left
    assert stays.poll() is None
    assert said["pid"] == residence.get("/v1/health")[1]["pid"]


def test_comes_back_after_a_kill(residence: Residence) -> None:
    """After SIGKILL the socket is still there, and the next process takes its place and answers."""
    first = residence.serve()
    first.kill()
    first.wait(SECONDS_FOR_ANYTHING)
    was_left = connect.socket_path(residence.index).exists()

    residence.serve()

    assert was_left
    assert 1 == residence.found("slow")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_leaves_when_told(residence: Residence, number: signal.Signals) -> None:
    """A signal ends it with status 0, and nothing leads to it any more."""
    process = residence.serve("--port", "0")

    process.send_signal(number)

    assert 0 == process.wait(SECONDS_FOR_ANYTHING)
    assert not connect.socket_path(residence.index).exists()
    assert connect.door(residence.index) is None


def test_leaves_when_nobody_asks(residence: Residence) -> None:
    """After a while without a request it leaves by itself, and says why in its log."""
    process = residence.start(SEARCHKIT_IDLE_SECONDS="0.5")

    assert 0 == process.wait(SECONDS_FOR_ANYTHING)
    assert "nobody asked for 0.5 s" in connect.log_path(residence.index).read_text()
    with pytest.raises(connect.NobodyThere):
        connect.ask(str(residence.index), "GET", "/v1/health")


def remove_socket(index: Path) -> None:
    """Take the socket away."""
    connect.socket_path(index).unlink()


def remove_index(index: Path) -> None:
    """Take the whole index away."""
    index.rename(index.with_name("away"))


def change_format(index: Path) -> None:
    """Let another version of searchkit build the index again; like any writer it is alone."""
    with writing(index / layout.LOCK, wait=True):
        write_private(index / layout.MANIFEST, json.dumps({"format": layout.FORMAT + 1}).encode())


@pytest.mark.parametrize("happens", [remove_socket, remove_index, change_format])
def test_leaves_when_what_it_serves_is_gone(residence: Residence, happens: Callable[[Path], None]) -> None:
    """Without its socket or its index, or with an index of another format, it leaves."""
    process = residence.serve()

    happens(residence.index)

    assert 0 == process.wait(SECONDS_FOR_ANYTHING)


def test_leaves_the_socket_of_its_successor(residence: Residence) -> None:
    """A process whose index was replaced takes nothing away from the process of the new one."""
    first = residence.serve()
    residence.index.rename(residence.index.with_name("old"))
    residence.build()
    second = residence.serve()

    assert 0 == first.wait(SECONDS_FOR_ANYTHING)
    assert second.pid == residence.get("/v1/health")[1]["pid"]


def test_refuses_an_index_of_another_format(residence: Residence) -> None:
    """It does not serve what it cannot read, and its log says why."""
    change_format(residence.index)

    process = residence.start()

    assert 2 == process.wait(SECONDS_FOR_ANYTHING)
    assert f"has format {layout.FORMAT + 1}" in connect.log_path(residence.index).read_text()


def test_refuses_a_directory_that_is_not_there(residence: Residence) -> None:
    """Without an index there is nothing to serve, and nothing is made."""
    residence.index = residence.index.with_name("nowhere")

    process = residence.start()

    assert 2 == process.wait(SECONDS_FOR_ANYTHING)
    assert not residence.index.exists()


def test_only_its_owner_can_reach_it(residence: Residence) -> None:
    """Whatever the process makes beside the index has mode 0600."""
    residence.serve("--port", "0")

    made = [path for path in residence.index.iterdir() if path.name.startswith("resident.")]

    assert {"resident.sock", "resident.lock", "resident.log", "resident.json"} == {path.name for path in made}
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in made}


def test_socket_of_a_long_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index whose path is too long for a socket is served by one in a directory of the user's own."""
    residence = Residence(tmp_path / ("long" * 40))
    # What pytest gives is too long a path as well.
    with tempfile.TemporaryDirectory() as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        try:
            residence.build()
            residence.serve()

            path = connect.socket_path(residence.index)

            assert path.parent.parent == Path(runtime)
            assert 0o700 == stat.S_IMODE(path.parent.stat().st_mode)
            assert 200 == residence.get("/v1/health")[0]
        finally:
            residence.close()


def test_index_that_is_replaced(residence: Residence) -> None:
    """An index that is moved aside and built again is served by the same process, which keeps its files."""
    process = residence.serve()
    before = residence.found("slow")
    layout.set_aside(residence.index, "now")
    residence.home.session(SESSION).prompt("another slow query", uuid="22222222-2222-4222-8222-222222222222")

    residence.build()

    assert 1 == before
    assert wait_for(lambda: 2 == residence.found("slow"))
    assert process.pid == residence.get("/v1/health")[1]["pid"]
    assert not list((residence.index / layout.ASIDE / "now").glob("resident.*"))


def test_session_that_is_pruned(residence: Residence) -> None:
    """What is forgotten beside the process is not found by it any more."""
    residence.serve()
    before = residence.found("slow")

    with Engine(residence.index) as engine:
        engine.prune([SESSION])

    assert (1, 0) == (before, residence.found("slow"))


def test_session_that_is_pruned_while_it_is_read(residence: Residence) -> None:
    """Of a conversation that the page leafs through nothing is told any more once it is forgotten (issue 15)."""
    told = residence.home.session(OTHER, branch="fix/zanzibar", cwd="/home/mira/src/zanzibar")
    uuid = told.prompt("the mandrake screams at night")["uuid"]
    told.line({"type": "custom-title", "customTitle": "the mandrake of zanzibar", "sessionId": OTHER})
    residence.build()
    residence.serve()
    path = f"/v1/readings/{uuid}"
    status, before = residence.get(path)

    with Engine(residence.index) as engine:
        engine.prune([OTHER])

    replies = [residence.get(address) for address in (f"{path}?as_of={before['as_of']}", path)]
    assert (200, "the mandrake of zanzibar") == (status, before["title"])
    assert [404, 404] == [status for status, _ in replies]
    assert not any(word in str(said) for _, said in replies for word in ("mandrake", "zanzibar"))
