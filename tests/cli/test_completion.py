"""What a shell is offered while a command is typed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


def offered(monkeypatch: pytest.MonkeyPatch, run: Run, *words: str) -> list[str]:
    """Return what bash would be offered for the last of these words."""
    monkeypatch.setenv("_SEARCHKIT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(("searchkit", *words)))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    answer = run()
    assert (0, "") == (answer.status, answer.err)
    return [line.partition(",")[2] for line in answer.out.split()]


@pytest.fixture
def indexed_shop(home: Home, run: Run) -> Run:
    """Sessions of two projects, one with a line break in its path, and of two branches."""
    shop = home.session(SESSION, branch="fix/slow")
    shop.call("Bash", {"command": "ls"})
    shop.call("mcp__github__search", {"q": "x"})
    home.session(OTHER, cwd="/home/mira/src/ship\nwreck", model="claude-haiku-4-5").text("hello to you")
    run("index")
    return run


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["se"], ["search", "serve", "sessions"]),
        (["sessions", "--ki"], ["--kind"]),
        (["sessions", "--project", "sh"], ["shop"]),
        (["sessions", "--project", "/home/"], ["/home/mira/src/shop"]),
        (["sessions", "--branch", ""], ["fix/slow", "main"]),
        (["stats", "--tool", "b"], ["Bash"]),
        (["stats", "--tool", "mcp"], ["mcp__github__search"]),
        (["sessions", "--model", "claude-h"], ["claude-haiku-4-5"]),
        (["sessions", "--kind", "th"], ["thinking"]),
        (["sessions", "--role", "a"], ["assistant"]),
        (["sessions", "--language", ""], ["en"]),
        (["sessions", "--is", "e"], ["error"]),
        (["resume", "2"], [OTHER]),
        (["stats", "--by", "m"], ["month", "model"]),
    ],
)
def test_names_and_values_are_offered(
    indexed_shop: Run, monkeypatch: pytest.MonkeyPatch, words: list[str], expected: list[str]
) -> None:
    """Commands, options, and the values there are of a filter are completed, each but once."""
    assert expected == offered(monkeypatch, indexed_shop, *words)


@pytest.mark.parametrize("words", [["sessions", "--project", "s"], ["resume", "1"]])
def test_nothing_is_offered_where_there_is_no_index(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """A person who types is not shown an error."""
    assert [] == offered(monkeypatch, run, *words)


def test_damaged_index_offers_nothing(indexed_shop: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor is he when the index cannot be read."""
    (tmp_path / "index" / "catalog.db").write_bytes(b"this is no database" * 1_000)

    assert [] == offered(monkeypatch, indexed_shop, "sessions", "--branch", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_names_the_command(run: Run, shell: str) -> None:
    """Each shell gets a script of its own, which asks searchkit."""
    plain, as_json = run("completion", shell), run("completion", shell, "--json")

    assert (0, True) == (plain.status, f"_SEARCHKIT_COMPLETE={shell}_complete" in plain.out)
    assert (shell, plain.out.strip()) == (as_json.json["shell"], as_json.json["script"].strip())
    assert 2 == run("completion", "cmd").status


def test_script_is_one_that_bash_reads(run: Run) -> None:
    """What is printed for bash has no error in it."""
    script = run("completion", "bash").out

    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)

    assert (0, "") == (checked.returncode, checked.stderr)
    assert sys.executable not in script
