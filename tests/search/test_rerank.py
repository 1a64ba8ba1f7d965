"""A model that reads question and text together has a say in the order of the first results."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from searchkit.backends.base import Hit
from searchkit.embed.minilm.run import TOKENIZER, packaged
from searchkit.search.pipeline import rerank
from searchkit.search.types import Ranked
from searchkit.types import Kind
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


def by_length(question: str, texts: Sequence[str]) -> list[float]:
    """Find long texts good."""
    return [min(1.0, len(text) / 10) for text in texts]


def test_verdicts_reorder_what_is_nearly_equal() -> None:
    """Of two that our own ranking finds nearly equal, the one that the model prefers comes first."""
    ranked = [hit(1, 0.50), hit(2, 0.49)]

    found = rerank(ranked, "why", {1: "short", 2: "a long text"}, by_length)

    assert [(2, 1.0), (1, 0.5)] == [(one.hit.key, one.judged) for one in found]


def test_verdicts_do_not_decide_alone() -> None:
    """What our own ranking finds twice as good stays first."""
    ranked = [hit(1, 0.50), hit(2, 0.25)]

    found = rerank(ranked, "why", {1: "short", 2: "a long text"}, by_length)

    assert [1, 2] == [one.hit.key for one in found]


def test_what_is_not_judged_follows_as_it_was() -> None:
    """Later results keep their order and their scores."""
    ranked = [hit(1, 0.5), hit(2, 0.4), hit(3, 0.3), hit(4, 0.2)]

    found = rerank(ranked, "why", {1: "", 2: "a long text"}, by_length)

    assert ranked[2:] == found[2:]
    assert {1, 2} == {one.hit.key for one in found[:2]}


def test_answer_comes_without_a_model_that_is_not_there(home: Home, run: Run, tmp_path: Path) -> None:
    """What was found is shown, and what is missing is said, for every command that takes the option."""
    home.session(SESSION).prompt("the certificate has expired")
    run("index")
    nowhere = str(tmp_path / "nowhere")

    for command in (("search",), ("context", "--max-tokens", "500")):
        answer = run(*command, "certificate", "--rerank", nowhere)

        assert 0 == answer.status
        assert "certificate" in answer.out
        assert "not reranked: there is no model in" in answer.err
        assert "leave --rerank out" in answer.err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_cross_encoder_judges_results(home: Home, run: Run, cross_encoder: Path, tmp_path: Path) -> None:
    """Every result has its verdict, and questions of a file are judged, too."""
    session = home.session(SESSION)
    right = session.prompt("the certificate has expired")["uuid"]
    session.text("A new certificate was made.")
    run("index")
    queries = tmp_path / "queries.jsonl"
    queries.write_text(f'{{"query": "certificate", "gold": ["{right}"]}}', encoding="utf-8")

    answer = run("search", "certificate", "--group", "none", "--rerank", str(cross_encoder), "--json")
    explained = run("search", "certificate", "--rerank", str(cross_encoder), "--explain")

    verdicts = [result["channels"]["rerank"] for result in answer.json["results"]]
    assert 2 == len(verdicts)
    assert all(0 < verdict < 1 for verdict in verdicts)
    assert "a reranker's verdict of 0." in explained.out
    assert 0 == run("eval", str(queries), "--rerank", str(cross_encoder)).status


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_other_models_are_no_cross_encoders(home: Home, run: Run) -> None:
    """A model that only embeds would judge by numbers drawn at random, and is refused."""
    home.session(SESSION).prompt("the certificate has expired")
    run("index")

    answer = run("search", "certificate", "--rerank", str(packaged()))

    assert 0 == answer.status
    assert "is no cross-encoder" in answer.err


@pytest.fixture
def cross_encoder(tmp_path: Path) -> Path:
    """A cross-encoder that is small enough to be made for a test, with weights drawn at random."""
    # Many seconds, and only slow tests wait for them.
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    directory = tmp_path / "judge"
    shape = BertConfig(
        hidden_size=32,
        intermediate_size=64,
        num_attention_heads=4,
        num_hidden_layers=2,
        vocab_size=30_522,
        num_labels=1,
    )
    BertForSequenceClassification(shape).save_pretrained(directory)
    BertTokenizerFast(tokenizer_file=str(packaged() / TOKENIZER)).save_pretrained(directory)
    return directory


def hit(key: int, score: float) -> Ranked:
    """Make a hit that our own ranking finds so good."""
    found = Hit(key=key, position=key, kind=Kind.TEXT, session=key, time=0, is_agents=False, score=score, coverage=1.0)
    return Ranked(hit=found, weight=1.0, own=score, score=score)
