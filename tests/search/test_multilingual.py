"""Meaning in other languages: what gets a second vector, which model compares what, and how it is left out."""

from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.base import MULTILINGUAL
from searchkit.search.types import Result
from tests.support.running import Run
from tests.support.transcript import Home

ENGLISH = "The certificate was not valid yet, because the clock of the server was late."
CHINESE = "证书还没有生效，因为服务器的时钟慢了。现在改成每小时自动校准时间，并且在启动之前检查一次。"
FRENCH = "La facture était arrondie au mauvais centime, parce que chaque ligne était arrondie avant la somme."


@pytest.fixture
def run_fake(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands with the stand-in in place of the default model, and the real one for other languages."""
    monkeypatch.setenv("SEARCHKIT_NO_VECTORS", "")
    monkeypatch.setenv("SEARCHKIT_MODEL", "fake")
    monkeypatch.setenv("SEARCHKIT_MULTILINGUAL", "on")
    monkeypatch.setenv("SEARCHKIT_MODE", "hybrid")
    return run


def write(home: Home, *texts: str) -> None:
    """Write a session for each text, in which it answers something."""
    for number, text in enumerate(texts, 1):
        session = home.session(f"{number:08}-1111-4111-8111-111111111111")
        session.prompt("hm?")
        session.text(text)


def meaning(run: Run) -> dict[str, int]:
    """Return what the status says of meaning."""
    told: dict[str, int] = run("status", "--json").json["meaning"]
    return told


def found(engine: Engine, words: str) -> Result:
    """Return the first result."""
    return engine.search(words, group="none").results[0]


def test_questions_find_texts_in_other_languages(run_fake: Run, home: Home) -> None:
    """Whatever the language of a question and of a text, they share no word and are near in meaning."""
    write(home, ENGLISH, CHINESE, FRENCH)
    run_fake("index")

    with Engine(home.root.parent / "index") as engine:
        assert CHINESE == found(engine, "why is the certificate invalid lang:zh").text
        assert FRENCH == found(engine, "wrong rounding of an invoice").text
        assert FRENCH == found(engine, "发票金额四舍五入不对").text
        assert ENGLISH == found(engine, "서버 시계가 늦어서 인증서 오류 lang:en").text


def test_english_history_has_no_second_vectors(run_fake: Run, home: Home) -> None:
    """Where all is in English, none is made, and the model is not even made ready."""
    write(home, ENGLISH, "paint the door blue")

    run_fake("index")

    assert 0 == meaning(run_fake)["embedded_multilingual"]
    assert 0 == meaning(run_fake)["to_embed_multilingual"]


def test_index_gets_them_when_it_is_next_brought_up_to_date(run_fake: Run, home: Home) -> None:
    """An index without them lacks them, and the next run makes them; removed, nothing of them is left."""
    write(home, ENGLISH, CHINESE)
    run_fake("index", "--no-multilingual")
    before = meaning(run_fake)
    run_fake("index")
    after = meaning(run_fake)
    run_fake("index", "--no-multilingual")

    assert 0 == before["embedded_multilingual"]
    assert 4 == after["embedded_multilingual"]
    assert after["embedded"] == before["embedded"]
    assert 0 == meaning(run_fake)["embedded_multilingual"]
    assert "multilingual" not in str(run_fake("doctor", "--json").json)


def test_another_model_is_refused_with_the_command(run_fake: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of two second models are never compared: words answer, and the command that mends it is named."""
    write(home, ENGLISH, CHINESE)
    run_fake("index")
    monkeypatch.setenv("SEARCHKIT_MULTILINGUAL", "fake")

    with Engine(home.root.parent / "index") as engine:
        answer = engine.search("certificate")

    assert "the multilingual vectors in the index were made with another model" in answer.without_meaning
    assert "searchkit index" in answer.without_meaning
    run_fake("index")
    with Engine(home.root.parent / "index") as engine:
        assert "" == engine.search("certificate").without_meaning


def test_english_is_ranked_as_without_them(run_fake: Run, home: Home) -> None:
    """A question in English ranks texts in English as if there were no second vectors."""
    texts = [ENGLISH, "The clock on the wall is late again, and nobody minds.", "Paint the door of the server room."]
    write(home, *texts, CHINESE)
    run_fake("index", "--no-multilingual")

    def scores() -> list[tuple[str, float]]:
        with Engine(home.root.parent / "index") as engine:
            results = engine.search("clock of the server", group="none").results
        return [(one.text, one.score) for one in results if one.text in texts]

    before = scores()
    run_fake("index")

    assert before == scores()


def test_setting_is_kept_beside_the_vectors(run_fake: Run, home: Home) -> None:
    """The index says which model its second vectors are of."""
    write(home, ENGLISH, CHINESE)
    run_fake("index")

    with Engine(home.root.parent / "index") as engine:
        kept = engine.ask(lambda backend: backend.catalog.setting(MULTILINGUAL))

    assert "universal-sentence-encoder-multilingual-v3" == kept["identity"]["model"]


def test_answer_of_a_prompt_is_found_by_the_prompt(run_fake: Run, home: Home, tmp_path: Path) -> None:
    """The last text of a turn is found where only its prompt is near."""
    session = home.session("11111111-1111-4111-8111-111111111111")
    session.prompt("为什么首页加载这么慢")
    session.text("我先看看。")
    session.text("改好了。")
    write(home, ENGLISH)
    run_fake("index")

    with Engine(home.root.parent / "index") as engine:
        texts = [one.text for one in engine.search("the landing page takes long", group="none").results]

    assert "改好了。" in texts
