"""Which passages are packed: each thing once, each turn once, and nothing that was packed before."""

from pathlib import Path

from searchkit.context import markdown as render
from searchkit.context.types import Place, Quotation
from tests.support.answers import OTHER, SESSION
from tests.support.probe import searched
from tests.support.transcript import Home


def test_own_packs_are_not_packed_again(tmp_path: Path) -> None:
    """A pack that an earlier session was given is not quoted: what it quotes is."""

    def write(home: Home) -> None:
        first = home.session(SESSION)
        first.prompt("why does the lantern flicker")
        first.text("the lantern shares its line with the door")
        second = home.session(OTHER)
        call = second.call("Bash", {"command": "searchkit context"})
        second.result(call, render.PREAMBLE + "\n\n[1] why does the lantern flicker: it shares its line with the door")

    with searched(tmp_path, write) as engine:
        pack = engine.context("lantern flicker door line", 1_000)

    assert {SESSION} == {one.shown.stored.link.places[0].session for one in pack.excerpts}


def test_same_text_is_quoted_once(tmp_path: Path) -> None:
    """Of copies, and of outputs that differ in their numbers, one is quoted."""

    def write(home: Home) -> None:
        for number in range(4):
            transcript = home.session(f"{number}{SESSION[1:]}")
            transcript.prompt(f"run number {number} of what there is")
            call = transcript.call("Bash", {"command": f"./try-lantern {number}"})
            transcript.result(call, f"lantern: ran {number + 20} checks in {number}.{number} s, all of them passed")

    with searched(tmp_path, write) as engine:
        pack = engine.context("lantern checks kind:result", 3_000)

    assert 4 == engine.search("lantern checks kind:result").total
    assert 1 == len(pack.excerpts)


def test_passages_of_one_turn_are_quoted_together(tmp_path: Path) -> None:
    """What was asked and what came of it is said once, and both passages, but not what has nothing to do with them."""

    def write(home: Home) -> None:
        transcript = home.session(SESSION)
        transcript.prompt("have a look at the hall")
        transcript.text("the lantern there flickers whenever somebody opens the door")
        transcript.result(transcript.call("Bash", {"command": "date"}), "Sunday")
        transcript.thinking("the lantern and the door share a line")
        transcript.text("That is all I can see.")

    with searched(tmp_path, write) as engine:
        (only,) = engine.context("lantern door", 2_000).excerpts

    assert [
        (Place.QUESTION, "have a look at the hall"),
        (Place.BESIDE, "the lantern there flickers whenever somebody opens the door"),
        (Place.PASSAGE, "the lantern and the door share a line"),
        (Place.OUTCOME, "That is all I can see."),
    ] == [(entry.place, entry.text) for entry in only.entries if isinstance(entry, Quotation)]
