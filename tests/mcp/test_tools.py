"""What the tools return: bounded, with uuids to ask further, and never empty without a reason."""

import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from searchkit import Engine
from searchkit.errors import UsageError
from searchkit.mcp.caller import ACTIVE_SECONDS, Caller, left_out
from searchkit.mcp.server import TOOLS, call
from searchkit.mcp.tools.base import text
from searchkit.mcp.tools.context import ContextAnswer
from searchkit.mcp.tools.show import ShowAnswer
from searchkit.text import tokens
from tests.mcp.history import ERROR, FIXED, LATER, LONG, OTHER, SHOP, History
from tests.support.transcript import Home

# What a page may take by default.
PAGE_TOKENS = 1_500
NOBODY = Caller()
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "cookie middleware"}),
    ("search", {"query": "ledger", "limit": 1}),
    ("search", {"query": "nonesuch"}),
    ("context", {"query": "cookie middleware"}),
    ("show", {"id": FIXED}),
    ("sessions", {}),
    ("sessions", {"title": "nonesuch"}),
    ("files", {"path": "src/cookie.py"}),
    ("files", {"path": "nonesuch.py"}),
    ("fixes", {"error": ERROR}),
    ("fixes", {"error": "nonesuch"}),
]


def asked(engine: Engine, name: str, caller: Caller = NOBODY, **given: object) -> dict[str, Any]:
    """Call a tool and return what a client gets."""
    found: dict[str, Any] = msgspec.to_builtins(call(engine, name, given, caller))
    return found


@pytest.mark.parametrize(("name", "given"), CALLS)
def test_answer_keeps_its_promises(engine: Engine, name: str, given: dict[str, Any]) -> None:
    """An answer is what the schema says, fits on a page as JSON and as text, and an empty one says why."""
    answer = call(engine, name, given, NOBODY)
    fields = msgspec.to_builtins(answer)

    Draft202012Validator(TOOLS[name].output_schema).validate(fields)
    assert tokens.count(msgspec.json.encode(answer).decode()) <= PAGE_TOKENS
    assert tokens.count(text(answer)) <= PAGE_TOKENS
    if "nonesuch" in str(given):
        assert fields["empty_because"]
        assert text(answer)


@pytest.mark.parametrize("name", TOOLS)
def test_tool_describes_itself(name: str) -> None:
    """A model is told when to use a tool and what every argument means, and unknown ones are refused."""
    tool = TOOLS[name]
    schema = tool.input_schema
    Draft202012Validator.check_schema(schema)
    Draft202012Validator.check_schema(tool.output_schema)

    assert "Use it" in tool.description
    assert [] == [name for name, one in schema["properties"].items() if "description" not in one]
    assert schema["additionalProperties"] is False
    assert "$ref" not in str(schema) + str(tool.output_schema)


def test_search_returns_what_leads_on(engine: Engine, history: History) -> None:
    """A result has the uuid to show, the session, what was asked there, and the next page."""
    first = asked(engine, "search", query="ledger", limit=1, sort="newest")
    second = asked(engine, "search", query="ledger", limit=1, sort="newest", offset=first["next_offset"])
    shown = asked(engine, "show", id=first["results"][0]["uuid"])

    assert {LATER, OTHER} == {one["session"] for page in (first, second) for one in page["results"]}
    assert "next_offset" not in second
    assert first["results"][0]["session"] == shown["session"]


def test_search_takes_filters(engine: Engine) -> None:
    """Filters narrow, and an answer that they emptied says so and names what there is."""
    found = asked(engine, "search", query="cookie", kind=["tool_call"], file="cookie.py", project="shop")
    none = asked(engine, "search", query="cookie", project="shopp")

    assert ["tool_call"] == [one["kind"] for one in found["results"]]
    assert ("filtered", True) == (none["empty_because"], any("/home/mira/src/shop" in one for one in none["hints"]))


@pytest.mark.parametrize("words", ["cookie", "xyzzy"])
def test_filter_that_is_none_is_told(engine: Engine, words: str) -> None:
    """A date that is none was searched as words, which is said whether or not anything was found."""
    found = asked(engine, "search", query=f"after:2026-13-45 {words}")

    assert any(one.startswith("after:2026-13-45 was read as words: it is not a date") for one in found["hints"])


def test_misspelt_words_are_told(engine: Engine) -> None:
    """Where what was probably meant is shown instead, a hint says so."""
    found = asked(engine, "search", query="coookie")

    assert ["Nothing holds 'coookie'; showing 'cookie'."] == found["hints"]
    assert "showing 'cookie'" in asked(engine, "context", query="coookie")["text"]


@pytest.mark.parametrize(
    "given", [{"query": "x", "limit": 0}, {"query": ""}, {"query": 3}, {"quary": "x"}, {"query": "x", "kind": ["poem"]}]
)
def test_arguments_that_make_no_sense_are_refused(engine: Engine, given: dict[str, Any]) -> None:
    """What is wrong and what may be given is said."""
    with pytest.raises(UsageError, match="search cannot take that") as refused:
        call(engine, "search", given, NOBODY)

    assert "exclude_session" in refused.value.hint


def test_long_message_is_read_in_pages(engine: Engine, history: History) -> None:
    """The offset of the next page leads through the whole text, in the structure and in what is written of it."""
    offset: int | None = 0
    read = shown = ""
    while offset is not None:
        page = call(engine, "show", {"id": history.long, "before": 0, "after": 0, "offset": offset}, NOBODY)
        assert isinstance(page, ShowAnswer)
        read += "".join(one.text for one in page.messages if one.is_hit)
        # Who speaks stands on a line before it.
        shown += text(page).partition("asked for")[2].partition("\n    ")[2].partition("\n")[0]
        offset = page.next_offset

    assert LONG == read == shown


def test_show_says_where_a_failure_passed(engine: Engine, history: History) -> None:
    """A failing result leads to the one that passed."""
    shown = asked(engine, "show", id=history.failed[:13])

    assert [history.passed] == shown["fixed_by"]
    assert ["hit"] == ["hit" for one in shown["messages"] if one.get("is_hit")]


@pytest.mark.parametrize("id", ["nonesuch", "   ", "#"])
def test_id_that_means_nothing_is_refused(engine: Engine, id: str) -> None:
    """An id is not guessed."""
    with pytest.raises(UsageError):
        call(engine, "show", {"id": id}, NOBODY)


@pytest.mark.parametrize("most", [500, 900, 1_500])
def test_context_keeps_its_budget(engine: Engine, most: int) -> None:
    """The whole answer, JSON and all, takes no more tokens than were wanted."""
    answer = call(engine, "context", {"query": "cookie middleware login", "max_tokens": most}, NOBODY)

    assert isinstance(answer, ContextAnswer)
    assert answer.uuids
    assert tokens.count(msgspec.json.encode(answer).decode()) <= most


@pytest.mark.parametrize("words", ["cookie middleware login", "ledger", "hidden red"])
def test_too_small_a_budget_is_told(engine: Engine, words: str) -> None:
    """Where no passage fits, what is said speaks of the number that was given, and of one that does."""
    with pytest.raises(UsageError, match="no passage fits into 100 tokens") as refused:
        call(engine, "context", {"query": words, "max_tokens": 100}, NOBODY)

    least = int(re.findall(r"use max_tokens=(\d+) or more", refused.value.hint)[0])
    packed = [asked(engine, "context", query=words, max_tokens=most) for most in range(least, least + 30)]
    assert [] == [one for one in packed if not one["uuids"] or one["tokens"] > one["max_tokens"]]
    with pytest.raises(UsageError, match="no passage fits"):
        call(engine, "context", {"query": words, "max_tokens": least - 1}, NOBODY)


def test_files_names_who_touched_one(engine: Engine, history: History) -> None:
    """Whatever the path before it is, its end leads to the calls that touched it; reading is no change."""
    found = asked(engine, "files", path="/elsewhere/shop/src/cookie.py")
    changed = asked(engine, "files", path="cookie.py", changed_only=True)

    assert {FIXED, OTHER} == {one["session"] for one in found["conversations"]}
    assert [(FIXED, history.edit)] == [(one["session"], one["touches"][0]["uuid"]) for one in changed["conversations"]]
    assert "login page" in changed["conversations"][0]["asked"]


def test_fixes_tells_what_was_changed(engine: Engine, history: History) -> None:
    """An error leads to the run that failed, the edit, and the run that passed."""
    traceback = f'Traceback (most recent call last):\n  File "x.py", line 3, in read\n{ERROR}\n'

    (fix,) = asked(engine, "fixes", error=traceback)["fixes"]

    assert [history.failed, history.edit, history.passed] == [
        fix["failed"][1]["uuid"],
        fix["changes"][0]["uuid"],
        fix["passed"][1]["uuid"],
    ]
    assert 1 == fix["edits"]


def test_fixes_shows_the_last_changes(home: Home, tmp_path: Path) -> None:
    """Of many edits between a failing and a passing run those right before it passed are shown."""
    told = home.session(FIXED)
    told.prompt("mend the ledger")
    told.result(told.call("Bash", {"command": "make"}), "error: the ledger is torn", is_error=True)
    edits = []
    for number in range(4):
        made = {"file_path": "/shop/ledger.py", "old_string": f"a{number}", "new_string": f"b{number}"}
        edits.append(told.call("Edit", made))
        told.result(edits[-1], "The file has been updated.")
    told.result(told.call("Bash", {"command": "make"}), "done")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        (fix,) = asked(engine, "fixes", error="error: the ledger is torn")["fixes"]

    assert [edit["uuid"] for edit in edits[-2:]] == [one["uuid"] for one in fix["changes"]]
    assert 4 == fix["edits"]


def test_text_has_nothing_hidden(engine: Engine) -> None:
    """What could turn the direction of writing, colour it or hide from a reader is left out."""
    said = "".join(one["text"] for one in asked(engine, "show", id=LATER)["messages"])
    found = asked(engine, "search", query="hidden red")["results"][0]["text"]

    assert "beforeafter red hidden" in said
    assert "beforeafter red hidden" == found


def test_session_that_asks_is_left_out(engine: Engine) -> None:
    """Named by the call or by the client, it is not searched, and the answer says so."""
    by_call = asked(engine, "search", query="ledger", exclude_session=LATER)
    by_client = asked(engine, "search", Caller(session=LATER), query="ledger")
    alone = asked(engine, "search", Caller(session=FIXED), query="middleware")

    assert [OTHER] == [one["session"] for one in by_call["results"]] == [one["session"] for one in by_client["results"]]
    assert [LATER] == [one["session"] for one in by_client["left_out"]]
    assert "left_out" == alone["empty_because"]


def test_session_is_searched_where_the_question_names_it(engine: Engine) -> None:
    """Who asks for a session means it, also his own."""
    found = asked(engine, "search", Caller(session=LATER), query=f"ledger session:{LATER}")

    assert [LATER] == [one["session"] for one in found["results"]]


def test_session_is_given_away_by_project_and_time(home: Home, tmp_path: Path) -> None:
    """One of the same project that is being written is taken for the one that asks, others are not."""
    now = 1_800_000_000.0
    for session, cwd, age in ((FIXED, SHOP, 5), (LATER, SHOP, ACTIVE_SECONDS + 60), (OTHER, "/home/mira/src/notes", 5)):
        transcript = home.session(session, cwd=cwd)
        transcript.prompt("the ledger again")
        os.utime(transcript.path, (now - age, now - age))
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        left = left_out(engine, Caller(cwd=SHOP), now=now)
        below = left_out(engine, Caller(cwd="/home/mira/src"), now=now)

    assert [(FIXED, "it is of the same project, and was written to 5 s ago")] == [
        (one.session, one.because) for one in left
    ]
    assert [] == below


def test_nothing_indexed_is_no_absence(tmp_path: Path, home: Home) -> None:
    """An index without anything in it says that it is empty."""
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        found = asked(engine, "search", query="anything")

    assert "not_indexed" == found["empty_because"]
