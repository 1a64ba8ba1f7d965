"""Files of the process that somebody else prepared, or can write, are refused with a sentence."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from searchkit.client import connect, control
from searchkit.errors import NotPrivate
from searchkit.server.security import Doors
from searchkit.system import locks as alone
from tests.server.residence import SECONDS_FOR_ANYTHING, Residence
from tests.support.running import Run

NAMES = [connect.LOCK, connect.LOG, connect.DOOR, connect.FIRST_PAGE, connect.SOCKET]
NOBODY = 65_534


def link(path: Path) -> None:
    """Put a link there that leads to something precious."""
    precious = path.parent.parent / "precious"
    precious.write_text("precious")
    path.symlink_to(precious)


def open_to_all(path: Path) -> None:
    """Put a file there that everybody can write."""
    path.write_text("")
    path.chmod(0o666)


def give_away(path: Path) -> None:
    """Put a file of another user there."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path.write_text("")
    os.chown(path, NOBODY, NOBODY)


@pytest.mark.parametrize("prepare", [link, open_to_all, give_away])
@pytest.mark.parametrize("name", NAMES)
def test_process_does_not_start(residence: Residence, name: str, prepare: Callable[[Path], None]) -> None:
    """With a prepared file in the index the process says what is wrong and leaves, and touches nothing (issue 15)."""
    prepare(residence.index / name)

    process = residence.start()

    assert 2 == process.wait(SECONDS_FOR_ANYTHING)
    said = process.stderr.read().decode() if process.stderr else ""
    assert str(residence.index / name) in said
    assert "Traceback" not in said
    precious = residence.index.parent / "precious"
    assert not precious.exists() or "precious" == precious.read_text()


def test_serve_says_why_at_once(residence: Residence) -> None:
    """Who starts the process is told the reason, and does not wait for one that never comes (issue 15)."""
    open_to_all(residence.index / connect.LOG)

    with pytest.raises(NotPrivate, match="can be written by other users") as refused:
        control.start(residence.index, ())

    assert "chmod go-w" in refused.value.hint


def test_directory_that_others_can_write(residence: Residence) -> None:
    """Whoever can write the directory could replace the socket, so it is not used (issue 15)."""
    residence.serve()
    residence.index.chmod(0o777)

    with pytest.raises(connect.NoAnswer, match="can be written by other users"):
        connect.ask(str(residence.index), "GET", "/v1/health")
    with pytest.raises(NotPrivate):
        control.start(residence.index, ())


def test_socket_of_another_user_is_not_asked(residence: Residence, run: Run) -> None:
    """A socket that somebody else put there is told nothing; the command runs by itself (issue 15)."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a socket away")
    residence.serve()
    os.chown(connect.socket_path(residence.index), NOBODY, NOBODY)

    with pytest.raises(connect.NoAnswer, match="belongs to another user"):
        connect.ask(str(residence.index), "GET", "/v1/health")


def test_lock_that_is_a_link_empties_nothing(tmp_path: Path) -> None:
    """Taking the lock empties the file, which must be the lock itself (issue 15)."""
    index = tmp_path / "index"
    index.mkdir()
    link(index / connect.LOCK)

    with pytest.raises(NotPrivate, match="symbolic link"):
        alone.hold(connect.lock_path(index))

    assert "precious" == (tmp_path / "precious").read_text()


@pytest.mark.parametrize("name", ["resident.json", "resident.new"])
def test_token_is_not_written_through_a_link(tmp_path: Path, name: str) -> None:
    """The token goes into a file of the process's own (issue 15)."""
    index = tmp_path / "index"
    index.mkdir()
    link(index / name)
    with socket.socket(socket.AF_UNIX) as first:
        door = Doors(index, first).add_port(0)
        door.listening.close()

    assert "precious" == (tmp_path / "precious").read_text()
    assert door.token == (connect.door(index) or {})["token"]


def test_door_that_others_can_write_is_not_believed(tmp_path: Path) -> None:
    """A port and a token that somebody else could have written lead the user to his page (issue 15)."""
    open_to_all(tmp_path / connect.DOOR)
    (tmp_path / connect.DOOR).write_text('{"pid": 1, "port": 2, "token": "theirs", "page_token": "theirs"}')

    with pytest.raises(NotPrivate, match="can be written by other users"):
        connect.door(tmp_path)


def make_open_to_all(path: Path) -> None:
    """Put a directory there that everybody can write."""
    path.mkdir()
    path.chmod(0o777)


def make_and_give_away(path: Path) -> None:
    """Put a directory of another user there."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    path.mkdir(mode=0o700)
    os.chown(path, NOBODY, NOBODY)


@pytest.mark.parametrize("prepare", [link, open_to_all, make_open_to_all, make_and_give_away])
def test_prepared_directory_of_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepare: Callable[[Path], None]
) -> None:
    """Where the path of an index is too long for a socket, a prepared place for it is told of at once (issue 15)."""
    runtime, index = tmp_path / "runtime", tmp_path / ("long" * 40)
    runtime.mkdir()
    index.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    place = runtime / f"searchkit-{os.getuid()}"
    prepare(place)

    with pytest.raises(NotPrivate, match=str(place)):
        control.start(index, ())
    with pytest.raises(connect.NoAnswer, match=str(place)):
        connect.ask(str(index), "GET", "/v1/health")


def test_directory_of_sockets_is_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that others can look into is the user's all the same, and is closed to them (issue 15)."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    place = tmp_path / f"searchkit-{os.getuid()}"
    place.mkdir()
    place.chmod(0o755)

    path = connect.socket_path(tmp_path / ("long" * 40))

    assert (place, 0o700) == (path.parent, stat.S_IMODE(place.stat().st_mode))


def test_user_may_link_to_his_index(residence: Residence) -> None:
    """An index on another disk, with the user's own link to it, is served as before."""
    moved = residence.index.with_name("moved")
    residence.index.rename(moved)
    residence.index.symlink_to(moved)

    residence.serve()

    assert 1 == residence.found("slow")
