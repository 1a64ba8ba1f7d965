"""The documentation says what is so."""

import re
import time
from pathlib import Path

import click
import pytest

from searchkit.cli.main import COMMANDS, cli
from searchkit.engine import Engine
from searchkit.render import search

ROOT = Path(__file__).parent.parent.parent
SAMPLE = ROOT / "searchkit" / "sample"
README = (ROOT / "README.md").read_text(encoding="utf-8")
_AGE = re.compile(r"\d+ (?:y|mo|d|h|min) ago")


def test_readme_shows_what_is_printed(tmp_path: Path) -> None:
    """The search at the top of the README prints just that over the sample, but for how long ago it was."""
    shown = re.search(r"```\n\$ searchkit search (.+?) --limit (\d+)\n\n(.+?)\n```", README, re.DOTALL)
    assert shown is not None
    words, limit, output = shown.groups()

    with Engine(tmp_path / "index", [SAMPLE]) as engine:
        engine.index()
        lines = search.answer(engine.search(words, int(limit)), 100, time.time())
        printed = re.sub(r"\x1b\[\d+m", "", "\n".join(lines)).rstrip()

    assert _AGE.sub("AGO", output) == _AGE.sub("AGO", printed)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    """A command has help of its own, as has each of its options, and is named in the README."""
    command = cli.get_command(click.Context(cli), name)

    assert command is not None
    assert command.help
    assert [] == [option for option in command.params if isinstance(option, click.Option) and not option.help]
    assert re.search(rf"\b{name}\b", README)


def test_every_command_can_be_run() -> None:
    """Every module of commands that makes a command is one that the command line knows."""
    modules = (ROOT / "searchkit" / "cli" / "commands").glob("*.py")
    made = {
        name: path.stem
        for path in modules
        for name in re.findall(
            r"^@click\.command.*?^def (\w+)", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
    }

    assert dict(sorted(made.items())) == COMMANDS
