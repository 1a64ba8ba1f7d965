"""Rules for the order of results that hold whatever the scores say."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.search.weights import without
from searchkit.types import Kind
from tests.support.transcript import Home

SESSIONS = [f"{number:08d}-1111-4111-8111-111111111111" for number in range(60)]
# Stands in one output of 190 KB, between lines that hold the other words of a question many times.
NUMBER = "4711239"
INVENTED = "quobbledash"
REPORT = "\n".join(f"row {number}: the pump of hall {number % 9} reads {number % 97} bar" for number in range(5_000))
SUBJECTS = ["pump", "valve", "boiler", "turbine", "filter", "sensor"]


def write(home: Home) -> None:
    """Write sessions that all speak of pumps and pressure, one of which holds the number and the invented word."""
    for number, session in enumerate(SESSIONS):
        subject = SUBJECTS[number % len(SUBJECTS)]
        talk = home.session(session)
        talk.line({"type": "ai-title", "aiTitle": f"Pressure of the {subject} in hall {number}", "sessionId": session})
        talk.prompt(f"Why does the pressure of the {subject} in hall {number} fall at night?")
        call = talk.call("Bash", {"command": f"read-gauge {subject} --hall {number}"})
        talk.result(call, REPORT.replace("row 2500:", f"row {NUMBER}:") if number == 7 else f"{subject}: {number} bar")
        talk.text("Let me look at the gauge once more.")
        noted = f" It is called the {INVENTED} effect." if number == 11 else ""
        talk.text(
            f"The pressure of the {subject} in hall {number} falls at night because its seal shrinks in the cold. "
            "A seal of silicone instead of rubber keeps its size, so that was ordered, and until it comes the heating "
            f"stays on at five degrees. The root cause is the rubber.{noted}"
        )


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of these with vectors."""
    directory = tmp_path_factory.mktemp("rules")
    home = Home(directory / "claude")
    write(home)
    with Engine(directory / "index", [home.root]) as opened:
        opened.index(with_vectors=True)
        yield opened


def uuids(engine: Engine, words: str) -> list[str]:
    """Return what is found, best first."""
    return [one.best.stored.part.uuid for one in engine.search(words, thread=0).results]


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
@pytest.mark.parametrize(
    "words",
    [
        NUMBER,
        f"pump {NUMBER}",
        f"what did the pump of hall 3 read in row {NUMBER}",
        f"why does the pressure of the pump fall at night, see row {NUMBER}",
    ],
)
def test_unique_number_brings_its_part_first(engine: Engine, words: str, mode: str) -> None:
    """However long the part is, and however well others fit the rest of the question."""
    first = engine.search(words, mode=mode).results[0].best

    assert NUMBER in first.stored.part.text


@pytest.mark.parametrize("words", [INVENTED, f"{INVENTED} pump"])
def test_unique_word_brings_its_part_first(engine: Engine, words: str) -> None:
    """A question of a word or two means them literally."""
    assert INVENTED in engine.search(words).results[0].best.stored.part.text


def test_what_holds_no_unique_word_is_found_behind(engine: Engine) -> None:
    """The rule orders what is found, and takes nothing away."""
    found = engine.search(f"why does the pressure of the pump fall at night, see row {NUMBER}", group="none")

    assert 10 == len(found.results)
    assert [True] + 9 * [False] == [NUMBER in one.best.stored.part.text for one in found.results]


@pytest.mark.parametrize("group", ["session", "none"])
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
@pytest.mark.parametrize(
    "words",
    ["why does the pressure fall at night", "pump", "silicone seal boiler", f"valve {NUMBER}", "heating stays on"],
)
def test_order_does_not_depend_on_the_limit(engine: Engine, words: str, mode: str, group: str) -> None:
    """Asked for 5, 10, 20 or 50, the first five are the same, with the same passages beside them."""
    found = [
        [
            (one.best.stored.id, tuple(other.stored.id for other in one.others))
            for one in engine.search(words, limit, mode=mode, group=group, thread=0).results
        ]
        for limit in (5, 10, 20, 50, 200)
    ]

    for fewer, more in pairwise(found):
        assert fewer == more[: len(fewer)]
    assert len(found[-1]) > len(found[0])


def test_more_sessions_than_the_pool_holds_are_found(engine: Engine) -> None:
    """What is behind the pool follows it, each session once."""
    found = [one.session.id for one in engine.search("pressure", 100, thread=0).results if one.session]

    assert sorted(SESSIONS) == sorted(found)


def test_order_does_not_depend_on_what_was_asked_before(engine: Engine) -> None:
    """A search leaves nothing behind that another would see."""
    before = uuids(engine, "why does the pressure fall at night")
    for other in (NUMBER, "silicone", "nothing of this is there"):
        uuids(engine, other)

    assert before == uuids(engine, "why does the pressure fall at night")


@pytest.mark.parametrize("number", [3, 14, 27])
def test_conclusion_comes_before_what_was_asked(engine: Engine, number: int) -> None:
    """Of one turn the text that answers comes before the prompt, the call and the narration."""
    words = f"pressure of the {SUBJECTS[number % len(SUBJECTS)]} in hall {number} falls at night"
    found = engine.search(words, group="none").results
    kinds = [
        one.best.stored.part.kind for one in found if one.session is not None and one.session.id == SESSIONS[number]
    ]

    assert Kind.TEXT is kinds[0]
    assert Kind.PROMPT in kinds


def test_conclusion_can_be_left_where_its_score_puts_it(engine: Engine) -> None:
    """It is a step of the ranking like others: without it a prompt that says the same in fewer words comes first."""
    words = "Why does the pressure of the pump in hall 0 fall at night?"
    with Engine(engine.settings.index, recipe=without(["conclusions"])) as other:
        first = [opened.search(words, 1).results[0].best.stored.part.kind for opened in (engine, other)]

    assert [Kind.TEXT, Kind.PROMPT] == first


def test_title_is_no_result_where_its_session_has_an_answer(engine: Engine) -> None:
    """It lifts its session; a filter for titles still finds them."""
    found = engine.search("pressure of the boiler in hall 2", 50, group="none").results
    kinds: dict[str, set[Kind]] = {}
    for one in found:
        assert one.session is not None
        kinds.setdefault(one.session.id, set()).add(one.best.stored.part.kind)

    assert [] == [several for several in kinds.values() if Kind.TITLE in several and len(several) > 1]
    assert Kind.TITLE not in kinds[SESSIONS[2]]
    assert {Kind.TITLE} == {one.best.stored.part.kind for one in engine.search("boiler kind:title").results}


def test_everything_that_is_returned_can_be_shown(engine: Engine) -> None:
    """Every uuid of an answer leads to its conversation; that of a title to the first thing that was said."""
    for one in engine.search("pressure of the turbine", 50, group="none").results:
        assert one.session == engine.show(one.best.stored.part.uuid).session


def test_project_that_a_question_names_comes_first(home: Home, tmp_path: Path) -> None:
    """Of two sessions that say the same, the one of the project that is named, and no other is left out."""
    for number, project in enumerate(("/src/night-heron", "/src/kingfisher", "/src/bittern")):
        talk = home.session(SESSIONS[number], cwd=project)
        talk.prompt("deploy fails with a missing certificate")
        talk.text("The certificate was renewed, and the deploy went through.")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index(with_vectors=True)
        found = {
            words: [one.session.id for one in engine.search(words).results if one.session]
            for words in ("deploy fails in night heron", "kingfisher deploy fails", "Bittern: certificate missing")
        }

    assert SESSIONS[:3] == [sessions[0] for sessions in found.values()]
    assert {3} == {len(sessions) for sessions in found.values()}


def test_count_is_of_what_a_person_would_call_a_match(engine: Engine) -> None:
    """What holds one of five words is ranked, but neither counted nor in the facets."""
    words = "silicone boiler pressure heating night"
    found = engine.search(words, 50, facets=("kind", "project"))
    counted = engine.search("silicone boiler", facets=("kind",))

    # The conclusions, and the prompts about boilers; other prompts, calls and titles hold a word or two of these.
    boilers = len(SESSIONS) // len(SUBJECTS)
    assert {"text": len(SESSIONS), "prompt": boilers} == found.facets["kind"]
    assert len(SESSIONS) + boilers == found.total
    assert {"text", "prompt", "title", "tool_call", "tool_result"} == set(counted.facets["kind"])
