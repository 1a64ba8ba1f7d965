"""What a search shows: snapshots, lines that fit, colour only where somebody sees it, and the promised fields."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from msgspec import to_builtins

from searchkit import Engine
from searchkit.render import search
from searchkit.render.lines import columns, cut, wrapped
from searchkit.render.search import marked
from searchkit.render.wire import search as wire
from searchkit.search.types import Passage
from searchkit.search.weights import without
from tests.support.answers import OTHER, SESSION
from tests.support.probe import searched
from tests.support.running import Run
from tests.support.transcript import BEGIN, Home

DATA = Path(__file__).parent.parent / "data"
NOW = BEGIN.timestamp() + 3 * 86_400
LONG_TITLE = "The lamp in the shop flickers whenever the door of the storage room is opened at night"
WIDE_TITLE = "灯が点滅する問題を調べて直すための長い題名をつけておくと幅を越えるはずである、たぶん、きっと"
CAUSE = (
    "The lamp flickers because the door and the lamp share one line: opening the door starts a motor, the voltage "
    "falls for some milliseconds, and the lamp's driver, which has no capacitor of its own, passes that on. Put a "
    "capacitor of 470 µF before the lamp, or give the door a line of its own; the first costs less."
)


def write(home: Home) -> None:
    """Write a session in English with every kind of speaker, and one in Japanese."""
    shop = home.session(SESSION, branch="fix/lamp")
    shop.line({"type": "custom-title", "customTitle": LONG_TITLE, "sessionId": SESSION})
    shop.prompt("Why does it flicker? The log says nothing.")
    shop.thinking("The lamp shares its line with the door.")
    call = shop.call("mcp__building__find_wires", {"of": "lamp"})
    shop.result(call, "hall.txt:12: lamp = new Lamp()\nhall.txt:7: door.open(lamp)")
    shop.text(CAUSE)
    japanese = home.session(OTHER, cwd="/home/mira/src/灯")
    japanese.line({"type": "custom-title", "customTitle": WIDE_TITLE, "sessionId": OTHER})
    japanese.prompt("灯が点滅する。lampのログを見てください。" * 8)
    failed = japanese.call("ログ確認ツール", {"file": "lamp.log"})
    japanese.result(failed, "cat: lamp.log: No such file or directory", is_error=True)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of both, in a zone of its own."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        with searched(tmp_path_factory.mktemp("answer"), write) as opened:
            yield opened
    finally:
        os.environ.pop("TZ")
        os.environ.update({"TZ": before} if before is not None else {})
        time.tzset()


def shown(engine: Engine, words: str, width: int, is_explained: bool = False) -> list[str]:
    """Return the lines that a terminal of that width would get, with their colours."""
    found = engine.search(words, facets=("kind", "project"))
    return [*search.answer(found, width, NOW, is_explained), *search.facets(found, width)]


@pytest.mark.parametrize("width", [80, 120])
def test_answer_looks_as_it_should(engine: Engine, width: int) -> None:
    """Titles, places, speakers, passages and bars, as they were read in review."""
    lines = [click.unstyle(line) for line in shown(engine, "lamp", width, is_explained=True)]

    assert (DATA / f"answer-{width}.txt").read_text(encoding="utf-8") == "\n".join(lines) + "\n"


def test_explanation_is_that_of_the_weights_in_use(engine: Engine) -> None:
    """A trial with other weights is not explained by those that everybody else has."""
    with Engine(engine.settings.index, recipe=without(["coverage"])) as trial:
        usual, other = ("\n".join(shown(one, "lamp door", 200, is_explained=True)) for one in (engine, trial))

    assert ("covered" in usual, "covered" in other) == (True, False)


@pytest.mark.parametrize("width", [30, 41, 80, 99, 120])
@pytest.mark.parametrize("words", ["lamp", "lamp door", '"the lamp"', "lamp OR 灯", "点滅", "/l.*p/"])
def test_every_line_fits(engine: Engine, words: str, width: int) -> None:
    """No line takes more columns than there are, wide characters counted twice, but the ids that are copied."""
    ids = {result.best.stored.id for result in engine.search(words).results}

    too_wide = [line for line in shown(engine, words, width) if columns(line) > width]

    assert [] == [line for line in too_wide if click.unstyle(line).strip() not in ids]


def test_colours_end_on_their_line(engine: Engine) -> None:
    """A line that begins a colour also ends it, so that nothing else on the terminal is coloured."""
    for line in shown(engine, '"which has no capacitor of its own passes that on" OR lamp', 50):
        codes = answer_codes(line)
        assert not codes or codes[-1] == "\x1b[0m"


def answer_codes(line: str) -> list[str]:
    """Return the colour codes of a line."""
    return [f"\x1b[{rest.partition('m')[0]}m" for rest in line.split("\x1b[")[1:]]


def test_words_asked_for_are_marked(engine: Engine) -> None:
    """What was asked for stands out in the passage, an error's speaker in red."""
    lines = "\n".join(shown(engine, "lamp OR directory", 80))

    assert click.style("lamp", fg="yellow", bold=True) in lines
    assert "\x1b[31mresult" in lines


def test_nothing_is_coloured_for_a_program(run: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody sees it there is no colour, nor where it is not wanted, and no word of what to type next."""
    home.session(SESSION).prompt("a lamp")
    run("index")
    piped = run("search", "lamp")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = run("search", "lamp")

    assert ("\x1b" in piped.out + piped.err, "\x1b" in plain.out + plain.err) == (False, False)
    assert piped.out == plain.out
    assert "Next:" not in piped.out + piped.err


ANSWER = {"query", "coverage", "total", "took_ms", "results", "empty_because"}
MORE = {"hidden_by_filters", "unseen", "missing", "did_you_mean", "respelled", "notes"}
SHOWN = {"uuid", "part", "role", "kind", "tool", "language", "is_error", "timestamp", "snippet", "highlights"}
RESULT = {"rank", "score", "channels", "session", "agent", "also_in", "project", "title", "branch", "model", "thread"}
RESULT |= {"agent_app"}
TURN = {"uuid", "role", "kind", "tool", "timestamp", "text", "hit"}


def test_fields_for_programs(engine: Engine) -> None:
    """The fields are those that were promised, and no others without notice."""
    told = to_builtins(wire.answer(engine.search("lamp kind:text,thinking,call", facets=("kind",)), "keyword"))
    results = told["results"]

    assert isinstance(results, list)
    assert ANSWER | MORE | {"facets"} == set(told)
    assert ANSWER | MORE == set(to_builtins(wire.answer(engine.search("lamp"))))
    assert {"text": "lamp kind:text,thinking,call", "mode": "keyword"} | {
        "filters": {"kind": ["text", "thinking", "tool_call"]}
    } == told["query"]
    assert {"parts": 10, "embedded": 0, "behind": 0} == told["coverage"]
    for rank, result in enumerate(results, 1):
        assert SHOWN | RESULT | {"others", "answer", "resume"} == set(result)
        assert rank == result["rank"]
        assert result["part"].startswith(result["uuid"] + "#")
        assert {"keyword"} == set(result["channels"])
        assert all(SHOWN == set(other) for other in result["others"])
        assert all(set(turn) - {"cut", "steps"} == TURN for turn in result["thread"])
        assert [result["uuid"]] == [turn["uuid"] for turn in result["thread"] if turn["hit"]]
        assert all(result["snippet"][slice(*span)].lower() == "lamp" for span in result["highlights"])


def test_values_for_programs(engine: Engine) -> None:
    """A result carries where it is, when it was, and how to go on."""
    (result,) = to_builtins(wire.results(engine.search("capacitor").results))

    expected: dict[str, object] = {
        "session": SESSION,
        "agent": None,
        "also_in": [],
        "project": "/home/mira/src/shop",
        "title": LONG_TITLE,
    }
    expected |= {"branch": "fix/lamp", "model": "claude-opus-4-6", "role": "assistant", "kind": "text", "tool": None}
    expected |= {"timestamp": "2026-03-01T10:00:06.000Z", "is_error": False, "language": "en"}
    expected |= {"resume": f"cd /home/mira/src/shop && claude --resume {SESSION}"}
    assert expected == {name: result[name] for name in expected}


def test_long_turns_are_cut_unless_all_is_wanted(tmp_path: Path) -> None:
    """A thread shows some hundred characters of each part and says how many it left out; or all."""
    with searched(tmp_path, lambda home: home.session(SESSION).prompt("lamp " + "x" * 5_000)) as opened:
        found = opened.search("lamp")
        answers: list[Any] = [to_builtins(wire.answer(found, is_full=is_full).results) for is_full in (False, True)]

    (short,), (full,) = (results[0]["thread"] for results in answers)
    assert (600, 4_405) == (len(short["text"]), short["cut"])
    assert (5_005, False) == (len(full["text"]), "cut" in full)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 3, ["one", "two", "thr", "ee"]),
        ("灯が点滅する", 5, ["灯が", "点滅", "する"]),
        ("a 灯灯 b", 5, ["a", "灯灯", "b"]),
        ("e\u0301e\u0301 e\u0301", 4, ["e\u0301e\u0301 e\u0301"]),
        ("", 10, []),
    ],
)
def test_lines_are_broken_between_words(text: str, width: int, lines: list[str]) -> None:
    """Words stay whole where they fit; wide characters take two columns and accents none."""
    assert lines == list(wrapped(text, width))


def test_coloured_words_are_broken_and_cut_like_others() -> None:
    """Colour codes take no column, are never cut in two, and do not outlast what is cut."""
    coloured = click.style("abcdefgh", fg="yellow", bold=True)

    assert ["abc", "def", "gh"] == [click.unstyle(line) for line in wrapped(coloured, 3)]
    assert ("abc…", True) == (click.unstyle(cut(coloured, 4)), cut(coloured, 4).endswith("\x1b[0m"))
    assert coloured == cut(coloured, 8)


def test_wide_text_is_cut_by_columns() -> None:
    """A cut text fits, also where half a character would."""
    assert ["灯…", "灯が…", "灯が点"] == [cut("灯が点", width) for width in (4, 5, 6)]


def test_marks_leave_out_what_commands_a_terminal() -> None:
    """Marks stay on their words when control characters are left out around them."""
    passage = Passage(text="a\x1b[31m lamp\x07 b", highlights=[(7, 11)])

    assert "a[31m lamp b" == click.unstyle(marked(passage))
    assert click.style("lamp", fg="yellow", bold=True) in marked(passage)
