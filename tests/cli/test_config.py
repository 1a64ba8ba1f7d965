"""Where things are: flags, then environment, then the file, then defaults."""

from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.config import resolve
from searchkit.errors import UsageError
from tests.support.transcript import Home


def test_defaults_lie_in_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any setting, no roots are chosen, and the index is in the user's data directory."""
    monkeypatch.setattr("sys.platform", "linux")

    settings = resolve(environment={"HOME": str(tmp_path)})

    assert () == settings.roots
    assert tmp_path / ".local" / "share" / "searchkit" == settings.index


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"CLAUDE_CONFIG_DIR": "/claude"}, ()),
        ({"CLAUDE_CONFIG_DIR": "/claude", "SEARCHKIT_ROOTS": "/one:/two"}, ("/one", "/two")),
        ({"SEARCHKIT_ROOTS": "~/one"}, ("HOME/one",)),
    ],
)
def test_environment_names_roots(tmp_path: Path, environment: dict[str, str], expected: tuple[str, ...]) -> None:
    """SEARCHKIT_ROOTS names several roots and goes before CLAUDE_CONFIG_DIR."""
    settings = resolve(environment={"HOME": str(tmp_path), **environment})

    assert tuple(Path(path.replace("HOME", str(tmp_path))) for path in expected) == settings.roots


def test_flags_go_before_all(tmp_path: Path) -> None:
    """What is given on the command line counts, whatever else is set."""
    environment = {"HOME": str(tmp_path), "SEARCHKIT_ROOTS": "/one", "SEARCHKIT_INDEX": "/index"}

    settings = resolve(["/flag"], "/flag-index", environment)

    assert ((Path("/flag"),), Path("/flag-index")) == (settings.roots, settings.index)


def test_file_goes_before_defaults(tmp_path: Path) -> None:
    """The configuration file names roots and index, and the environment goes before it."""
    file = tmp_path / "searchkit" / "config.toml"
    file.parent.mkdir()
    file.write_text('roots = ["/one", "~/two"]\nindex = "/index"\n', encoding="utf-8")
    environment = {"HOME": "/home/mira", "XDG_CONFIG_HOME": str(tmp_path)}

    settings = resolve(environment=environment)
    overridden = resolve(environment={**environment, "SEARCHKIT_INDEX": "/other"})

    assert (Path("/one"), Path("/home/mira/two")) == settings.roots
    assert (Path("/index"), Path("/other")) == (settings.index, overridden.index)


def test_broken_file_is_named(tmp_path: Path) -> None:
    """A configuration file that is not TOML is an error that names it."""
    file = tmp_path / "searchkit" / "config.toml"
    file.parent.mkdir()
    file.write_text("roots = [", encoding="utf-8")

    with pytest.raises(UsageError, match=r"config\.toml"):
        resolve(environment={"HOME": "/home/mira", "XDG_CONFIG_HOME": str(tmp_path)})


def test_index_is_brought_up_to_date_from_what_it_was_made_of(home: Home, tmp_path: Path) -> None:
    """Roots that nobody chooses are those of the index, not the default."""
    home.session("11111111-1111-4111-8111-111111111111").prompt("hello")
    Engine(tmp_path / "index", [home.root]).index()
    home.session("22222222-2222-4222-8222-222222222222").prompt("again")

    with Engine(tmp_path / "index") as engine:
        before = engine.status()
        engine.index()

        assert ([str(home.root)], 1, 0) == (list(before.roots), before.files_behind, engine.status().files_behind)
