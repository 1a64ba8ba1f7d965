"""The scenarios that are typed into a terminal: queued prompts, rewind, rename, plans, /clear and /branch."""

import json
import re
from collections.abc import Callable
from functools import partial

from client.api import Json, Reply, call, results, say
from client.home import new_session
from client.stage import Asked, CannotPlay, Stage, WentWrong, wait_until
from client.terminal import CLEAR_LINE, ENTER, ESCAPE, UP, Terminal

ANSWER_SECONDS = 20.0
SETTLE_SECONDS = 6.0
SLOW_COMMAND = "sleep 3; printf 'zq%s' slowout"
# Said in every session that asks over MCP.
SHARED = "zqshared"
SERVER = re.compile(r"mcp__\w*searchkit__")
SEARCH = re.compile(r"mcp__\w*searchkit__search")
# The client's own tools that read what a server offers.
RESOURCES = ("ListMcpResourcesTool", "ReadMcpResourceTool", "ReadMcpResourceDirTool")
PLAN_FILE = re.compile(r"(/\S+/plans/[\w.-]+\.md)")


def terminal(stage: Stage) -> None:
    """Type prompts, one of them while a tool runs, and rename the session."""
    id = new_session()
    with Terminal(stage.home, ["--session-id", id]) as screen:
        _type(stage, screen, "typed", [say(stage.plant("text", id, "typedanswer"))], id)
        _queue(stage, screen, id)
        renamed = stage.plant("title", id, "renamed")
        screen.enter(f"/rename {renamed} by hand")
        screen.settle(SETTLE_SECONDS)
        stage.titles[id] = f"{renamed} by hand"
        screen.leave()


def rewind(stage: Stage) -> None:
    """Take a prompt back with Escape, and type another one in its place."""
    id = new_session()
    with Terminal(stage.home, ["--session-id", id]) as screen:
        _type(stage, screen, "kept", [say(stage.plant("text", id, "keptanswer"))], id)
        _type(stage, screen, "undone", [say(stage.plant("text", id, "undoneanswer"))], id)
        screen.press(ESCAPE, ESCAPE)
        screen.settle(SETTLE_SECONDS)
        screen.press(UP, ENTER)
        screen.settle(SETTLE_SECONDS)
        screen.press(ENTER)
        screen.settle(SETTLE_SECONDS)
        # The words that were taken back stand in the line again.
        screen.press(CLEAR_LINE, CLEAR_LINE)
        _type(stage, screen, "instead", [say(stage.plant("text", id, "insteadanswer"))], id)
        screen.leave()
    stage.titles[id] = "zqkeptprompt typed [[kept]]"
    last = [one for one in stage.api.asked if "[[instead]]" in json.dumps(one["messages"])]
    if "[[undone]]" in json.dumps(last[-1]["messages"]):
        raise WentWrong("the client still sends what was taken back")


def plan(stage: Stage) -> None:
    """Answer a question, let a plan be written to its file, and approve it."""
    id = new_session()
    # The file of a plan names no session.
    body, done = stage.plant("plan", "", "planbody"), stage.plant("text", id, "plandone")
    question = stage.plant("tool_call", id, "question")

    def script(step: int, request: Json) -> Reply:
        if step == 0:
            options = [{"label": one, "description": f"{one} it is"} for one in ("Left", "Right")]
            asked = {"question": f"{question} which way?", "header": "Way", "options": options, "multiSelect": False}
            return say(call("AskUserQuestion", questions=[asked]))
        if step == 1:
            paths = PLAN_FILE.findall(json.dumps(request["messages"]) + json.dumps(request.get("system")))
            if not paths:
                return say("No plan file was named.")
            return say(call("Write", file_path=paths[-1], content=f"# Plan\n\n1. {body} first\n"))
        return say(call("ExitPlanMode")) if step == 2 else say(done)

    with Terminal(stage.home, ["--session-id", id, "--permission-mode", "plan"]) as screen:
        stage.api.scripts["plan"] = script
        word = stage.plant("prompt", id, "planprompt")
        stage.prompts[id] += 1
        screen.enter(f"{word} typed [[plan]]")
        # Each Enter takes the first choice of what is on the screen: an answer, the file, the plan.
        for step in range(4):
            wait_until(partial(stage.api.reached, "plan", step), ANSWER_SECONDS / 2)
            screen.settle(SETTLE_SECONDS)
            if stage.api.reached("plan", 3):
                break
            screen.press(ENTER)
        if not wait_until(lambda: stage.api.reached("plan", 3), ANSWER_SECONDS):
            raise WentWrong(f"the plan was not approved; the screen ends with {screen.screen()[-200:]!r}")
        screen.settle(SETTLE_SECONDS)
        screen.leave()


def asking(stage: Stage) -> None:
    """Ask searchkit over MCP from a session, after /clear, and after /branch: who asks is left out each time."""
    id = new_session()
    with Terminal(stage.home, ["--session-id", id]) as screen:
        stage.asked["at first"] = _ask(stage, screen, "askfirst", id)
        screen.enter("/clear")
        screen.settle(SETTLE_SECONDS)
        stage.asked["after /clear"] = cleared = _ask(stage, screen, "askcleared", None)
        if cleared.session == id:
            raise WentWrong("/clear did not begin another session")
        screen.enter("/branch zqbranched way")
        screen.settle(SETTLE_SECONDS)
        stage.asked["after /branch"] = branched = _ask(stage, screen, "askbranched", None)
        if branched.session == cleared.session:
            stage.asked.pop("after /branch")
            raise CannotPlay("/branch did not begin another session")
        stage.forks[branched.session] = cleared.session
        screen.leave()


def asking_agent(stage: Stage) -> None:
    """Ask over MCP from an agent: the session that it works for is left out."""
    id = new_session()
    got: list[Json] = []
    task = call(
        "Agent", subagent_type="general-purpose", description="Ask", prompt="[[agentasks]]", run_in_background=False
    )
    stage.api.scripts["agentasks"] = _asking(got)
    stage.send("asker", [say(task), say(stage.plant("text", id, "askerdone"))], session=id, said=SHARED)
    stage.asked["from an agent"] = Asked(session=id, result=got[-1] if got else {})


def fork(stage: Stage) -> None:
    """Resume a session as a copy in a terminal."""
    original, id = stage.session_of("zqtypedprompt"), new_session()
    if original is None:
        raise CannotPlay("there is no session that was played in a terminal")
    stage.forks[id] = original
    with Terminal(stage.home, ["--resume", original, "--fork-session", "--session-id", id]) as screen:
        _type(stage, screen, "onward", [say(stage.plant("text", id, "onwardanswer"))], id)
        screen.leave()


def tools(stage: Stage) -> None:
    """Call every tool that searchkit offers over MCP."""
    id = new_session()
    session = stage.planted[0].session
    arguments = {"query": "zqplainanswer", "error": "zqparalleloutfails", "path": "made.txt", "id": session}
    planned: list[Json] = []

    def script(step: int, request: Json) -> Reply:
        for result in results(request):
            stage.answers[planned[step - 1]["name"].rpartition("__")[2]] = result
        if not planned:
            for tool in request.get("tools") or ():
                name, required = tool.get("name", ""), (tool.get("input_schema") or {}).get("required") or ()
                if SERVER.match(name):
                    planned.append(call(name, **{one: arguments.get(one, "zqplainanswer") for one in required}))
                elif name in RESOURCES:
                    uri = f"searchkit://session/{session}"
                    planned.append(
                        call(name, **{"server": "plugin:searchkit:searchkit", "uri": uri} if required else {})
                    )
        return say(planned[step]) if step < len(planned) else say(done)

    done = stage.plant("text", id, "mcpdone")
    stage.send("mcp", script, session=id)


def _ask(stage: Stage, screen: Terminal, mark: str, session: str | None) -> Asked:
    got: list[Json] = []
    stage.api.scripts[mark] = _asking(got)
    screen.enter(f"{SHARED} in {mark} [[{mark}]]")
    if not wait_until(lambda: stage.api.reached(mark, 1), ANSWER_SECONDS):
        raise WentWrong(f"[[{mark}]] was not answered; the screen ends with {screen.screen()[-300:]!r}")
    screen.settle(SETTLE_SECONDS)
    id = session or stage.api.session_of(mark) or ""
    stage.prompts[id] += 1
    return Asked(session=id, result=got[-1] if got else {})


def _asking(got: list[Json]) -> Callable[[int, Json], Reply]:
    """Return a script that searches for the shared word and keeps what comes back."""

    def script(step: int, request: Json) -> Reply:
        got.extend(results(request))
        names = [tool["name"] for tool in request.get("tools") or () if SEARCH.fullmatch(tool.get("name", ""))]
        if step or not names:
            return say("Asked." if names else "There is no tool to ask with.")
        return say(call(names[0], query=SHARED, mode="keyword", limit=20))

    return script


def _queue(stage: Stage, screen: Terminal, id: str) -> None:
    """Type a prompt while a tool runs."""
    described = stage.plant("tool_call", id, "slowcall")
    stage.plant("tool_result", id, "slowout")
    words = [say(stage.plant("text", id, f"slow{name}")) for name in ("answer",)]
    stage.api.scripts["slow"] = [say(call("Bash", command=SLOW_COMMAND, description=described)), *words]
    word = stage.plant("prompt", id, "slowprompt")
    stage.prompts[id] += 2
    screen.enter(f"{word} typed [[slow]]")
    if not wait_until(lambda: stage.api.reached("slow", 0), ANSWER_SECONDS):
        raise WentWrong("[[slow]] was not asked for")
    queued = stage.plant("prompt", id, "queued")
    screen.enter(f"{queued} while it runs")
    if not wait_until(lambda: stage.api.reached("slow", 1), ANSWER_SECONDS):
        raise WentWrong("[[slow]] was not answered")
    screen.settle(SETTLE_SECONDS)


def _type(stage: Stage, screen: Terminal, mark: str, script: list[Reply], id: str) -> None:
    """Type a prompt, and wait until the last step of its script was sent."""
    stage.api.scripts[mark] = script
    word = stage.plant("prompt", id, f"{mark}prompt")
    stage.prompts[id] += 1
    screen.enter(f"{word} typed [[{mark}]]")
    if not wait_until(lambda: stage.api.reached(mark, len(script) - 1), ANSWER_SECONDS):
        raise WentWrong(f"[[{mark}]] was not answered; the screen ends with {screen.screen()[-300:]!r}")
    screen.settle(SETTLE_SECONDS)


# These need searchkit's plugin in the client's home.
ALL: dict[str, Callable[[Stage], None]] = {
    "all tools over MCP": tools,
    "terminal with a queued prompt and a rename": terminal,
    "rewind": rewind,
    "plan and question": plan,
    "fork in a terminal": fork,
    "asking over MCP, /clear and /branch": asking,
    "asking over MCP from an agent": asking_agent,
}
