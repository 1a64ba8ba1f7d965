"""What a search looks like to a person."""

import sys
from pathlib import Path

import pytest

from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


def test_result_reads_as_a_conversation(home: Home, run: Run) -> None:
    """A hit stands in the turn that it is of; other passages are marked as such, ids are safe."""
    transcript = home.session(SESSION)
    transcript.prompt("what is this")
    transcript.text("a giraffe and a zebra near the lake", uuid="evil\x1b[31m-\u202eid")
    transcript.prompt("thank you")
    transcript.text("you are welcome")
    transcript.text(
        "as I said before and will say again: it was a giraffe and a zebra near the lake, a giraffe and a zebra"
    )
    run("index")

    lines = run("search", "giraffe", "zebra", "lake").out.splitlines()

    assert [
        " 1  what is this",
        "      you          what is this",
        "    > claude       a giraffe and a zebra near the lake",
        "    also claude    as I said before and will say again: it was a giraffe and a zebra near the …",
        "    evil[31m-id#0",
        "",
    ] == lines[:1] + lines[2:]


def test_passage_is_not_shown_twice(home: Home, run: Run) -> None:
    """A further passage that is a turn beside the hit is shown there, and not again."""
    transcript = home.session(SESSION)
    transcript.prompt("is it a giraffe")
    transcript.text("yes, a giraffe")
    run("index")

    shown = run("search", "giraffe").out

    # The prompt is the session's title, too.
    assert (2, 1, 0) == (shown.count("is it a giraffe"), shown.count("yes, a giraffe"), shown.count("also"))


def test_thread_shows_so_many_turns(home: Home, run: Run) -> None:
    """None, the turn of the hit, or one more before it and after it for each that is asked for."""
    transcript = home.session(SESSION)
    for number in range(9):
        transcript.prompt("giraffe" if number == 4 else f"number {number}")
    run("index")

    shown = {turns: run("search", "giraffe", "--thread", str(turns)).out for turns in (0, 1, 3)}

    assert [0, 0, 4] == [out.count("you          number") for out in shown.values()]


def test_title_has_the_date_of_its_session(home: Home, run: Run) -> None:
    """Where what was found has no time of its own, that of the session's end is shown."""
    transcript = home.session(SESSION)
    transcript.prompt("what is this", timestamp="2026-03-01T12:00:00Z")
    transcript.line({"type": "custom-title", "customTitle": "On giraffes", "sessionId": SESSION})
    run("index")

    shown = run("search", "giraffes").out

    assert "> title        On giraffes" in shown
    assert "2026-03-01, " in shown


def test_word_that_nothing_holds_is_told(home: Home, run: Run) -> None:
    """It is named beside results and where there are none, with a word like it if there is one."""
    home.session(SESSION).prompt("a giraffe")
    run("index")

    beside, alone = run("search", "giraffe", "xyzzy", "girafe"), run("search", "xyzzy")

    assert "No 'xyzzy' anywhere.\nNo 'girafe' anywhere; did you mean giraffe?\n" == beside.err
    assert "No 'xyzzy' anywhere.\n" in alone.err
    assert ["xyzzy"] == run("search", "giraffe", "xyzzy", "--json").json["missing"]


def test_footer_says_what_to_type_next(home: Home, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal it tells how much there is and the next commands, for the index that was named."""
    transcript = home.session(SESSION)
    transcript.prompt("a giraffe")
    transcript.text("yes, a giraffe")
    run("index", "--index", str(tmp_path / "my index"))
    piped = run("search", "giraffe", "--index", str(tmp_path / "my index"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    grouped = run("search", "giraffe", "--index", str(tmp_path / "my index"))
    single = run("search", "giraffe", "--group", "none", "--index", str(tmp_path / "my index"))

    named = f"--index '{tmp_path}/my index'"
    following = f" ms. Next: searchkit show 1 {named} · searchkit resume 1 {named}\n"
    assert "" == piped.err
    assert ("2 matches, 1 session shown, ", following) == (grouped.err[:28], grouped.err[-len(following) :])
    assert single.err.startswith("2 matches, 2 results shown, ")


@pytest.mark.parametrize(
    ("tool", "shown"),
    [
        ("Bash", "Bash "),
        ("ExitPlanMode", "ExitPlanMode "),
        ("mcp__private__find", "find "),
        ("mcp__a__b__read_file", "read_file "),
        ("mcp__private__", "tool "),
        ("NotebookEditCell", "NotebookEdi… "),
        ("工具工具工具工具", "工具工具工… "),
    ],
)
def test_names_of_tools(home: Home, run: Run, tool: str, shown: str) -> None:
    """A tool of a server goes by its own name, and what is too long ends in an ellipsis."""
    home.session(SESSION).call(tool, {"query": "giraffe"})
    run("index")

    lines = run("search", "giraffe").out.splitlines()

    assert [line for line in lines if line.strip(" >").startswith(shown)]


def test_prompt_of_an_agent_is_a_task(home: Home, run: Run) -> None:
    """What a model told an agent is not what you said, also where only the record says that it is aside."""
    home.session(SESSION).prompt("a giraffe aside", isSidechain=True)
    home.agent(SESSION, "abc1234").prompt("a giraffe delegated")
    home.session("22222222-2222-4222-8222-222222222222").prompt("a giraffe asked for")
    run("index")

    shown = [" ".join(line.split()) for line in run("search", "giraffe", "--group", "none").out.splitlines()]

    said = {line.strip("> ") for line in shown if "giraffe" in line and "agent" not in line}
    assert {"task a giraffe aside", "task a giraffe delegated", "you a giraffe asked for"} <= said
