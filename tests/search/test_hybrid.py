"""Words and meaning together: what is embedded, found, filtered, and said where meaning cannot be asked for."""

import sys
from pathlib import Path

import pytest

from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def found(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two sessions with vectors of the stand-in, for which texts are near that share words."""
    monkeypatch.setenv("SEARCHKIT_NO_VECTORS", "")
    monkeypatch.setenv("SEARCHKIT_MODEL", "fake")
    monkeypatch.setenv("SEARCHKIT_MODE", "hybrid")
    first, second = home.session(SESSION), home.session(OTHER)
    first.prompt("the build is red on the server")
    call = first.call("Bash", {"command": "make test"})
    first.result(call, "the clock of the server is late")
    first.text("The clock of the server was late, so the certificate was not valid yet.")
    second.prompt("paint the door blue")
    second.text("The door is blue now.")
    run("index")
    return run


def test_both_channels_are_told(found: Run) -> None:
    """A result says what words and what meaning gave, and the answer how many parts have vectors."""
    answer = found("search", "clock server", "--json").json

    assert "hybrid" == answer["query"]["mode"]
    assert {"keyword", "semantic"} == set(answer["results"][0]["channels"])
    assert 5 == answer["coverage"]["embedded"]


def test_meaning_alone_is_asked_for(found: Run) -> None:
    """The channel of words gives nothing then."""
    (best, *_) = found("search", "clock server late", "--mode", "semantic", "--json").json["results"]

    assert SESSION == best["session"]
    assert 0 == best["channels"]["keyword"]
    assert best["channels"]["semantic"] > 0


def test_answer_means_a_share_of_what_its_prompt_means(found: Run, home: Home) -> None:
    """Of two texts that say the same, the one that was said to a prompt near to the question means more."""
    first, second = (home.session(f"{digit * 8}-1111-4111-8111-111111111111") for digit in "34")
    for session, prompt in ((first, "why does the printer stop"), (second, "hello there")):
        session.prompt(prompt)
        session.text("It waits for paper.")
    found("index")

    words = ("printer waits for paper", "--mode", "semantic", "--group", "none", "--json")
    results = found("search", *words).json["results"]

    meant = {one["session"][0]: one["channels"]["semantic"] for one in results if one["kind"] == "text"}
    assert meant["3"] > meant["4"]


def test_nonsense_finds_nothing(found: Run) -> None:
    """What no word of a question is in, and what is near to none of it, is no answer."""
    assert 1 == found("search", "xyzzy plugh frotz").status


def test_what_is_far_is_not_shown_beside_what_holds_the_word(found: Run) -> None:
    """A word that is found is not followed by sessions that neither hold it nor come near to it."""
    answer = found("search", "certificate", "--json").json

    assert [SESSION] == [result["session"] for result in answer["results"]]


@pytest.mark.parametrize("words", [("server", "--mode", "semantic"), ("the clock is",)])
def test_total_does_not_depend_on_the_limit(found: Run, words: tuple[str, ...]) -> None:
    """How many there are is the same, however many are shown."""
    totals = [
        found("search", *words, "--limit", limit, "--group", "none", "--json").json["total"] for limit in ("1", "100")
    ]

    assert totals[0] == totals[1] > 1


def test_total_counts_what_holds_the_words(found: Run) -> None:
    """What is only near in meaning is shown beside it, and is not counted."""
    answer = found("search", "the clock is", "--group", "none", "--json").json

    holding = [one for one in answer["results"] if one["channels"]["keyword"]]
    assert 2 == answer["total"] == len(holding) < len(answer["results"])


def test_footer_counts_apart_what_is_only_near(found: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal it tells how much holds the words, and how much of what is shown does not."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    beside = found("search", "the clock is", "--group", "none").err
    alone = found("search", "blue door", "--mode", "semantic", "--group", "none").err

    assert "2 matches and 2 near in meaning, 4 results shown, " in beside
    assert "2 near in meaning, 2 results shown, " in alone


def test_filters_hold_for_meaning(found: Run) -> None:
    """Nothing that a filter keeps away is found by meaning."""
    answer = found("search", "clock", "server", "--mode", "semantic", "--session", OTHER, "--json").json

    assert all(OTHER == result["session"] for result in answer["results"])


def test_exclusion_means_words(found: Run) -> None:
    """What was excluded does not come back by its meaning."""
    answer = found("search", "server", "-certificate", "--group", "none", "--json").json

    assert answer["results"]
    assert not [one for one in answer["results"] if "certificate" in one["snippet"]]


def test_scores_are_explained(found: Run) -> None:
    """Both channels' parts in a score are shown."""
    shown = found("search", "clock", "server", "--explain").out

    assert "and meaning 0." in shown


def test_status_tells_what_is_covered(found: Run) -> None:
    """All that should have a vector has one."""
    told = found("status", "--json").json["meaning"]
    assert (5, 0) == (told["embedded"], told["to_embed"])


@pytest.mark.parametrize(
    ("damaged", "kept"), [("data/*.lance", 2), ("_versions/*.manifest", 2), ("_versions/*.manifest", 20)]
)
def test_status_tells_of_damage_and_what_mends_it(found: Run, tmp_path: Path, damaged: str, kept: int) -> None:
    """A table of vectors that cannot be read is told beside all else, with the command that rebuilds it."""
    for path in (tmp_path / "index" / "vectors").rglob(damaged):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // kept])

    shown, told = found("status"), found("status", "--json")
    found("index")

    assert (0, 0) == (shown.status, told.status)
    assert "nothing can be found by it: " in shown.out
    assert "run: searchkit index" in shown.out
    assert "is damaged" in told.json["damage"]
    assert (5, None) == ((mended := found("status", "--json").json)["meaning"]["embedded"], mended["damage"])


def test_second_index_embeds_nothing(found: Run) -> None:
    """What has a vector keeps it."""
    assert 0 == found("index", "--json").json["embedded"]


def test_model_that_is_not_there_leaves_words(found: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command still works, and says what is missing; meaning alone is an error then."""
    monkeypatch.setenv("SEARCHKIT_MODEL", "/nowhere/model")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    answers = [found("index"), found("search", "clock"), found("search", "clock", "--mode", "semantic")]

    assert [0, 0, 2] == [answer.status for answer in answers]
    assert ["found by words only" in answer.err for answer in answers[:2]] == [True, True]


def test_meaning_is_asked_for_unless_words_are_wanted(found: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both channels answer by default; the environment may say otherwise, and the option goes before it."""
    monkeypatch.delenv("SEARCHKIT_MODE")
    by_default = found("search", "clock", "--json")
    monkeypatch.setenv("SEARCHKIT_MODE", "keyword")
    by_environment = found("search", "clock", "--json")
    by_option = found("search", "clock", "--json", "--mode", "semantic")

    asked = [answer.json["query"]["mode"] for answer in (by_default, by_environment, by_option)]

    assert ["hybrid", "keyword", "semantic"] == asked


def test_index_without_vectors_cannot_be_asked_for_meaning(home: Home, run: Run) -> None:
    """Words alone answer without a word; meaning alone is an error that names the command."""
    home.session(SESSION).prompt("the clock is late")
    run("index", "--no-vectors")

    assert (0, "") == ((answer := run("search", "clock")).status, answer.err)
    assert (2, True) == (
        (answer := run("search", "clock", "--mode", "semantic")).status,
        "searchkit index" in answer.err,
    )


def test_texts_of_any_size_are_counted(found: Run, home: Home) -> None:
    """Two megabytes and a single emoji each have a vector, one that is near nothing; an empty text is no part."""
    session = home.session("33333333-3333-4333-8333-333333333333")
    session.prompt("long " * 400_000)
    session.text("\N{SMILING FACE WITH SMILING EYES}")
    session.prompt("")
    before = found("status", "--json").json["meaning"]["embedded"]

    done = found("index", "--json").json

    assert 2 == done["embedded"]
    told = found("status", "--json").json["meaning"]
    assert (before + 2, 0) == (told["embedded"], told["to_embed"])
    assert 0 == found("search", "long", "--mode", "semantic").status


def test_required_word_is_in_every_result(found: Run) -> None:
    """What is near to the rest of a question does not answer without it."""
    answer = found("search", "+certificate", "clock", "server", "--json", "--group", "none").json

    assert answer["results"]
    assert all("certificate" in result["snippet"] for result in answer["results"])


@pytest.mark.parametrize(
    "arguments",
    [("clock", "--sort", "newest"), ("clock", "-server"), ("kind:prompt",)],
    ids=["an order of time", "an exclusion", "filters alone"],
)
def test_meaning_alone_says_what_it_cannot_do(found: Run, arguments: tuple[str, ...]) -> None:
    """It is no empty answer: nothing was looked at."""
    refused = found("search", "--mode", "semantic", "--json", *arguments)

    assert (2, True) == (refused.status, "hybrid" in refused.json["error"]["hint"])


def test_signs_mean_nothing_to_meaning_alone(found: Run) -> None:
    """Quotations and required words are near to what they say."""
    answer = found("search", "--mode", "semantic", '"clock of the server"', "+late", "--json").json

    assert answer["results"][0]["channels"]["semantic"] > 0


@pytest.mark.parametrize("arguments", [("clock", "--sort", "newest"), ("kind:prompt",)], ids=" ".join)
def test_meaning_is_not_asked_where_it_says_nothing(
    found: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """No model is loaded for an order of time, nor for filters alone."""
    monkeypatch.setenv("SEARCHKIT_MODEL", "no-such-model")

    answer = found("search", *arguments, "--json")

    assert (0, "", 0) == (answer.status, answer.err, answer.json["coverage"]["embedded"])


def test_result_without_the_words_is_explained_by_meaning_alone(found: Run) -> None:
    """Nothing is said of a share of words where there are none."""
    explained = found("search", "clock server late", "--mode", "semantic", "--explain").out

    assert "= no words and meaning 0." in explained
    assert "covered" not in explained
