"""The package from Python: what it exports, what results offer, and that `docs/python.md` works as it is shown."""

import re
from pathlib import Path

import pytest

import searchkit
from searchkit import Engine, errors
from searchkit.backends.base import Order
from searchkit.errors import UsageError
from searchkit.query.parse import understand
from searchkit.query.types import Group, Mode
from tests.support.answers import SESSION
from tests.support.probe import searched
from tests.support.running import Run
from tests.support.transcript import Home

PAGE = Path(__file__).parent.parent.parent / "docs" / "python.md"
SAMPLE = Path(__file__).parent.parent.parent / "searchkit" / "sample"
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

    assert 6 == len(printed)
    assert all(printed), printed
    assert "webhook" in printed[0]


EXPORTED = {"Answer", "Conversation", "Engine", "Result", "Session"}


def test_exported_members() -> None:
    """The package exports the engine, what it returns, and every error; nothing comes or goes by accident."""
    raised = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)}

    assert EXPORTED | raised == set(searchkit.__all__)
    assert set(searchkit.__all__) <= set(dir(searchkit))
    assert sorted(searchkit.__all__) == [getattr(searchkit, name).__name__ for name in sorted(searchkit.__all__)]


def test_exported_members_are_documented() -> None:
    """The page names what is exported; of the errors, those that others derive from."""
    page = PAGE.read_text(encoding="utf-8")
    families = {"SearchkitError", "UsageError", "SourceError", "IndexFault", "ModelFault"}

    assert [] == [name for name in EXPORTED | families if f"`{name}`" not in page]


def test_result_offers_what_was_found(tmp_path: Path) -> None:
    """A result and its further passages have the text, the id and the place as properties of their own."""
    with searched(tmp_path, _write) as engine:
        (result,) = engine.search("lantern", mode=Mode.KEYWORD, group=Group.SESSION, sort=Order.RELEVANCE).results
        every = engine.search("lantern", mode="keyword", group="none", sort="oldest").results

    part, link = result.best.stored.part, result.best.stored.link
    assert (part.text, part.uuid, part.kind, link.time) == (result.text, result.uuid, result.kind, result.time)
    assert (result.best.ranked.score, result.best.passage.text) == (result.score, result.snippet)
    assert ("/home/mira/src/shop", SESSION) == (result.project, result.session.id if result.session else None)
    assert ["lantern asked", "the lantern is answered"] == [one.text for one in every]
    assert {one.uuid for one in every} == {result.uuid, *(one.uuid for one in result.others)}


def _write(home: Home) -> None:
    session = home.session(SESSION)
    session.prompt("lantern asked")
    session.text("the lantern is answered")


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
