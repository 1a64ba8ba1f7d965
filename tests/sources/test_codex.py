"""Codex: what its rollouts say is found as what it is, where it is, and in its conversation."""

import json
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchkit import Engine
from searchkit.conversation.resume import command
from searchkit.conversation.types import Said
from searchkit.sources import registry
from searchkit.sources.codex.messages import classify, result
from searchkit.types import Grouping, Kind, Role
from tests.contract.small import batch
from tests.reference import ReferenceBackend
from tests.support.rollout import CWD, CodexHome
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "0199aaaa-0000-7000-8000-000000000001"
FORK = "0199bbbb-0000-7000-8000-000000000002"
AGENT = "0199cccc-0000-7000-8000-000000000003"
T1, T2, T3 = (f"0199dddd-0000-7000-8000-00000000000{number}" for number in range(1, 4))
PATCH = "*** Begin Patch\n*** Update File: src/glaze.py\n@@\n-cobalt\n+celadon\n*** End Patch"

Index = Callable[..., Engine]


@pytest.fixture
def codex(tmp_path: Path) -> CodexHome:
    """A home of Codex with nothing in it."""
    return CodexHome(tmp_path / "codex")


@pytest.fixture
def index(codex: CodexHome, tmp_path: Path) -> Index:
    """Give a function that brings an index up to date with roots, by default the home of Codex, and opens it."""

    def update(*roots: Path) -> Engine:
        engine = Engine(tmp_path / "index", roots or [codex.root])
        engine.index()
        return engine

    return update


def written(codex: CodexHome) -> None:
    """Write a session with everything in it."""
    rollout = codex.rollout(SESSION)
    rollout.wrapped("<permissions instructions>sandboxed marmalade</permissions instructions>", role="developer")
    rollout.wrapped("# AGENTS.md instructions for /home/mira\n\n<INSTRUCTIONS>\nprefer tabs, thistle\n</INSTRUCTIONS>")
    rollout.wrapped("<environment_context>\n  <cwd>/home/mira</cwd> quince\n</environment_context>")
    rollout.turn(T1)
    rollout.prompt("why does the glaze crack, juniper")
    rollout.thinking("perhaps the saffron cools too fast")
    rollout.thinking("")
    fire = {"command": ["bash", "-lc", "make fire"], "workdir": CWD}
    call = rollout.call("shell", {**fire, "justification": "cardamom"})
    rollout.result(call, json.dumps({"output": "kiln broke: fennel", "metadata": {"exit_code": 2}}))
    rollout.usage(1_200, 1_000, 400, 200)
    rollout.usage(1_200, 1_000, 400, 200)
    patch = rollout.patch(PATCH)
    rollout.result(patch, json.dumps({"output": "Success", "metadata": {"exit_code": 0}}), "custom_tool_call_output")
    again = rollout.call("shell", fire)
    rollout.result(again, json.dumps({"output": "kiln held", "metadata": {"exit_code": 0}}))
    again = rollout.call("exec_command", {"cmd": "make look"})
    rollout.result(again, "Chunk ID: 9c2f\nWall time: 1.2 seconds\nProcess exited with code 0\nOutput:\nfired: anise\n")
    rollout.text("it cracked because of the cobalt, tarragon")
    rollout.usage(2_500, 1_100, 1_000, 100)
    rollout.turn(T2)
    rollout.prompt("thanks, lavender")
    codex.history(SESSION, "why does the glaze crack, juniper")


PLANTED = [
    ("juniper", Kind.PROMPT, Role.USER, None),
    ("saffron", Kind.THINKING, Role.ASSISTANT, None),
    ("cardamom", Kind.TOOL_CALL, Role.ASSISTANT, "shell"),
    ("fennel", Kind.TOOL_RESULT, Role.USER, "shell"),
    ("celadon", Kind.TOOL_CALL, Role.ASSISTANT, "apply_patch"),
    ("anise", Kind.TOOL_RESULT, Role.USER, "exec_command"),
    ("tarragon", Kind.TEXT, Role.ASSISTANT, None),
    ("lavender", Kind.PROMPT, Role.USER, None),
    ("marmalade", Kind.SYSTEM, Role.SYSTEM, None),
    ("thistle", Kind.SYSTEM, Role.SYSTEM, None),
    ("quince", Kind.SYSTEM, Role.SYSTEM, None),
]


@pytest.mark.parametrize(("word", "kind", "role", "tool"), PLANTED)
def test_planted_word_is_found_as_what_it_is(
    codex: CodexHome, index: Index, word: str, kind: Kind, role: Role, tool: str | None
) -> None:
    """Every word is found, once, with its kind, role, tool, session and project."""
    written(codex)

    with index() as engine:
        found = engine.search(word, group="none").results

    parts = [(one.best.stored.part.kind, one.best.stored.part.role, one.best.stored.part.tool) for one in found]
    homes = [one.best.stored.link.places[0].session for one in found]
    assert {(kind, role, tool)} == set(parts)
    assert {SESSION} == set(homes)
    assert 1 == len(found)
    assert {(CWD, "glaze", "0.149.0")} == {
        (one.best.stored.link.context.cwd, one.best.stored.link.context.branch, one.best.stored.link.context.version)
        for one in found
    }


def test_session_is_told_of(codex: CodexHome, index: Index) -> None:
    """A session has the project, the branch, the model and the program that wrote it, and what it cost."""
    written(codex)

    with index() as engine:
        (session,) = engine.sessions()
        figures = engine.figures(groupings=[Grouping.MODEL])[Grouping.MODEL]["gpt-5-codex"]
        facets = engine.search("juniper", facets=("agent-app", "model")).facets

    assert (SESSION, CWD, "glaze", "codex", 2) == (
        session.id,
        session.project,
        session.branch,
        session.app,
        session.prompts,
    )
    assert (2, 700, 300, 1_400) == (figures.responses, figures.input, figures.output, figures.cache_read)
    assert {"agent-app": {"codex": 1}, "model": {"gpt-5-codex": 1}} == {name: dict(one) for name, one in facets.items()}


def test_failed_result_leads_to_its_fix(codex: CodexHome, index: Index) -> None:
    """A result with an exit code other than 0 failed; the next one of the same command passed, after an edit."""
    written(codex)

    with index() as engine:
        (failed,) = engine.search("fennel").results
        shown = engine.show(failed.best.stored.part.uuid)
        outline = engine.outline(SESSION)
        errors = engine.search("is:error", group="none").results

    assert ["kiln broke: fennel"] == [one.best.stored.part.text for one in errors]
    assert [("src/glaze.py", "edit")] == [(touch.path, touch.action) for touch in outline.files]
    (fix,) = shown.fixes
    assert ("kiln held", 1) == (fix.passed.part.text, fix.edits)


def test_conversation_is_in_the_order_of_its_lines(codex: CodexHome, index: Index) -> None:
    """What was said hangs together from the first prompt to the last, results behind their calls."""
    written(codex)

    with index() as engine:
        (first,) = engine.search("juniper", group="none").results
        shown = engine.show(first.best.stored.part.uuid, before=9, after=9, is_full=True)

    said = [entry.stored.part for entry in shown.entries if isinstance(entry, Said)]
    kinds = [part.kind for part in said]
    assert (Kind.PROMPT, Kind.PROMPT) == (kinds[0], kinds[-1])
    assert [Kind.TOOL_CALL, Kind.TOOL_RESULT] * 4 == [one for one in kinds if one.value.startswith("tool")]
    assert not shown.branches


def test_parallel_calls_have_their_results(codex: CodexHome, index: Index) -> None:
    """Calls that are made at once are told each with its own result, and make no branches."""
    rollout = codex.rollout(SESSION)
    rollout.turn(T1)
    rollout.prompt("look at both")
    calls = [rollout.call("exec_command", {"cmd": f"cat {name}"}) for name in ("one", "two")]
    for call, name in zip(calls, ("first", "second"), strict=True):
        rollout.result(call, name)
    rollout.text("seen")

    with index() as engine:
        (asked,) = engine.search("look", group="none").results
        shown = engine.show(asked.best.stored.part.uuid, is_full=True)

    texts = [entry.stored.part.text for entry in shown.entries if isinstance(entry, Said)]
    assert ["look at both", "command: cat one", "first", "command: cat two", "second", "seen"] == texts
    assert not shown.branches


def forked(codex: CodexHome, session: str = FORK, day: int = 2, **meta: Any) -> None:
    """Write a fork of the session as Codex does: its own head, then the parent's lines with new times."""
    rollout = codex.rollout(session, day=day, **({"forked_from_id": SESSION} | meta))
    parent = codex.root / "sessions" / "2026" / "04" / "01" / f"rollout-2026-04-01T08-00-00-{SESSION}.jsonl"
    for line in parent.read_text(encoding="utf-8").splitlines()[:-2]:
        copied = json.loads(line)
        rollout.line(copied["type"], copied["payload"])
    rollout.turn(T3)
    rollout.prompt("another glaze, hyssop")
    rollout.text("celadon it is, rosemary")


def test_fork_copies_what_it_repeats(codex: CodexHome, index: Index) -> None:
    """What a fork replays of its parent is one record of both sessions, at home in the parent, and counted once."""
    written(codex)
    forked(codex)

    with index() as engine:
        (repeated,) = engine.search("tarragon", group="none").results
        (own,) = engine.search("hyssop", group="none").results
        shown = engine.show(own.best.stored.part.uuid, before=9, after=9)
        total = engine.figures()[Grouping.TOTAL][""]
        found = {one.id: one for one in engine.sessions()}
        resumption = engine.resumption(found[FORK])

    assert [SESSION, FORK] == [place.session for place in repeated.best.stored.link.places]
    assert 2026_04_01 == int(_day(repeated.best.stored.link.time))
    assert [FORK] == [place.session for place in own.best.stored.link.places]
    texts = [entry.stored.part.text for entry in shown.entries if isinstance(entry, Said)]
    assert "why does the glaze crack, juniper" == texts[0]
    assert "celadon it is, rosemary" == texts[-1]
    assert "thanks, lavender" not in texts
    assert (2, 300) == (total.responses, total.output)
    assert SESSION == resumption.forked_from


def test_fork_that_is_read_first_ends_the_same(codex: CodexHome, tmp_path: Path) -> None:
    """In whatever order parent and fork are read, the same is told of the records that they share."""
    written(codex)
    forked(codex)
    (parent,) = codex.root.glob("sessions/2026/04/01/*.jsonl")
    told = []
    for number, is_later in enumerate((True, False)):
        hidden = tmp_path / "hidden.jsonl"
        if is_later:
            parent.rename(hidden)
        with Engine(tmp_path / f"index{number}", [codex.root]) as engine:
            engine.index()
            if is_later:
                hidden.rename(parent)
                engine.close()
                engine.index()
            found = engine.search("glaze OR tarragon OR fennel", group="none", sort="oldest").results
            told.append([(one.best.stored.id, one.best.stored.link.places) for one in found])

    assert told[0] == told[1]


def test_agent_is_told_below_the_call_that_started_it(codex: CodexHome, index: Index) -> None:
    """A thread that names its parent is an agent of it, and hangs off the call that gave its id back."""
    rollout = codex.rollout(SESSION)
    rollout.turn(T1)
    rollout.prompt("ask somebody about ash")
    call = rollout.call("spawn_agent", {"message": "what is ash good for, borage", "agent_type": "explorer"})
    rollout.result(call, json.dumps({"agent_id": AGENT, "nickname": "Ada"}))
    rollout.text("asked")
    spawn = {"parent_thread_id": SESSION, "depth": 1, "agent_nickname": "Ada", "agent_role": "explorer"}
    agent = codex.rollout(AGENT, source={"subagent": {"thread_spawn": spawn}})
    agent.turn(T2)
    agent.prompt("what is ash good for, borage")
    agent.text("for glazes, comfrey")

    with index() as engine:
        (session,) = engine.sessions()
        (said,) = engine.search("comfrey", group="none").results
        thread = engine.thread(said.best.stored.part.uuid)
        by_type = engine.search("comfrey agent:explorer").results

    assert (SESSION, 1) == (session.id, session.agents)
    assert [(AGENT, "explorer", "Ada", call)] == [
        (one.name, one.type, one.description, one.call) for one in thread.above
    ]
    assert 1 == len(by_type)


def test_compaction_is_a_summary(codex: CodexHome, index: Index) -> None:
    """What a conversation goes on from once it was compacted is a summary, and a boundary in the conversation."""
    rollout = codex.rollout(SESSION)
    rollout.turn(T1)
    rollout.prompt("begin")
    rollout.text("begun")
    rollout.line("compacted", {"message": "so far: chervil", "replacement_history": []})
    rollout.text("going on")

    with index() as engine:
        (found,) = engine.search("chervil", group="none").results
        shown = engine.show(found.best.stored.part.uuid, before=5, after=5)

    assert (Kind.SUMMARY, True) == (found.best.stored.part.kind, found.best.stored.link.is_boundary)
    assert "begin" in [entry.stored.part.text for entry in shown.entries if isinstance(entry, Said)]


def test_session_is_resumed_by_its_program(codex: CodexHome, index: Index, home: Home) -> None:
    """The command goes to the directory of the session, and is that of the program that wrote it."""
    written(codex)
    home.session("11111111-1111-4111-8111-111111111111").prompt("hello")

    with index(codex.root, home.root) as engine:
        commands = {session.app: command(session) for session in engine.sessions()}
        only = engine.search("agent-app:codex", group="none").total
        others = engine.search("-agent-app:codex", group="none").total

    assert f"cd {CWD} && codex resume {SESSION}" == commands["codex"]
    assert (commands["claude"] or "").endswith("claude --resume 11111111-1111-4111-8111-111111111111")
    assert (True, 1) == (only > 5, others)


def test_both_programs_are_found_where_they_lie(
    codex: CodexHome, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any roots, the default ones of all programs are read; CODEX_HOME moves one of them."""
    written(codex)
    home.session("11111111-1111-4111-8111-111111111111").prompt("hello")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("SEARCHKIT_ROOTS", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    home.root.rename(tmp_path / ".claude")
    codex.root.rename(tmp_path / ".codex")

    with Engine(tmp_path / "index") as engine:
        engine.index()
        apps = {session.app for session in engine.sessions()}
        behind = engine.behind()

    assert {"claude", "codex"} == apps
    assert (0, 0) == (behind.files, behind.bytes)
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    assert tmp_path / "elsewhere" in registry.default_roots(os.environ)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("<environment_context>\n<cwd>/</cwd>\n</environment_context>", Kind.SYSTEM),
        ("<user_instructions>be brief</user_instructions>", Kind.SYSTEM),
        ("<turn_aborted>the user interrupted</turn_aborted>", Kind.SYSTEM),
        ("<subagent_notification>{}</subagent_notification>", Kind.SYSTEM),
        ("<div>why is this markup red</div>", Kind.PROMPT),
        ("# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>x</INSTRUCTIONS>", Kind.SYSTEM),
        ("Another language model started to solve this problem and produced a summary of it", Kind.SUMMARY),
        ("<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\n</result>", Kind.COMMAND),
        ("compare < and >", Kind.PROMPT),
    ],
)
def test_words_of_a_person_are_told_from_wrappers(said: str, kind: Kind) -> None:
    """What the client puts into a conversation in the user's name is no prompt."""
    assert kind is classify("user", said).kind


def test_request_inside_an_editor_comes_first() -> None:
    """What a person typed in an editor comes before what the editor added."""
    context = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n"
    words = classify("user", f"{context}\n## My request for Codex:\nfix it\n")

    assert (Kind.PROMPT, True) == (words.kind, words.text.startswith("fix it\n\n# Context"))


OUTPUTS = [
    (json.dumps({"output": "x", "metadata": {"exit_code": 1}}), "x", True),
    (json.dumps({"output": "x", "metadata": {"exit_code": 0}}), "x", False),
    ("Exit code: 127\nWall time: 0 seconds\nOutput:\nnot found", "not found", True),
    ("Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nExit code: 5", "Exit code: 5", False),
    ("Exit code: 3\nWall time: 0 seconds\nOutput:\n", "Exit code: 3\nWall time: 0 seconds\nOutput:\n", True),
    ("prints\nExit code: 1", "prints\nExit code: 1", False),
    (
        [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "data:;base64,AA"}],
        "x",
        False,
    ),
    ({"content": "x", "success": False}, "x", True),
    ("failed to parse function arguments: x", "failed to parse function arguments: x", True),
]


@pytest.mark.parametrize(("output", "said", "is_error"), OUTPUTS)
def test_exit_code_tells_what_failed(output: Any, said: str, is_error: bool) -> None:
    """A result failed if its head says so; what a program printed does not count."""
    block = result({"type": "function_call_output", "call_id": "c", "output": output}, None)

    assert (said, is_error) == (block.text, block.is_error)


def test_rollouts_of_old_versions_are_read(codex: CodexHome, index: Index) -> None:
    """Before there were payloads, lines were items themselves, and the head had no type."""
    rollout = codex.rollout(SESSION, has_meta=False)
    lines: Sequence[Any] = [
        {"id": SESSION, "timestamp": "2025-06-01T08:00:00.000Z", "instructions": None, "git": {"branch": "old"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "older than payloads, sorrel"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "woodruff"},
    ]
    for line in lines:
        rollout.raw((json.dumps(line) + "\n").encode())

    with index() as engine:
        found = engine.search("sorrel OR woodruff", group="none").results
        (session,) = engine.sessions()

    assert {Kind.PROMPT, Kind.TOOL_RESULT} == {one.best.stored.part.kind for one in found}
    assert (SESSION, "old") == (session.id, session.branch)


def test_call_that_only_an_event_tells_of_is_read(codex: CodexHome, index: Index) -> None:
    """A call of an MCP server is read from its event where no item tells of it, and once where one does."""
    rollout = codex.rollout(SESSION)
    rollout.turn(T1)
    rollout.prompt("look")
    told = rollout.call("query", {"sql": "select borax"}, namespace="mcp__ledger__")
    for call, word in ((told, "feldspar"), ("exec-1", "kaolin")):
        invocation = {"server": "ledger", "tool": "query", "arguments": {"sql": f"select {word}"}}
        answer = {"Ok": {"content": [{"type": "text", "text": f"found {word}"}], "isError": word == "kaolin"}}
        rollout.event("mcp_tool_call_end", call_id=call, invocation=invocation, result=answer)
    rollout.result(told, "found feldspar")
    content = [{"type": "input_text", "text": "said an agent, petalite"}, {"type": "encrypted_content"}]
    rollout.item("agent_message", author="/lead/a", recipient="/lead", content=content)

    with index() as engine:
        found = engine.search("borax OR feldspar OR kaolin OR petalite", group="none", sort="oldest").results

    parts = [one.best.stored.part for one in found]
    assert {(Kind.TOOL_CALL, "mcp__ledger__query"), (Kind.TOOL_RESULT, "mcp__ledger__query"), (Kind.SYSTEM, None)} == {
        (part.kind, part.tool) for part in parts
    }
    assert ["found feldspar", "found kaolin", "said an agent, petalite"] == sorted(
        part.text for part in parts if part.kind is not Kind.TOOL_CALL
    )
    assert ["found kaolin"] == [part.text for part in parts if part.is_error]


def test_archived_rollout_moves(codex: CodexHome, index: Index) -> None:
    """A rollout that is archived is the same session at another place, and is not read again."""
    written(codex)
    index().close()
    (path,) = codex.root.glob("sessions/*/*/*/*.jsonl")
    (codex.root / "archived_sessions").mkdir()
    path.rename(codex.root / "archived_sessions" / path.name)

    engine = Engine(index().settings.index, [codex.root])
    summary = engine.index()
    (session,) = engine.sessions()
    (found,) = engine.search("tarragon").results

    assert (0, False) == (summary.records, session.is_gone)
    assert "archived_sessions" in found.best.stored.link.places[0].file


def test_records_have_their_times_and_parents(codex: CodexHome) -> None:
    """A record has the time of its line and hangs below the record before it; a result names its call besides."""
    rollout = codex.rollout(SESSION)
    rollout.turn(T1)
    rollout.prompt("one")
    call = rollout.call("shell", {"command": ["ls"]})
    rollout.text("two")
    rollout.result(call, "three")

    (change,) = registry.open_source("codex", [codex.root]).changes({})

    prompt, called, said, result = change.records
    assert [None, prompt.uuid, called.uuid, said.uuid] == [one.parent for one in change.records]
    assert called.uuid == result.source_call
    lines = [json.loads(line) for line in rollout.path.read_text(encoding="utf-8").splitlines()]
    assert [_milliseconds(lines[one.line - 1]["timestamp"]) for one in change.records] == [
        one.time for one in change.records
    ]


def test_append_reads_what_is_new_alone(codex: CodexHome) -> None:
    """What is appended is read by itself, and hangs below what was read before; a file that was cut is read again."""
    rollout = codex.rollout(SESSION)
    rollout.turn(T1)
    rollout.prompt("one")
    source = registry.open_source("codex", [codex.root])
    (before,) = source.changes({})
    size = rollout.path.stat().st_size
    rollout.text("two")

    (after,) = source.changes({before.file: before.checkpoint or b""})
    os.truncate(rollout.path, size // 2)
    (cut,) = source.changes({after.file: after.checkpoint or b""})

    assert (rollout.path.stat().st_size > 0, after.is_restart, cut.is_restart) == (True, False, True)
    assert [before.records[-1].uuid] == [one.parent for one in after.records]
    assert before.bytes_read == size


def test_forked_agent_copies_what_it_repeats(codex: CodexHome, index: Index) -> None:
    """An agent that begins with its parent's turns repeats them as copies; only what follows is its own."""
    written(codex)
    forked(codex, AGENT, parent_thread_id=SESSION, forked_from_id=SESSION, thread_source="subagent")

    with index() as engine:
        (session,) = engine.sessions()
        (repeated,) = engine.search("tarragon", group="none").results
        (own,) = engine.search("hyssop", group="none").results

    assert (SESSION, 1) == (session.id, session.agents)
    assert [(SESSION, None), (SESSION, AGENT)] == [
        (place.session, place.agent) for place in repeated.best.stored.link.places
    ]
    assert [(SESSION, AGENT)] == [(place.session, place.agent) for place in own.best.stored.link.places]


def test_index_says_what_it_found_of_which_program(
    codex: CodexHome, home: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory of either program may be named; the summary counts files for each."""
    written(codex)
    home.session("11111111-1111-4111-8111-111111111111").prompt("hello")
    monkeypatch.delenv("SEARCHKIT_ROOTS")

    done = run("index", "--root", str(codex.root), "--root", str(home.root))
    listed = run("sessions", "--agent-app", "codex", "--json").json["sessions"]

    assert "By program: Claude Code 1 file, Codex 2 files." in done.out
    assert [(SESSION, "codex")] == [(one["session"], one["agent_app"]) for one in listed]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    "id session_id forked_from_id parent_thread_id cwd git source turn_id model role content summary name arguments "
    "namespace call_id output input action status message info item thread_name new_thread_id text ts invocation "
    "result".split()
)
TYPES = st.sampled_from(
    "session_meta turn_context response_item event_msg compacted world_state message reasoning function_call "
    "function_call_output custom_tool_call custom_tool_call_output local_shell_call web_search_call token_count "
    "task_started item_completed agent_message mcp_tool_call_end error collab_agent_spawn_end nonesuch".split()
)
PAYLOADS = st.dictionaries(KEYS, VALUES, max_size=6).flatmap(
    lambda fields: TYPES.map(lambda one: {**fields, "type": one}) | st.just(fields)
)
LINES = st.fixed_dictionaries({"type": TYPES, "payload": PAYLOADS | VALUES, "timestamp": VALUES}) | VALUES


@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
@given(lines=st.lists(LINES, min_size=1, max_size=12))
def test_hostile_values_never_raise(tmp_path_factory: pytest.TempPathFactory, lines: list[Any]) -> None:
    """Whatever stands where a value is expected, reading goes on, and whatever was read can be written."""
    codex = CodexHome(tmp_path_factory.mktemp("hostile"))
    rollout = codex.rollout(SESSION, has_meta=False)
    for line in lines:
        rollout.raw(json.dumps(line).encode() + b"\n")
        with (codex.root / "history.jsonl").open("ab") as history:
            history.write(json.dumps(line).encode() + b"\n")

    changes = list(registry.open_source("codex", [codex.root]).changes({}))
    backend = ReferenceBackend()
    for change in changes:
        backend.catalog.write(batch(change))
    backend.catalog.settle()

    assert {"history.jsonl", rollout.path.name} == {Path(change.file).name for change in changes}


def _milliseconds(stamp: str) -> int:
    return int(datetime.fromisoformat(stamp).timestamp() * 1000)


def _day(time: int | None) -> str:
    return datetime.fromtimestamp((time or 0) / 1000, UTC).strftime("%Y%m%d")
