"""The scenarios that run without a terminal: prompts that are sent with `-p`."""

import json
import os
from collections.abc import Callable

from client import tools
from client.api import Json, Reply, call, results, say, thinking
from client.home import new_session
from client.stage import CannotPlay, Stage, WentWrong
from client.transcripts import records

OVERFLOW_LINES = 12_000
FORK_AGENTS = {"CLAUDE_CODE_FORK_SUBAGENT": "1"}
ALL_TOOLS = {"ENABLE_TOOL_SEARCH": "false"}


def plain(stage: Stage) -> None:
    """Send a prompt that is thought about and answered; then another one in the resumed session."""
    id = new_session()
    thought, answer = stage.plant("thinking", id, "plainthought"), stage.plant("text", id, "plainanswer")
    stage.send("plain", [say(thinking(f"{thought} about it"), f"{answer} it is")], session=id)
    again = stage.plant("text", id, "resumedanswer")
    stage.send("resumed", [say(again)], "--resume", id, session=id)


def every_tool(stage: Stage) -> None:
    """Call every tool that the client offers, known by name or not."""
    id = new_session()
    tools.prepare(stage.home)
    listed = new_session()

    def look(step: int, request: Json) -> Reply:
        """Let the client look for a tool, where it does not name all of them."""
        names = [tool.get("name") for tool in request.get("tools") or ()]
        if step or "ToolSearch" not in names:
            return say(seen)
        return say(call("ToolSearch", query=stage.plant("tool_call", listed, "toolsearch"), max_results=1))

    seen = stage.plant("text", listed, "listdone")
    first = stage.send("list", look, session=listed)
    offered = [name for name in first.init.get("tools") or () if name not in tools.ELSEWHERE]
    names = ",".join([*offered, *(name for name in tools.BY_NAME if name not in offered)])
    stage.send("tools", tools.script(stage, id), "--tools", names, session=id, environment=ALL_TOOLS)


def parallel(stage: Stage) -> None:
    """Make three calls in one response, one of which fails."""
    id = new_session()
    text = stage.plant("text", id, "parallelbefore")
    calls = []
    for name in ("one", "two"):
        description = stage.plant("tool_call", id, f"parallelcall{name}")
        stage.plant("tool_result", id, f"parallelout{name}")
        calls.append(call("Bash", command=f"printf 'zq%s' parallelout{name}", description=description))
    description = stage.plant("tool_call", id, "parallelcallfails")
    stage.plant("tool_result", id, "paralleloutfails")
    calls.append(call("Bash", command="printf 'zq%s' paralleloutfails; exit 3", description=description))
    done = stage.plant("text", id, "paralleldone")
    stage.send("parallel", [say(thinking("three at once"), text, *calls), say(done)], session=id)


def errors(stage: Stage) -> None:
    """Answer with 429 and 529 before the answer comes, and with 400 for good."""
    for status in (429, 529):
        id = new_session()
        answer = stage.plant("text", id, f"after{status}")
        reply = Reply(blocks=say(answer).blocks, status=status, failures=2)
        stage.send(f"error{status}", [reply], session=id)
    id = new_session()
    words = stage.plant("prompt", id, "refusedprompt")
    stage.api.scripts["error400"] = [Reply(status=400, failures=10)]
    stage.prompts[id] += 1
    stage.home.prompt(f"{words} [[error400]]", session=id)
    stage.titles[id] = f"{words} [[error400]]"


def overflow(stage: Stage) -> None:
    """Print more than a transcript holds, with a word in its middle."""
    id = new_session()
    stage.plant("tool_result", id, "overflowmiddle")
    middle = OVERFLOW_LINES // 2
    command = f"seq 1 {middle}; printf 'zq%s\\n' overflowmiddle; seq 1 {middle}"
    done = stage.plant("text", id, "overflowdone")
    stage.send("overflow", [say(call("Bash", command=command, description="Count")), say(done)], session=id)


def agents(stage: Stage) -> None:
    """Start an agent that starts an agent, and wait for both."""
    id = new_session()
    api = stage.api.scripts
    nested = _agent(stage, id, "nested", run_in_background=False)
    outer = _agent(stage, id, "outer", run_in_background=False)
    output = call("Bash", command="printf 'zq%s' nestedout", description=stage.plant("tool_call", id, "nestedcall"))
    stage.plant("tool_result", id, "nestedout")
    api["outer"] = [say(nested), say(stage.plant("text", id, "outeranswer"))]
    api["nested"] = [say(output), say(stage.plant("text", id, "nestedanswer"))]
    stage.send("agents", [say(outer), say(stage.plant("text", id, "agentsdone"))], session=id)
    _must_have_played(stage, "nested")


def background(stage: Stage) -> None:
    """Start an agent in the background; a notice says that it has ended."""
    id = new_session()
    stage.api.scripts["behind"] = [say(stage.plant("text", id, "behindanswer"))]
    started = say(_agent(stage, id, "behind", run_in_background=True))
    words = [say(stage.plant("text", id, f"background{name}")) for name in ("started", "told")]
    stage.send("background", [started, *words], session=id)
    _must_have_played(stage, "behind")


def fork_agent(stage: Stage) -> None:
    """Start an agent that inherits the conversation: its transcript repeats calls of its parent."""
    id = new_session()
    before = call("Bash", command="printf 'zq%s' forkedout", description=stage.plant("tool_call", id, "forkedcall"))
    stage.plant("tool_result", id, "forkedout")
    stage.api.scripts["inherits"] = [say(stage.plant("text", id, "inheritsanswer"))]
    fork = _agent(stage, id, "inherits", subagent_type="fork")
    words = [say(stage.plant("text", id, f"fork{name}")) for name in ("started", "told")]
    stage.send("forks", [say(before), say(fork), *words], session=id, environment=FORK_AGENTS)
    _must_have_played(stage, "inherits")


def workflow(stage: Stage) -> None:
    """Let a workflow start an agent."""
    id = new_session()
    prompt = stage.plant("prompt", id, "flowagentprompt")
    source = (
        "export const meta = {name: 'count', description: 'counts', phases: []}\n"
        f"const found = await agent('{prompt} [[flowagent]]', {{label: 'one'}})\n"
        "return found\n"
    )
    stage.api.scripts["flowagent"] = [say(stage.plant("text", id, "flowagentanswer"))]
    words = [say(stage.plant("text", id, f"flow{name}")) for name in ("started", "told")]
    ran = stage.send("flow", [say(call("Workflow", script=source)), *words], session=id)
    if "Workflow" not in (ran.init.get("tools") or ()):
        stage.forget("zqflowagentprompt", "zqflowagentanswer")
        raise CannotPlay("the client offers no tool Workflow")
    _must_have_played(stage, "flowagent")


def compaction(stage: Stage) -> None:
    """Compact a session, and send a prompt after that."""
    id = new_session()
    for name in ("early", "later"):
        answer = stage.plant("text", id, f"{name}answer")
        resume = () if name == "early" else ("--resume", id)
        stage.send(name, [say(answer)], *resume, session=id)
    summary, asked = stage.plant("summary", id, "compactsummary"), stage.plant("command", id, "compactargument")
    stage.api.summaries.append(f"1. Primary request: {summary} was told")
    ran = stage.home.prompt(f"/compact {asked}", "--resume", id)
    if ran.status:
        raise WentWrong(f"/compact ended with {ran.status}: {ran.error}")
    stage.note(id, ran.result, is_resumed=True)
    stage.send("compacted", [say(stage.plant("text", id, "compactedanswer"))], "--resume", id, session=id)


def fork_session(stage: Stage) -> None:
    """Resume a session as a copy."""
    first, second = new_session(), new_session()
    answer = stage.plant("text", first, "originanswer")
    stage.send("origin", [say(thinking("before the fork"), answer)], session=first)
    stage.fork(first, second)
    words = stage.plant("text", second, "copyanswer")
    options = ("--resume", first, "--fork-session", "--session-id", second)
    stage.send("copy", [say(words)], *options, session=second)


def skill(stage: Stage) -> None:
    """Let the model call a skill, and type a command of the project."""
    directory = stage.home.project / ".claude"
    (directory / "skills" / "ship").mkdir(parents=True)
    body = "---\nname: ship\ndescription: How to ship an order.\n---\n# Shipping\nzqskillbody: pack and label.\n"
    (directory / "skills" / "ship" / "SKILL.md").write_text(body)
    (directory / "commands").mkdir()
    (directory / "commands" / "deploy.md").write_text("Deploy zqcommandbody to: $ARGUMENTS\n[[deploys]]\n")
    id = new_session()
    arguments = stage.plant("tool_call", id, "skillcall")
    stage.plant("command", id, "skillbody")
    stage.send(
        "skills",
        [say(call("Skill", skill="ship", args=arguments)), say(stage.plant("text", id, "skillsdone"))],
        session=id,
    )
    typed = new_session()
    stage.api.scripts["deploys"] = [say(stage.plant("text", typed, "deployanswer"))]
    argument = stage.plant("command", typed, "deployargument")
    stage.plant("command", typed, "commandbody")
    # A command is typed, but it is no prompt.
    stage.prompts[typed] = 0
    ran = stage.home.prompt(f"/deploy {argument}", session=typed)
    if ran.status:
        raise WentWrong(f"/deploy ended with {ran.status}: {ran.error}")
    stage.note(typed, ran.result)
    stage.titles[typed] = f"/deploy {argument}"


def hooks(stage: Stage) -> None:
    """Let hooks add context to a session, a prompt and a call."""
    id = new_session()
    settings = stage.home.directory / "hooks.json"

    def hook(event: str, word: str) -> list[Json]:
        output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": f"{word} by a hook"}}
        return [{"hooks": [{"type": "command", "command": f"printf '%s' '{json.dumps(output)}'"}]}]

    events = ("SessionStart", "UserPromptSubmit", "PostToolUse")
    planted = {event: stage.plant("attachment", id, f"hook{event.lower()}") for event in events}
    settings.write_text(json.dumps({"hooks": {event: hook(event, word) for event, word in planted.items()}}))
    command = call("Bash", command="true", description=stage.plant("tool_call", id, "hookedcall"))
    done = stage.plant("text", id, "hooksdone")
    stage.send("hooks", [say(command), say(done)], "--settings", str(settings), session=id)


def worktree(stage: Stage) -> None:
    """Move into a worktree and leave it again."""
    id = new_session()
    enter, leave = call("EnterWorktree", name="zqworktreename"), call("ExitWorktree", action="remove")
    stage.plant("tool_call", id, "worktreename")
    done = stage.plant("text", id, "worktreedone")
    stage.send("worktree", [say(enter), say(leave), say(done)], session=id, environment=ALL_TOOLS)


def instructions(stage: Stage) -> None:
    """Work in a project that has instructions of its own."""
    id = new_session()
    file = stage.home.project / "CLAUDE.md"
    file.write_text("# Shop\nzqinstructed: mind the prices.\n")
    try:
        stage.send("instructions", [say(stage.plant("text", id, "instructionsdone"))], session=id)
    finally:
        file.unlink()
    # Older clients send them without writing them down.
    if any((record.get("attachment") or {}).get("type") == "instructions" for _, record in records(stage.home.root)):
        stage.plant("attachment", id, "instructed")


def environment(stage: Stage) -> None:
    """Look at the variables that reach the client's tools: none of the machine's own."""
    id = new_session()
    seen: list[str] = []

    def script(step: int, request: Json) -> Reply:
        seen.extend(str(one.get("content")) for one in results(request))
        return say(done) if step else say(call("Bash", command="env | cut -d= -f1", description="List variables"))

    done = stage.plant("text", id, "environmentdone")
    stage.send("environment", script, session=id)
    names = set("\n".join(seen).split())
    if "HOME" not in names:
        raise WentWrong(f"the variables were not listed: {seen}")
    # Those that a shell sets for itself, and those that the client was given.
    own = {"PWD", "OLDPWD", "SHLVL", "_", *stage.home.environment}
    if leaked := sorted((names & os.environ.keys()) - own):
        raise WentWrong(f"variables of the machine reach the client: {', '.join(leaked)}")


def _agent(stage: Stage, session: str, name: str, **options: object) -> Json:
    """Return a call that starts an agent with that script; its task stands in the call and in its transcript."""
    task = stage.plant("tool_call", session, f"{name}task")
    described = stage.plant("tool_call", session, f"{name}described")
    return call(
        "Agent", **{"subagent_type": "general-purpose", **options}, description=described, prompt=f"{task} [[{name}]]"
    )


def _must_have_played(stage: Stage, script: str) -> None:
    if not stage.api.reached(script):
        raise WentWrong(f"the client never asked for [[{script}]]")


Scenario = Callable[[Stage], None]
ALL: dict[str, Scenario] = {
    "plain": plain,
    "every tool": every_tool,
    "parallel calls": parallel,
    "errors": errors,
    "overflow output": overflow,
    "nested agents": agents,
    "background agent": background,
    "fork agent": fork_agent,
    "workflow": workflow,
    "compaction": compaction,
    "fork": fork_session,
    "skills and commands": skill,
    "hooks": hooks,
    "worktree": worktree,
    "instructions": instructions,
    "environment": environment,
}
