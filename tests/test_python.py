"""What `docs/python.md` shows works as it is shown, and what is chosen by name is taken or refused."""

import re
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.errors import UsageError
from searchkit.query.parse import understand
from tests.running import Run

PAGE = Path(__file__).parent.parent / "docs" / "python.md"
SAMPLE = Path(__file__).parent.parent / "searchkit" / "sample"
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_what_the_page_shows_works(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every piece of code runs after those before it, over the sample, and prints what it found."""
    monkeypatch.setenv("SEARCHKIT_ROOTS", str(SAMPLE))
    monkeypatch.setenv("SEARCHKIT_MODEL", "fake")
    names: dict[str, object] = {}
    printed = []

    for piece in CODE.findall(PAGE.read_text()):
        exec(compile(piece, PAGE.name, "exec"), names)
        printed.append(capsys.readouterr().out)

    assert 4 == len(printed)
    assert all(printed), printed
    assert "webhook" in printed[0]


@pytest.mark.parametrize(("name", "value"), [("mode", "meaning"), ("sort", "best"), ("group", "project")])
def test_choice_that_is_none_is_refused(tmp_path: Path, name: str, value: str) -> None:
    """It is not taken for another choice, and the error names those there are."""
    with Engine(tmp_path) as engine, pytest.raises(UsageError) as refused:
        engine.search("lantern", **{name: value})  # type: ignore[arg-type]

    assert value in refused.value.message
    assert {"mode": "keyword", "sort": "newest", "group": "none"}[name] in refused.value.hint


def test_filters_are_not_dropped(tmp_path: Path) -> None:
    """A question that was understood has its own filters, so that others beside it are refused."""
    with Engine(tmp_path) as engine, pytest.raises(UsageError, match="filters"):
        engine.search(understand("lantern"), filters=[("project", "shop")])
