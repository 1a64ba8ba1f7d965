"""The keyword index beside its catalog: behind it, ahead of it, damaged, gone."""

import logging
import shutil
import threading
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.local import layout
from searchkit.backends.local.open import writing
from searchkit.errors import IndexDamaged, IndexMissing, IndexUnwritable
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def engine(home: Home, tmp_path: Path) -> Engine:
    """An index of one prompt."""
    home.session(SESSION).prompt("find the slow query")
    engine = Engine(tmp_path / "index", [home.root])
    engine.index()
    return engine


def found(engine: Engine, words: str) -> list[str]:
    """Return what is found."""
    engine.close()
    return [result.best.stored.part.text for result in engine.search(words).results]


def test_index_ahead_of_its_catalog_is_made_anew(
    engine: Engine, home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A catalog that lost its last transactions to a power failure gives their numbers again."""
    shutil.copy(tmp_path / "index" / "catalog.db", tmp_path / "before.db")
    home.session(OTHER).prompt("a giraffe")
    engine.index()
    shutil.copy(tmp_path / "before.db", tmp_path / "index" / "catalog.db")
    for file in home.root.rglob(f"{OTHER}.jsonl"):
        file.unlink()
    home.session("33333333-3333-4333-8333-333333333333").prompt("a zebra")

    with caplog.at_level(logging.WARNING):
        engine.index()

    assert "ahead of the catalog" in caplog.text
    assert (["a zebra"], []) == (found(engine, "zebra"), found(engine, "giraffe"))


def test_what_a_kill_left_behind_is_no_damage_and_is_removed(engine: Engine, home: Home, tmp_path: Path) -> None:
    """A temporary file and an unfinished segment of Tantivy's are no damage, and the next writer removes the first."""
    engine.close()
    keyword = tmp_path / "index" / "keyword"
    draft, unfinished = keyword / ".tmpER6gP8", keyword / f"{'0' * 32}.term"
    for file in (draft, unfinished):
        file.write_bytes(b"half")

    findings = list(engine.findings(is_deep=True))
    home.session(OTHER).prompt("a giraffe")
    engine.index()

    assert [] == findings
    assert not draft.exists()


@pytest.mark.parametrize("ending", ["pos", "term", "fast", "json"])
def test_damage_is_told_and_mended_from_the_catalog(engine: Engine, tmp_path: Path, ending: str) -> None:
    """Whatever file is broken, the error says what to run, and that mends it."""
    engine.close()
    for file in (tmp_path / "index" / "keyword").glob(f"*.{ending}"):
        if not file.name.startswith(".managed"):
            file.write_bytes(b"nonsense")

    with pytest.raises(IndexDamaged) as damage:
        engine.search("slow")
    assert "searchkit index" in damage.value.hint
    engine.close()
    engine.index()

    assert ["find the slow query"] == found(engine, "slow")


def test_missing_keyword_index_is_no_damage(engine: Engine, tmp_path: Path) -> None:
    """While another process makes it, everything is still to be indexed; where nobody does, a search has it made."""
    engine.close()
    keyword = tmp_path / "index" / "keyword"
    shutil.rmtree(keyword)
    with writing(tmp_path / "index" / "lock", wait=False):
        answers = [engine.search("slow")]
        keyword.mkdir()
        answers.append(engine.search("slow", facets=["kind"]))
        engine.close()

    assert [(0, 0, 1)] * 2 == [(answer.total, answer.parts, answer.pending) for answer in answers]
    assert ["find the slow query"] == found(engine, "slow")


def test_index_that_goes_while_it_is_open_is_missing(engine: Engine, tmp_path: Path) -> None:
    """Pruning throws the words away first: whoever searches meanwhile is told what happened."""
    engine.search("slow")
    shutil.rmtree(tmp_path / "index" / "keyword")

    with pytest.raises(IndexMissing):
        engine.search("slow")


def test_newest_come_first_among_equals_however_many_there_are(home: Home, tmp_path: Path) -> None:
    """More parts than are looked at have the same score: the newest of all are shown."""
    transcript = home.session(SESSION)
    for number in range(150):
        transcript.prompt(f"again number{number}")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        shown = engine.search("again", 3, group="none")

    assert ["again number149", "again number148", "again number147"] == [
        result.best.stored.part.text for result in shown.results
    ]


def test_facets_count_what_is_found(engine: Engine) -> None:
    """Where nothing is found there is nothing to count."""
    assert {"kind": {"prompt": 1}} == engine.search("slow", facets=["kind"]).facets
    assert {"kind": {}} == engine.search("nowhere", facets=["kind"]).facets


def test_character_of_an_unspaced_script_is_found_inside_a_run(home: Home, tmp_path: Path) -> None:
    """One character alone, at the beginning or at the end of a run."""
    home.session(SESSION).prompt("去中国")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        assert [1, 1, 1, 0] == [engine.search(word).total for word in "去中国人"]


def test_project_of_what_has_no_session_is_a_filter_too(home: Home, tmp_path: Path) -> None:
    """A line of the history that names no session is found by the project it shows."""
    home.session(SESSION).prompt("hello")
    home.history("a wombat")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        totals = [engine.search(f"wombat {one}").total for one in ("project:shop", "project:web", "-project:shop")]

    assert [1, 0, 0] == totals


def test_words_that_cannot_be_removed_are_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said to be forgotten while its words stay on the disk, and whoever writes next finishes it."""
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors=False: None)

    with pytest.raises(IndexUnwritable):
        engine.prune([SESSION])

    assert [] == found(engine, "slow")
    assert ["index: forgetting unfinished"] == [one.kind for one in engine.findings()]
    monkeypatch.undo()
    engine.prune([])
    assert [] == list(engine.findings())
    assert not list(engine.settings.index.glob("keyword.*"))


@pytest.mark.parametrize("is_open", [True, False])
def test_words_that_take_the_place_of_others_under_a_reader_are_found(
    engine: Engine, tmp_path: Path, is_open: bool
) -> None:
    """Issue 15: a rebuild renames the directory while a search reads it, and the search answers all the same."""
    place, old = tmp_path / "index" / layout.KEYWORD, tmp_path / "index" / layout.OLD_KEYWORD
    new = shutil.copytree(place, tmp_path / "index" / layout.NEW_KEYWORD)
    if is_open:
        assert engine.search("slow").results
    else:
        engine.close()
    place.rename(old)
    into_place = threading.Timer(0.2, lambda: new.rename(place))
    into_place.start()

    results = engine.search("slow").results

    into_place.join()
    assert ["find the slow query"] == [one.text for one in results]


def test_damaged_words_are_told_though_a_rebuild_was_killed(engine: Engine, tmp_path: Path) -> None:
    """What a killed rebuild left beside does not hide that the words in place cannot be read."""
    engine.close()
    shutil.copytree(tmp_path / "index" / layout.KEYWORD, tmp_path / "index" / layout.NEW_KEYWORD)
    (tmp_path / "index" / layout.KEYWORD / "meta.json").write_text("{")

    with pytest.raises(IndexDamaged):
        engine.search("slow")
