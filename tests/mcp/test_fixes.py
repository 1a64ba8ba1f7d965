"""How an error was fixed before: only the same error counts, and only what has to do with it is told as its fix."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from searchkit import Engine
from searchkit.conversation.mending import FLOOR, is_variant, key_lines, line_words, telling
from searchkit.mcp.caller import Caller
from searchkit.mcp.server import call
from searchkit.sources.tools import is_refusal
from tests.mcp.history import FIXED, LATER
from tests.support.transcript import Home, Record, Transcript

ERROR = "ModuleNotFoundError: No module named 'lantern'"
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def told(home: Home) -> Transcript:
    """A session in which somebody works."""
    session = home.session(FIXED)
    session.prompt("mend the light house")
    return session


@pytest.fixture
def ask(home: Home, tmp_path: Path) -> Iterator[Ask]:
    """Index what was written when first asked, and return what a client gets for an error."""
    with Engine(tmp_path / "index", [home.root]) as engine:

        def asked(error: str, **more: object) -> dict[str, Any]:
            engine.index(with_vectors=False)
            found: dict[str, Any] = msgspec.to_builtins(call(engine, "fixes", {"error": error, **more}, Caller()))
            return found

        yield asked


def ran(session: Transcript, command: str, printed: str, is_error: bool = False) -> Record:
    """Run a command, and return its result."""
    return session.result(session.call("Bash", {"command": command}), printed, is_error=is_error)


def edited(session: Transcript, path: str, old: str, new: str) -> Record:
    """Edit a file, and return the call."""
    made = session.call("Edit", {"file_path": path, "old_string": old, "new_string": new})
    session.result(made, "The file has been updated.")
    return made


def uuids(messages: list[dict[str, Any]]) -> list[str]:
    """Return what messages are known by."""
    return [one["uuid"] for one in messages]


@pytest.mark.parametrize(
    "error",
    [
        "ModuleNotFoundError: No module named 'beacon'",
        "KeyError: 'lantern'",
        "fatal: refusing to merge unrelated histories",
        "zorb",
        "404",
    ],
)
def test_error_that_occurs_nowhere_is_not_known(told: Transcript, ask: Ask, error: str) -> None:
    """Another error of the same kind, or about the same thing, is another error."""
    ran(told, "python light.py", f"Exit code 1\n{ERROR}", is_error=True)
    edited(told, "/shop/light.py", "import lantern", "import lamp")
    ran(told, "python light.py", "lit")

    found = ask(error)

    assert "not_known" == found["empty_because"]
    assert not {"fixes", "seen"} & found.keys()
    assert "not known" in found["hints"][0]


def test_what_differs_between_runs_does_not_matter(told: Transcript, ask: Ask) -> None:
    """Line numbers, addresses and directories are others when the same thing fails again."""
    failed = ran(
        told, "make", "Exit code 2\n/home/mira/src/lamp.c:12:9: error: 'wick' undeclared at 0x7f01", is_error=True
    )
    edit = edited(told, "/home/mira/src/lamp.c", "wick", "int wick")
    passed = ran(told, "make", "done")

    (fix,) = ask("/build/41/lamp.c:77:1: error: 'wick' undeclared at 0x99aa")["fixes"]

    assert [failed["uuid"], edit["uuid"], passed["uuid"]] == [
        uuids(fix["failed"])[1],
        *uuids(fix["changes"]),
        uuids(fix["passed"])[1],
    ]


def test_signs_in_an_error_are_words(told: Transcript, ask: Ask) -> None:
    """What was printed excludes nothing, requires nothing and filters nothing."""
    printed = 'make: cannot find -ledger "torn page" tool:Read after:1d'
    failed = ran(told, "make", printed, is_error=True)

    (seen,) = ask(printed)["seen"]

    assert failed["uuid"] == seen["uuid"]


def test_error_in_a_prompt_is_found(home: Home, told: Transcript, ask: Ask) -> None:
    """What followed a pasted error is its fix: the edits that have to do with it, and what was said at last."""
    told.text("Nothing to do here.")
    session = home.session(LATER)
    prompt = session.prompt(f"now this comes up, please mend it\n\n  File light.py, line 3\n{ERROR}\n")
    edited(session, "/shop/notes.md", "old words", "new words")
    edit = edited(session, "/shop/light.py", "import lantern", "import lamp")
    outcome = session.text("It was renamed to lamp, and light.py imports that now.")

    (fix,) = ask(ERROR)["fixes"]

    assert (LATER, 2) == (fix["session"], fix["edits"])
    assert [[prompt["uuid"]], [edit["uuid"]], [outcome["uuid"]]] == [
        uuids(fix[name]) for name in ("failed", "changes", "passed")
    ]


def test_rerun_without_a_change_is_no_fix(told: Transcript, ask: Ask) -> None:
    """What passed by itself was not mended; where it was seen is told."""
    failed = ran(told, "python light.py", ERROR, is_error=True)
    ran(told, "ls", "light.py")
    ran(told, "python light.py", "lit")

    found = ask(ERROR)

    assert "fixes" not in found
    assert [failed["uuid"]] == uuids(found["seen"])


def test_edit_that_has_nothing_to_do_with_it_is_no_fix(told: Transcript, ask: Ask) -> None:
    """Neither its file nor what it replaced is spoken of in the error."""
    ran(told, "python light.py", ERROR, is_error=True)
    edited(told, "/shop/notes.md", "the old harbour", "the new harbour")
    ran(told, "python light.py", "lit")

    assert "fixes" not in ask(ERROR)


def test_edit_of_a_text_that_was_printed_is_a_fix(told: Transcript, ask: Ask) -> None:
    """A file that the error does not name is known by the text that was replaced in it."""
    printed = "    glow(brightness, colour)\nTypeError: takes one argument"
    ran(told, "python run.py", printed, is_error=True)
    edit = edited(told, "/shop/lamps/oil.py", "glow(brightness, colour)", "glow(brightness)")
    ran(told, "python run.py", "lit")

    (fix,) = ask("TypeError: takes one argument")["fixes"]

    assert [edit["uuid"]] == uuids(fix["changes"])


def test_changed_command_is_a_fix(told: Transcript, ask: Ask) -> None:
    """It needs no edit; another command of the same program would be none."""
    ran(told, "lamp light --oil whale --room hall", "lamp: error: no such oil: whale", is_error=True)
    ran(told, "lamp --help", "usage: lamp")
    passed = ran(told, "lamp light --oil olive --room hall", "lit")

    (fix,) = ask("lamp: error: no such oil: whale")["fixes"]

    assert (passed["uuid"], 0) == (uuids(fix["passed"])[1], fix.get("edits", 0))


def test_command_that_names_what_was_missing_is_a_fix(told: Transcript, ask: Ask) -> None:
    """Something was installed, and the same command passed."""
    ran(told, "python light.py", ERROR, is_error=True)
    installed = told.call("Bash", {"command": "pip install lantern"})
    told.result(installed, "done")
    ran(told, "python light.py", "lit")

    (fix,) = ask(ERROR)["fixes"]

    assert [installed["uuid"]] == uuids(fix["changes"])


def test_error_that_is_printed_again_did_not_pass(told: Transcript, ask: Ask) -> None:
    """A pipe hides that a command failed, and not what it printed."""
    ran(told, "python light.py", ERROR, is_error=True)
    edited(told, "/shop/light.py", "import lantern", "from lantern import oil")
    ran(told, "python light.py", f"{ERROR}\n")

    assert "fixes" not in ask(ERROR)


@pytest.mark.parametrize(
    "refused",
    [
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        "Cancelled: parallel tool call Bash(make) errored",
        "The user doesn't want to proceed with this tool use.",
    ],
)
def test_what_the_client_refused_is_no_error(told: Transcript, ask: Ask, refused: str) -> None:
    """Nothing ran, so nothing was wrong with it."""
    made = {"file_path": "/shop/light.py", "old_string": "lantern", "new_string": "lamp"}
    told.result(told.call("Edit", made), refused, is_error=True)
    edited(told, "/shop/light.py", "lantern", "lamp")

    assert is_refusal(refused)
    assert "not_known" == ask(refused)["empty_because"]


def test_same_error_comes_before_one_like_it(home: Home, told: Transcript, ask: Ask) -> None:
    """Where the error itself was only seen, the fix of one that is like it is not told."""
    ran(told, "sail east", "error: no wind from the east over the bay of lamps", is_error=True)
    ran(told, "sail east --slow", "arrived")
    other = home.session(LATER)
    other.prompt("sail west")
    seen = ran(other, "sail", "error: no wind from the west over the bay of lamps", is_error=True)

    found = ask("error: no wind from the west over the bay of lamps")

    assert "fixes" not in found
    assert [seen["uuid"]] == uuids(found["seen"])


@pytest.mark.parametrize(
    ("kept_away", "because"),
    [({"project": "harbour"}, "filtered"), ({"exclude_session": FIXED}, "left_out")],
)
def test_error_that_is_kept_away_is_known(
    home: Home, told: Transcript, ask: Ask, kept_away: dict[str, str], because: str
) -> None:
    """Not known would say too much."""
    ran(told, "python light.py", ERROR, is_error=True)
    other = home.session(LATER, cwd="/home/mira/src/harbour")
    other.prompt("look at the harbour")
    ran(other, "python harbour.py", "KeyError: 'pier'", is_error=True)

    assert because == ask(ERROR, **kept_away)["empty_because"]
    assert "not_known" == ask("KeyError: 'quay'", **kept_away)["empty_because"]


def test_long_error_is_cut_to_what_tells() -> None:
    """Of a long output the last lines that speak of a failure are looked for."""
    printed = "\n".join(["compiling"] * 500 + ["error: no such column: ledger", "done"])

    assert "error: no such column: ledger" == key_lines(printed)


def test_option_that_speaks_of_errors_is_none() -> None:
    """Of a failed comparison of two commands, one with `-Werror`, all that was printed is looked at."""
    printed = "Exit code 1\n-cc -Wall -Werror lamp.c\n+cc -Wall lamp.c\nthe recipes differ"

    assert printed == key_lines(printed)


def test_places_in_code_tell_nothing() -> None:
    """Frames and the code that raised are left out of a traceback."""
    printed = (
        'Traceback (most recent call last):\n  File "error.py", line 3\n    raise LampError(oil)\nLampError: dry\n'
    )

    assert "LampError: dry" == key_lines(printed)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/home/mira/src/lamp.c:12:9: error", {"lamp.c", "error"}),
        ("C:\\lamps\\oil.py failed after 12.5 s", {"oil.py", "failed", "after"}),
        ("dial unix:///var/run/lamp.sock", {"dial", "lamp.sock"}),
        ("at 0xdeadbeef in 0f8fad5bd9cb469fa165", {"at", "in"}),
        ("\x1b[31merror TS2304\x1b[0m", {"error", "ts2304"}),
        ("______ lamp_7 ______ 1_000", {"lamp_7"}),
    ],
)
def test_words_of_a_line(line: str, words: set[str]) -> None:
    """Of what changes from run to run nothing is left, of paths the names of files."""
    assert words == line_words(line)


def test_likeness_counts_rare_words_more() -> None:
    """What an error is about weighs more than that it is one; what is far apart is not one error."""
    error = telling("error: no oil in lamp_7", lambda word: 9.0 if word == "lamp_7" else 1.0)

    assert 1.0 == error.likeness("Exit code 1\nerror: no oil\nin lamp_7").share
    assert FLOOR > error.likeness("error: no oil in lamp_8").share
    assert 1.0 > error.likeness("error: no oil\n\n\n\nin lamp_7").share
    assert ["lamp_7"] == error.specific


def test_place_of_an_error_is_where_its_line_begins() -> None:
    """A long output is quoted from there."""
    text = "compiling\n" * 100 + "error: no oil\ndone"

    assert text.index("error") == telling("error: no oil", lambda word: 1.0).likeness(text).place


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("make all", "make all -j2", True),
        ("cd /shop && make all", "make all -k", True),
        ("make all", "make all", False),
        ("make all", "ls all", False),
        ("git status", "git push origin main", False),
        ("", "make", False),
        ("ls -la hall/lamp", "ls -la hall", False),
        ("git diff hall/lamp", "git diff hall/lamps", True),
    ],
)
def test_variant_of_a_command(one: str, other: str, is_one: bool) -> None:
    """The same program with half of the words, which are more than options, but not the same words."""
    assert is_one is is_variant(one, other)
