"""The answer is visible: what answers a prompt that was found, how a report ends, and no signs of Markdown."""

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from searchkit.context.markdown import UNSURE, markdown
from searchkit.context.types import Place, Quotation
from searchkit.conversation.types import Folded
from searchkit.render import search
from searchkit.render.wire import search as wire
from searchkit.search.snippets import without_markdown
from searchkit.search.types import Answer, Passage
from tests.support.answers import SESSION
from tests.support.probe import searched
from tests.support.transcript import BEGIN, Home

ASKED = "Why does the turnstile at the north gate jam every morning?"
CAUSE = (
    "The **turnstile** jams because its grease stiffens below 4 °C: the `gate/[north].cfg` heater starts at seven, "
    "and the first visitors come at six. Until the heater has run for half an hour the arm needs twice the force, "
    "and the motor gives up after three tries. Start the heater at five."
)
DONE = "All 14 checks pass."
FILLER = "\n\n".join(f"Section {number} lists readings of no interest." for number in range(40))
REPORT = f"# Survey\n\n{FILLER}\n\nThe sluice leaks at its hinge.\n\n{FILLER}\n\nSo **replace the seal** before winter."


def found(place: Path, write: Callable[[Home], None], words: str) -> Answer:
    """Index what is written, and search it by words."""
    with searched(place, write) as engine:
        return engine.search(words, mode="keyword")


def lines(answer: Answer, width: int = 100) -> list[str]:
    """Return what a terminal shows, without colours."""
    return [click.unstyle(line) for line in search.answer(answer, width, BEGIN.timestamp())]


def test_prompt_is_shown_with_the_text_that_explains(tmp_path: Path) -> None:
    """Below a prompt stand three lines of the text that says most of what was asked, and the last text on one."""

    def write(home: Home) -> None:
        gate = home.session(SESSION)
        gate.prompt(ASKED)
        gate.text("Let me look at it.")
        gate.text(CAUSE)
        gate.result(gate.call("Bash", {"command": "check gates"}), "14 passed")
        gate.text(DONE)

    answer = found(tmp_path, write, f"{ASKED} kind:prompt")
    shown = lines(answer)
    at = next(number for number, line in enumerate(shown) if "The turnstile jams because" in line)

    assert answer.results[0].kind == "prompt"
    assert "gate/[north].cfg" in " ".join(shown[at : at + 3])
    assert ["claude", "", ""] == [line[6:19].strip() for line in shown[at : at + 3]]
    assert shown[at + 2].endswith("…")
    assert shown[at + 3].split() == ["...", "1", "command"]
    assert shown[at + 4].split() == ["claude", *DONE.split()]


def test_last_text_answers_unless_another_says_more(tmp_path: Path) -> None:
    """Where no text holds more of what was asked for, the last one of the turn is the answer, not one of the next."""

    def write(home: Home) -> None:
        gate = home.session(SESSION)
        gate.prompt(ASKED)
        gate.text("I look at it.")
        gate.text("It was the grease.")
        gate.prompt("Thanks. Is the turnstile at the north gate well now?")
        gate.text("The turnstile at the north gate is well every morning now.")

    (result,) = found(tmp_path, write, '"jam every morning"').results

    assert result.answer is not None
    assert "It was the grease." == result.answer.passage.text


def test_narration_is_shown_with_what_came_of_it(tmp_path: Path) -> None:
    """A short text that only says what is done next has the answer of its turn below it, like a prompt."""

    def write(home: Home) -> None:
        gate = home.session(SESSION)
        gate.prompt("What is wrong there?")
        gate.text("Let me read the log of the sluice.")
        gate.text(CAUSE)

    (result,) = found(tmp_path, write, "sluice log").results

    assert result.answer is not None
    assert "The turnstile jams because" in result.answer.passage.text


def test_report_is_shown_with_its_last_paragraph(tmp_path: Path) -> None:
    """Below a passage from the middle of a report stands how the report ends."""

    def write(home: Home) -> None:
        survey = home.session(SESSION)
        survey.prompt("Survey the weir.")
        survey.text(REPORT)

    answer = found(tmp_path, write, "sluice hinge")
    shown = [line.strip() for line in lines(answer)]
    (told,) = wire.answer(answer).results

    assert "The sluice leaks at its hinge." in " ".join(shown)
    assert "… So replace the seal before winter." in shown
    assert told.answer is not None
    assert (told.uuid, "So replace the seal before winter.") == (told.answer.uuid, told.answer.text)


def test_short_text_has_no_ending_of_its_own(tmp_path: Path) -> None:
    """What is shown whole is not shown twice."""

    def write(home: Home) -> None:
        survey = home.session(SESSION)
        survey.prompt("Survey the weir.")
        survey.text("The sluice leaks.\n\nReplace its seal.")

    (result,) = found(tmp_path, write, "sluice").results

    assert result.answer is None


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("It is **the seal**, *not* the `hinge`.", "It is the seal, not the hinge."),
        ("原因是**密封圈**，不是铰链。", "原因是密封圈，不是铰链。"),
        ("## Why\n\nSee [the plan](docs/plan.md).", "Why\n\nSee the plan."),
        ("**`a/**/b.py`** and src/**/*.ts, lib/*.js, 2**3 * 4**5", "a/**/b.py and src/**/*.ts, lib/*.js, 2**3 * 4**5"),
        ("pages/[slug].js and app/[...all](x)/page.tsx", "pages/[slug].js and app/[...all](x)/page.tsx"),
        ("One\n\n---\n\ntwo --- three", "One\n\n\n\ntwo --- three"),
        ("issue #12, __init__.py, a * b * c", "issue #12, __init__.py, a * b * c"),
    ],
)
def test_signs_of_markdown_go(written: str, plain: str) -> None:
    """Signs of Markdown go; globs, powers and names of files stay."""
    assert plain == without_markdown(Passage(text=written)).text


def test_highlights_move_with_their_words() -> None:
    """What was highlighted still is when signs before it and within it are gone."""
    passage = without_markdown(Passage(text="It is **the `seal` of** it", highlights=[(8, 18), (24, 26)]))

    assert ["the seal", "it"] == [passage.text[start:end] for start, end in passage.highlights]


def test_pack_quotes_the_text_that_explains_before_the_last_one(tmp_path: Path) -> None:
    """A pack with a prompt has the answer of its turn as an outcome, and names files as they are called."""

    def write(home: Home) -> None:
        gate = home.session(SESSION)
        gate.prompt(ASKED)
        gate.text("Let me look at it.")
        gate.text(CAUSE)
        gate.result(gate.call("Read", {"file_path": "/home/mira/src/shop/pages/[slug].js"}), "heat at 5")
        gate.text(DONE)

    with searched(tmp_path, write) as engine:
        pack = engine.context(f"{ASKED} kind:prompt", 400)

    (only,) = pack.excerpts
    written = markdown(pack)
    assert CAUSE == only.quoted(Place.OUTCOME)
    assert DONE in written
    assert "files: pages/[slug].js" in written
    assert "Steps: 1 read: [slug].js" in written


def test_name_of_a_file_makes_no_link(tmp_path: Path) -> None:
    """Brackets stay unless parentheses follow, by which a name would become a link."""

    def write(home: Home) -> None:
        gate = home.session(SESSION)
        gate.prompt(ASKED)
        gate.result(gate.call("Read", {"file_path": "/tmp/[a](http:b)`<c>"}), "nothing")
        gate.text(CAUSE)

    with searched(tmp_path, write) as engine:
        written = markdown(engine.context("turnstile", 400))

    assert "[a)(http:b)'(c)" in written


def test_pack_has_the_window_and_the_last_paragraph(tmp_path: Path) -> None:
    """Of a long report a small pack has what is around the passage, and how the report ends."""

    def write(home: Home) -> None:
        survey = home.session(SESSION)
        survey.prompt("Survey the weir.")
        survey.text(REPORT)

    with searched(tmp_path, write) as engine:
        (only,) = engine.context("sluice hinge", 400).excerpts

    passage = only.quoted(Place.PASSAGE) or ""
    assert "The sluice leaks at its hinge." in passage
    assert passage.endswith("characters left out ...]\n\nSo **replace the seal** before winter.")


def test_steps_that_were_not_found_stay_folded(tmp_path: Path) -> None:
    """A call whose result was found is quoted with it, and others are counted on a line."""

    def write(home: Home) -> None:
        gate = home.session(SESSION)
        gate.prompt("look at the gate")
        gate.result(gate.call("Bash", {"command": "uptime"}), "three days")
        gate.result(gate.call("Bash", {"command": "tail gate.log"}), "turnstile: motor gave up")
        gate.text("I will order another one.")

    with searched(tmp_path, write) as engine:
        (only,) = engine.context("turnstile motor", 2_000).excerpts

    beside = [one.text for one in only.entries if isinstance(one, Quotation) and one.place is Place.BESIDE]
    assert ["command: tail gate.log"] == beside
    assert [2] == [len(one.steps) for one in only.entries if isinstance(one, Folded)]


def test_pack_for_what_nobody_spoke_of_is_short(tmp_path: Path) -> None:
    """Where what comes first answers little, the nearest passages are called that; where it is far, none is quoted."""
    things = ("brass", "turnstile", "ferry", "storm", "cellar", "harbour", "chimney", "orchard")

    def write(home: Home) -> None:
        for number in range(30):
            other = home.session(f"{number:08}{SESSION[8:]}")
            other.prompt(f"count the lamps of street {number}")
            other.text(f"There are {number} lamps. " + ("The gate squeaks and creaks." if number == 20 else ""))
            other.text(f"Of the {things[number]} there is nothing to say." if number < len(things) else "That is all.")

    with searched(tmp_path, write) as engine:
        near = engine.context("why does the gate squeak and creak on silver lamps", 2_000)
        far = engine.context(f"is there a {' or a '.join(things)} beside them", 2_000)

    assert not near.is_sure
    assert UNSURE in markdown(near)
    assert 0 < near.tokens < 1_000
    assert ((), ()) == (tuple(far.excerpts), tuple(far.answer.results))
