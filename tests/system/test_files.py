"""Files and directories that are the user's alone."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from searchkit.errors import NotPrivate
from searchkit.system.files import check_owned, open_private, read_private, write_private

NOBODY = 65_534


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def foreign_file(directory: Path) -> Path:
    """A file of another user: one that root gives away, or one of root's."""
    if os.geteuid() != 0:
        return Path("/etc/passwd")
    path = directory / "foreign"
    path.write_text("theirs")
    os.chown(path, NOBODY, NOBODY)
    return path


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A file that a link could lead to; whatever is done, its content stays."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = elsewhere / "precious"
    path.write_text("precious")
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own"
    path.mkdir(mode=0o700)
    return path


class TestChecking:
    @pytest.mark.parametrize("bits", [0o700, 0o755, 0o500])
    def test_own_directories_pass_that_nobody_else_can_write(self, own: Path, bits: int) -> None:
        """Others may see a directory; only writing is refused here (issue 15)."""
        own.chmod(bits)

        check_owned(own)

    @pytest.mark.parametrize("bits", [0o720, 0o702, 0o777, 0o1777])
    def test_what_others_can_write_is_refused(self, own: Path, bits: int) -> None:
        """A directory that the group or everybody can write is refused, with what to do (issue 15)."""
        own.chmod(bits)

        with pytest.raises(NotPrivate, match="can be written by other users") as refused:
            check_owned(own)

        assert f"chmod go-w {own}" in refused.value.hint

    def test_what_belongs_to_another_user_is_refused(self, own: Path) -> None:
        """A file that another user prepared is not used (issue 15)."""
        with pytest.raises(NotPrivate, match="belongs to another user"):
            check_owned(foreign_file(own))

    def test_a_link_that_leads_out_is_refused(self, own: Path, theirs: Path) -> None:
        """A link out of its directory is refused, one inside passes (issue 15)."""
        (own / "out").symlink_to(theirs)
        (own / "file").write_text("")
        (own / "in").symlink_to("file")

        check_owned(own / "in")
        with pytest.raises(NotPrivate, match="symbolic link that leads to"):
            check_owned(own / "out")

    def test_a_directory_that_the_user_named_may_be_his_link(self, own: Path, theirs: Path) -> None:
        """Who keeps his index on another disk may link to it; what it leads to is checked all the same (issue 15)."""
        link = own / "index"
        link.symlink_to(theirs.parent)

        check_owned(link, may_be_link=True)

        theirs.parent.chmod(0o777)
        with pytest.raises(NotPrivate, match="can be written"):
            check_owned(link, may_be_link=True)

    def test_a_link_of_another_user_is_refused(self, own: Path, theirs: Path) -> None:
        """A link that somebody else made is never followed, wherever it leads (issue 15)."""
        if os.geteuid() != 0:
            pytest.skip("only root can give a link away")
        link = own / "index"
        link.symlink_to(theirs.parent)
        os.chown(link, NOBODY, NOBODY, follow_symlinks=False)

        with pytest.raises(NotPrivate, match="belongs to another user"):
            check_owned(link, may_be_link=True)

    def test_what_is_not_there_is_said_by_the_system(self, own: Path) -> None:
        """A missing file is no question of ownership."""
        with pytest.raises(FileNotFoundError):
            check_owned(own / "nothing")


class TestOpening:
    def test_a_new_file_is_its_owners_only(self, own: Path) -> None:
        """The mode does not depend on the umask, and programs that are started do not get the file (issue 15)."""
        before = os.umask(0)
        try:
            descriptor = open_private(own / "new", os.O_CREAT | os.O_RDWR)
        finally:
            os.umask(before)

        assert 0o600 == mode(own / "new")
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)

    @pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR, os.O_CREAT | os.O_WRONLY | os.O_TRUNC])
    def test_no_link_is_followed(self, own: Path, theirs: Path, flags: int) -> None:
        """A link in place of a file is refused, and what it leads to stays as it is (issue 15)."""
        (own / "lock").symlink_to(theirs)

        with pytest.raises(NotPrivate, match="is a symbolic link"):
            open_private(own / "lock", flags)

        assert "precious" == theirs.read_text()

    def test_a_foreign_file_is_not_emptied(self, own: Path) -> None:
        """What is refused was not emptied first (issue 15)."""
        path = own / "shared"
        path.write_text("theirs")
        path.chmod(0o666)

        with pytest.raises(NotPrivate, match="can be written"):
            open_private(path, os.O_WRONLY | os.O_TRUNC)

        assert "theirs" == path.read_text()

    @pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR])
    def test_a_pipe_is_refused_and_not_waited_for(self, own: Path, flags: int) -> None:
        """Opening a pipe would wait for whoever is at its other end (issue 15)."""
        os.mkfifo(own / "pipe", 0o600)

        with pytest.raises(NotPrivate, match="no regular file"):
            open_private(own / "pipe", flags)

    def test_what_others_could_read_is_closed_to_them(self, own: Path) -> None:
        """Modes are mended when a file is opened for writing (issue 15)."""
        path = own / "log"
        path.write_text("")
        path.chmod(0o644)

        os.close(open_private(path, os.O_WRONLY))

        assert 0o600 == mode(path)

    def test_descriptors_of_what_is_refused_are_closed(self, own: Path) -> None:
        """A refusal leaves nothing open (issue 15)."""
        path = own / "shared"
        path.touch()
        path.chmod(0o666)
        before = os.dup(0)
        os.close(before)

        with pytest.raises(NotPrivate):
            open_private(path, os.O_RDONLY)

        after = os.dup(0)
        os.close(after)
        assert before == after


class TestWriting:
    def test_what_is_written_is_its_owners_only(self, own: Path) -> None:
        """It is there whole, with mode 0600, and nothing is left beside it (issue 15)."""
        write_private(own / "door.json", b"first")
        write_private(own / "door.json", b"second")

        assert b"second" == read_private(own / "door.json")
        assert 0o600 == mode(own / "door.json")
        assert [own / "door.json"] == list(own.iterdir())

    @pytest.mark.parametrize("name", ["door.json", "door.new"])
    def test_a_link_is_replaced_and_not_written_through(self, own: Path, theirs: Path, name: str) -> None:
        """Neither the file nor the one beside it lead the content elsewhere (issue 15)."""
        (own / name).symlink_to(theirs)

        write_private(own / "door.json", b"secret")

        assert "precious" == theirs.read_text()
        assert b"secret" == read_private(own / "door.json")

    def test_a_write_that_fails_leaves_what_was_there(self, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A full disk leaves the old content, and no half file beside it (issue 15)."""
        write_private(own / "door.json", b"first")

        def fail(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="No space"):
                write_private(own / "door.json", b"second")

        assert b"first" == read_private(own / "door.json")
        assert [own / "door.json"] == list(own.iterdir())


@pytest.mark.parametrize("call", [lambda path: check_owned(str(path)), lambda path: read_private(str(path))])
def test_paths_may_be_strings(own: Path, call: Callable[[Path], object]) -> None:
    """Clients have strings: what paths are made of takes too long to import for them."""
    write_private(str(own / "file"), b"")

    call(own / "file")


def test_importing_it_imports_almost_nothing() -> None:
    """The client of the resident process imports it before every command."""
    code = "import sys; before = set(sys.modules); import searchkit.system.files; print(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)},
    )

    assert {"searchkit", "searchkit.errors", "searchkit.system", "searchkit.system.files"} == set(
        done.stdout.split()
    ) - {"errno"}
