"""Which program a directory is of, and where transcripts are looked for when nobody says."""

import ast
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import searchkit
from searchkit import Engine
from searchkit.errors import UsageError
from searchkit.sources import apps, registry
from searchkit.sources.apps import App
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


# It changes the settings of Claude Code, and nothing else.
SETTINGS = ("searchkit/cli/commands/install.py", "searchkit.sources.claude.retention_settings")


def test_nothing_else_imports_an_adapter() -> None:
    """What reads one program's transcripts is imported below `sources` alone; the registry imports it by name."""
    top = Path(searchkit.__file__).parent
    packages = tuple(app.package for app in apps.APPS.values())
    found = [
        (str(path.relative_to(top.parent)), name)
        for path in sorted(top.rglob("*.py"))
        if path.parent.parent.name != "sources"
        for name in _imported(ast.parse(path.read_text(encoding="utf-8")))
        if name.startswith(packages)
    ]

    assert [SETTINGS] == found


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{one.name}" for one in node.names if node.module == "searchkit.sources")
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def test_variable_moves_the_directory_of_a_program(tmp_path: Path) -> None:
    """Without a variable it is the program's own; with one it is that, whatever lies there."""
    environment = {"HOME": str(tmp_path)}

    assert (tmp_path / ".claude",) == registry.default_roots(environment)
    assert (Path("/elsewhere"),) == registry.default_roots({**environment, "CLAUDE_CONFIG_DIR": "/elsewhere"})


def test_unknown_program_is_refused(tmp_path: Path) -> None:
    """A name that is no program's is an error that lists those there are."""
    with pytest.raises(UsageError, match="nonesuch") as refused:
        registry.open_source("nonesuch", [tmp_path])

    assert "claude" in refused.value.hint


def test_empty_directory_is_refused_as_before(tmp_path: Path) -> None:
    """A root in which no program wrote anything is an error that says what is missing."""
    with pytest.raises(Exception, match="holds no projects/"):
        registry.open_sources([tmp_path])


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """A third program: one package and one row."""
    from searchkit.sources import claude

    package = types.ModuleType("parrot_adapter")
    opened: list[Sequence[Path]] = []

    def open_parrot(roots: Sequence[Path]) -> claude.ClaudeSource:
        opened.append(roots)
        return claude.ClaudeSource(roots)

    package.__dict__["open"] = open_parrot
    monkeypatch.setitem(sys.modules, "parrot_adapter", package)
    row = App(
        name="parrot",
        title="Parrot",
        package="parrot_adapter",
        home="~/.parrot",
        variable="PARROT_HOME",
        signs=("squawks",),
        watched=("squawks",),
        resume=("parrot", "again"),
    )
    monkeypatch.setattr(registry, "APPS", {**apps.APPS, "parrot": row})
    yield row
    assert opened


def test_row_is_all_that_a_program_needs(
    parrot: App, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that has a row is found where it lies, and read by its package, beside the others."""
    home.session(SESSION).prompt("hello")
    (tmp_path / ".parrot" / "squawks").mkdir(parents=True)
    (tmp_path / ".parrot" / "projects").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SEARCHKIT_ROOTS", raising=False)
    home.root.rename(tmp_path / ".claude")
    monkeypatch.setattr(registry, "APPS", {"parrot": parrot, **apps.APPS})

    with Engine(tmp_path / "index") as engine:
        engine.index()
        roots, sessions = engine.roots, engine.sessions()

    assert {tmp_path / ".claude", tmp_path / ".parrot"} == set(roots)
    assert [SESSION] == [one.id for one in sessions]


def test_program_that_is_new_is_found_by_an_index_of_the_defaults(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parrot: App
) -> None:
    """An index that was made from default roots follows them."""
    home.session(SESSION).prompt("hello")
    monkeypatch.setenv("HOME", str(tmp_path))
    home.root.rename(tmp_path / ".claude")
    Engine(tmp_path / "index").index()
    (tmp_path / ".parrot" / "squawks").mkdir(parents=True)
    (tmp_path / ".parrot" / "projects").mkdir()
    registry.open_source("parrot", [tmp_path / ".parrot"])

    assert (tmp_path / ".claude", tmp_path / ".parrot") == Engine(tmp_path / "index").roots


def test_longest_sign_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program that keeps more in a directory of the same name as another is known by that, whatever the order."""
    row = App(
        name="parrot",
        title="Parrot",
        package="parrot_adapter",
        home="~/.parrot",
        variable="PARROT_HOME",
        signs=("projects/*/chats",),
        watched=("projects",),
        resume=("parrot", "again"),
        marks=("PARROT_SPEAKS",),
    )
    chats = tmp_path / "parrot" / "projects" / "-src" / "chats"
    chats.mkdir(parents=True)
    (tmp_path / "claude" / "projects" / "-src").mkdir(parents=True)

    for rows in ({**apps.APPS, "parrot": row}, {"parrot": row, **apps.APPS}):
        monkeypatch.setattr(registry, "APPS", rows)

        assert "parrot" == registry.app_of(tmp_path / "parrot").name
        assert "parrot" == registry.app_of_file(str(chats / "a.jsonl")).name
        assert "claude" == registry.app_of(tmp_path / "claude").name


def test_variables_of_a_program_are_those_of_its_row() -> None:
    """What a command is handed of its shell, and whether an agent reads what it prints, follow from the rows."""
    for app in apps.APPS.values():
        assert {app.variable, *app.session_variables, *app.marks} <= apps.variables()
        assert app.marks
        assert all(apps.is_set_by_agent({name: "1"}) for name in app.marks)
    assert not apps.is_set_by_agent({"CODEX_HOME": "/x", "CLAUDECODE": ""})
