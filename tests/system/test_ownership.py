"""An index is its owner's alone: what somebody else prepared, can write or linked elsewhere is refused."""

import errno
import fcntl
import os
import shutil
import stat
from pathlib import Path

import pytest

from searchkit.embed.minilm import build
from tests.support.answers import SESSION
from tests.support.disk import fill
from tests.support.running import Run
from tests.support.transcript import Home

NOBODY = 65_534
IS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can give files to another user, or mount a disk")


@pytest.fixture
def index(home: Home, run: Run, tmp_path: Path) -> Path:
    """An index of one session."""
    home.session(SESSION).prompt("where is the lantern?")
    run("index")
    return tmp_path / "index"


@needs_root
@pytest.mark.parametrize("name", ["", "catalog.db", "lock", "manifest.json", "keyword"])
def test_what_belongs_to_somebody_else_is_refused(run: Run, index: Path, name: str) -> None:
    """A directory or a file of it that another user owns is not read, not written, and told (issue 15)."""
    os.chown(index / name, NOBODY, NOBODY)

    answers = [run("search", "lantern"), run("index"), run("index", "--rebuild"), run("prune", "--gone", "--yes")]

    assert [2] * 4 == [answer.status for answer in answers]
    assert all("belongs to another user" in answer.err for answer in answers)


@needs_root
def test_directory_that_somebody_else_prepared_gets_no_transcript(home: Home, run: Run, tmp_path: Path) -> None:
    """Nothing is written into a catalog that another user can read (issue 15)."""
    home.session(SESSION).prompt("where is the lantern?")
    prepared = tmp_path / "index"
    prepared.mkdir()
    (prepared / "catalog.db").touch(0o666)
    os.chown(prepared, NOBODY, NOBODY)

    answer = run("index")

    assert 2 == answer.status
    assert b"" == (prepared / "catalog.db").read_bytes()


@pytest.mark.parametrize("name", ["", "catalog.db"])
def test_what_others_can_write_is_refused(run: Run, index: Path, name: str) -> None:
    """A directory or a file that others can write may hold what they put there (issue 15)."""
    (index / name).chmod(0o777)

    answers = [run("search", "lantern"), run("index")]

    assert [(2, True)] * 2 == [(answer.status, "chmod go-w" in answer.err) for answer in answers]


@pytest.mark.parametrize("name", ["catalog.db", "lock", "manifest.json"])
def test_link_that_leads_out_is_not_followed(run: Run, index: Path, tmp_path: Path, name: str) -> None:
    """A file of the index that is a link to something else is refused, and that stays as it is (issue 15)."""
    precious = tmp_path / "precious"
    precious.write_text("a letter")
    (index / name).unlink(missing_ok=True)
    (index / name).symlink_to(precious)

    answers = [run("index"), run("index", "--rebuild")]

    assert [(2, True)] * 2 == [(answer.status, "symbolic link" in answer.err) for answer in answers]
    assert "a letter" == precious.read_text()


@pytest.mark.parametrize("command", [("search", "lantern"), ("index",)], ids=["search", "index"])
def test_directory_that_others_can_read_is_closed_to_them(
    run: Run, index: Path, command: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """The mode of the directory is mended by whoever opens it, who is told so (issue 15)."""
    index.chmod(0o755)

    answer = run(*command)

    assert 0o700 == stat.S_IMODE(index.stat().st_mode)
    assert f"{index} was open to other users" in answer.err + caplog.text


def test_file_system_without_locks_is_told(run: Run, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system refuses locks, the user is told what to do, and not that searchkit is wrong (issue 15)."""

    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)

    answer = run("index")

    assert (2, True, False) == (answer.status, "local disk" in answer.err, "fault of searchkit" in answer.err)


@needs_root
@pytest.mark.parametrize("is_linked", [False, True], ids=["a file", "a link to a file"])
def test_settings_of_somebody_else_are_refused(run: Run, index: Path, tmp_path: Path, is_linked: bool) -> None:
    """Settings name the index and the model, so those that another user wrote are not read (issue 15)."""
    settings = tmp_path / ".config" / "searchkit" / "config.toml"
    settings.parent.mkdir(parents=True)
    written = tmp_path / "elsewhere.toml" if is_linked else settings
    written.write_text('model = "somebody/elses"')
    if is_linked:
        settings.symlink_to(written)
    allowed = run("search", "lantern")
    os.chown(written, NOBODY, NOBODY)

    refused = run("search", "lantern")

    assert (0, 2) == (allowed.status, refused.status)
    assert "belongs to another user" in refused.err


def test_settings_that_others_can_write_are_refused(run: Run, index: Path, tmp_path: Path) -> None:
    """Whoever can write them could name an index and a model of his own (issue 15)."""
    settings = tmp_path / ".config" / "searchkit" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('model = "somebody/elses"')
    settings.chmod(0o666)

    refused = run("search", "lantern")

    assert (2, True) == (refused.status, f"chmod go-w {settings}" in refused.err)


@pytest.mark.parametrize("harm", ["directory", "file"])
def test_model_that_others_could_write_is_not_run(tmp_path: Path, caplog: pytest.LogCaptureFixture, harm: str) -> None:
    """A model that is kept where others can write is made again, and the user is told why (issue 15)."""
    place = tmp_path / "models"
    path = place / "model.onnx"
    ready = build.Ready(
        maker="m", stamp="s", weights="w", precision="int8", cosine=1.0, graph_hash=build.graph_hash(b"graph")
    )
    build.store(path, ready, b"graph")
    assert build.load(path) is not None
    (place if harm == "directory" else path).chmod(0o777)

    assert build.load(path) is None
    assert "can be written by other users" in caplog.text


@needs_root
def test_full_disk_is_read(index: Path, run: Run, small_disk: Path) -> None:
    """With no byte free, everything that reads still answers (issue 15)."""
    moved = small_disk / "index"
    shutil.copytree(index, moved)
    moved.chmod(0o700)
    fill(small_disk)

    answers = [
        run(*words, "--index", str(moved))
        for words in (("search", "lantern"), ("sessions",), ("status",), ("show", SESSION), ("doctor",), ("stats",))
    ]

    assert [(0, "")] * len(answers) == [(answer.status, answer.err) for answer in answers]


@needs_root
def test_full_disk_is_told_when_the_index_is_made(home: Home, run: Run, small_disk: Path) -> None:
    """A disk without room is named as such, wherever it is noticed (issue 15)."""
    home.session(SESSION).prompt("where is the lantern?")
    fill(small_disk)

    answer = run("index", "--index", str(small_disk / "index"))

    assert (2, False) == (answer.status, "fault of searchkit" in answer.err)
