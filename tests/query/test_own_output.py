"""What searchkit said in an earlier session is kept, and is not ranked beside what it quotes."""

import pytest

from searchkit.query.types import Condition, Filter, Query
from searchkit.sources.tools import answering, without
from searchkit.types import Block, Field, Kind, Role
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
SAID = "The quorum was lost because the third broker had no disk left."


def write(home: Home, tool: str, **values: object) -> None:
    """Write a session that says something, and a later one whose call brings it up again."""
    first = home.session(SESSION)
    first.prompt("why did the cluster stop?")
    first.text(SAID)
    later = home.session(OTHER)
    later.prompt("look into the history")
    later.result(later.call(tool, {**values}), f"[1] {SAID} quorum quorum broker")


def found(run: Run, *words: str) -> list[str]:
    """Return the sessions of all hits."""
    run("index")
    return [one["session"] for one in run("search", *words, "--group", "none", "--json").json["results"]]


@pytest.mark.parametrize("tool", ["mcp__searchkit__search", "mcp__plugin_searchkit_searchkit__context"])
def test_what_a_tool_of_ours_returned_is_not_ranked(home: Home, run: Run, tool: str) -> None:
    """Of a text and our quotation of it only the text is found."""
    write(home, tool, query="quorum broker")

    assert [SESSION] == found(run, "quorum", "broker")


@pytest.mark.parametrize(
    "command",
    [
        "searchkit search quorum",
        "cd src && .venv/bin/searchkit context quorum --max-tokens 900 | head",
        "SEARCHKIT_INDEX=x uv run searchkit show 1",
        "timeout 9 python3 -m searchkit search quorum",
    ],
)
def test_what_a_command_of_ours_printed_is_not_ranked(home: Home, run: Run, command: str) -> None:
    """The result of a shell is known by what it ran."""
    write(home, "Bash", command=command)

    assert [SESSION] == found(run, "lost", "disk")


@pytest.mark.parametrize("command", ["grep -rn 'searchkit search' docs", "pip install searchkit", "searchkit index"])
def test_what_another_command_printed_is_ranked(home: Home, run: Run, command: str) -> None:
    """That our name stands in a command does not make its result ours."""
    write(home, "Bash", command=command)

    assert {SESSION, OTHER} == set(found(run, "lost", "disk"))


@pytest.mark.parametrize("wanted", ["searchkit", "mcp__searchkit__search"])
def test_what_we_said_is_found_where_it_is_asked_for(home: Home, run: Run, wanted: str) -> None:
    """A filter that names our tool means what it returned."""
    write(home, "mcp__searchkit__search", query="quorum broker")

    assert {OTHER} == set(found(run, "quorum", "broker", "--tool", wanted))


@pytest.mark.parametrize("shell", ["Bash", "bash"])
def test_a_shell_that_asked_us_is_still_a_shell(home: Home, run: Run, shell: str) -> None:
    """Both the shell's name and ours mean the result, ours alone lets it be found."""
    write(home, "Bash", command="searchkit search quorum")
    run("index")

    asked = run("search", "lost", "--tool", "searchkit", "--json").json["results"]
    of_shell = run("search", "kind:tool_result", "--tool", shell, "--json").json

    assert ["Bash__searchkit"] == [one["tool"] for one in asked]
    assert ([], "filtered") == (of_shell["results"], of_shell["empty_because"])


def test_what_only_we_said_is_no_match(home: Home, run: Run) -> None:
    """Where no filter was given, none is blamed."""
    home.session(SESSION).prompt("nothing of note")
    later = home.session(OTHER)
    later.result(later.call("mcp__searchkit__search", {"query": "zebra"}), "zebra crossing")
    run("index")

    answer = run("search", "zebra", "--json").json

    assert ("no_match", 0) == (answer["empty_because"], answer["hidden_by_filters"])


def test_call_without_command_keeps_its_tool() -> None:
    """Only a shell's command is looked at."""
    text = "searchkit search x"
    fields = (Field(name="command", start=0, end=len(text)),)
    call = Block(number=0, kind=Kind.TOOL_CALL, role=Role.ASSISTANT, text=text, tool="Task", fields=fields)

    assert "Task" == answering(call)


def test_an_exclusion_of_ours_asks_for_nothing_of_ours() -> None:
    """Who leaves our tool out himself does not ask for it."""
    asked = Query(
        text="x", condition=Condition(filters=(Filter(name="tool", values=("searchkit",), is_excluded=True),))
    )

    assert asked != without(asked)


@pytest.mark.parametrize("piece", ["\n", "|a=", "a= ", "searchkit ", "'searchkit search", "uv "])
def test_commands_of_any_length_are_read(home: Home, run: Run, piece: str) -> None:
    """A hostile command holds up nothing: were the work to grow with its square, this would take hours."""
    write(home, "Bash", command=f"x {piece * 100_000}")

    assert {SESSION, OTHER} == set(found(run, "quorum"))
