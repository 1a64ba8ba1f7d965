"""What a search looks like to a person."""

import pytest

from tests.running import Run
from tests.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


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
