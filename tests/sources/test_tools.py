"""The table of tools: one answer to what a tool does, whoever asks."""

from typing import Any

import pytest

from searchkit import Engine
from searchkit.mcp.caller import Caller
from searchkit.mcp.server import call
from searchkit.render.conversation import call_pieces
from searchkit.render.document import Diff
from searchkit.sources import tools
from searchkit.sources.parts import split
from searchkit.types import Block, Field, Kind, Record, Role
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
PATH = "/src/prices.py"
EDIT = {"path": PATH, "oldText": "a", "newText": "b"}
MCP_EDIT = "mcp__files__edit_file"


def test_edit_by_an_mcp_server_is_an_edit_everywhere(home: Home, run: Run) -> None:
    """What is stored as an edit is found as a change, counts as one in a session, and is the change of a fix."""
    session = home.session(SESSION)
    session.prompt("mend the prices")
    session.result(session.call("Read", {"file_path": PATH}), "a")
    session.result(session.call("Bash", {"command": "make test"}), "prices are wrong", is_error=True)
    edited = session.call(MCP_EDIT, EDIT)
    session.result(edited, "done")
    session.result(session.call("Bash", {"command": "make test"}), "passed")
    run("index")

    with Engine() as engine:
        changed: Any = call(engine, "files", {"path": PATH, "changed_only": True}, Caller())
        fixes: Any = call(engine, "fixes", {"error": "prices are wrong"}, Caller())
        outline = engine.outline(SESSION)

    assert [edited["uuid"]] == [one.uuid for found in changed.conversations for one in found.touches]
    (fix,) = fixes.fixes
    assert (1, [edited["uuid"]]) == (fix.edits, [one.uuid for one in fix.changes])
    assert [(PATH, "edit")] == [(touch.path, touch.action) for touch in outline.files]


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("Read", "read"),
        ("edit", "edit"),
        ("NotebookEdit", "edit"),
        ("str_replace", "edit"),
        ("apply_patch", "edit"),
        ("Write", "write"),
        ("mcp__files__write_file", "write"),
        ("mcp__files__read_text_file", "read"),
        ("Bash", None),
        ("mcp__tracker__task", None),
        ("nonesuch", None),
        (None, None),
    ],
)
def test_tool_does_one_thing_to_files(name: str | None, action: str | None) -> None:
    """A tool is known in any letter case, and one of an MCP server by its last name."""
    assert action == tools.file_action(name)
    assert (action in ("edit", "write")) == tools.changes_files(name)


def test_only_tools_of_the_agent_itself_start_agents() -> None:
    """A server may call its tool `task`; that starts no agent. Its shell is a shell."""
    assert tools.starts_agent("Task")
    assert not tools.starts_agent("mcp__tracker__task")
    assert tools.runs_commands("mcp__remote__bash")


def test_filter_of_changing_tools_means_servers_too() -> None:
    """The values that `changed_only` filters by are names that tools of servers end with."""
    assert "edit_file" in tools.changing()
    assert not {"read", "bash", "task"} & set(tools.changing())


def test_patch_names_its_files() -> None:
    """A patch says itself which files it adds, changes, deletes and moves."""
    patch = (
        "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: old.py\n*** Move to: moved.py\n@@\n-a\n+b\n"
        "*** Delete File: gone.py\n*** End Patch"
    )

    found = list(tools.touched("apply_patch", {"input": patch}))

    assert [("new.py", "write"), ("old.py", "edit"), ("moved.py", "write"), ("gone.py", "edit")] == found


def test_replacements_of_other_agents_are_shown_as_changes() -> None:
    """A call with `old_str` and `new_str` reads as a change of its file."""
    text = "path: a.py\nold_str: one\nnew_str: two"
    fields = [("path", 6, 10), ("old_str", 20, 23), ("new_str", 33, 36)]
    block = Block(
        number=0,
        kind=Kind.TOOL_CALL,
        role=Role.ASSISTANT,
        text=text,
        tool="str_replace",
        fields=tuple(Field(name=name, start=start, end=end) for name, start, end in fields),
    )
    (part,) = split(Record(uuid="u", type="assistant", line=1, blocks=[block]))

    (piece,) = call_pieces(part)

    assert isinstance(piece, Diff)
    assert ("a.py", [("-", "one"), ("+", "two")]) == (piece.path, [(row.sign, row.text) for row in piece.rows])


def test_patch_is_shown_as_changes_of_its_files() -> None:
    """A call that takes a patch reads as the change of each file."""
    text = (
        "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n one\n-two\n@@\n+three\n"
        "*** Add File: c.py\n+four\n*** End Patch\n"
    )
    block = Block(number=0, kind=Kind.TOOL_CALL, role=Role.ASSISTANT, text=text, tool="apply_patch")
    (part,) = split(Record(uuid="u", type="assistant", line=1, blocks=[block]))

    diffs = [piece for piece in call_pieces(part) if isinstance(piece, Diff)]
    found = [(diff.path, [(row.sign, row.text) for row in diff.rows]) for diff in diffs]

    moved = [("@", "moved to b.py"), ("@", "def f():"), (" ", "one"), ("-", "two"), ("+", "three")]
    assert [("a.py", moved), ("c.py", [("+", "four")])] == found
