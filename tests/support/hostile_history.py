"""A history in which everything is hostile: every field of every record, every name of a file, every side file."""

import re
import unicodedata
from pathlib import Path

import msgspec
import orjson

from searchkit import Engine
from tests.support.transcript import Home, Transcript, tool_id

# What would be made if anything of a transcript ran.
RAN = "ran"
COMMANDS = f"$(touch {RAN})`touch {RAN}`;touch {RAN};(touch {RAN})|touch {RAN}&&touch {RAN}"
HIDING = (
    "\x1b[8m\x1b]52;c;eA==\x07\x1b]0;title\x07\x1b_x\x1b\\\x9b2J\x85\x08\x7f\u202e\u2066\u200f\u061c\u2028\u2029\ufeff"
    "\u200b\u2060\u2064\u00ad\u034f\u3164\u180e\U000e0041\U000e007f\ufe00\ufe0f\U000e0101\U000e01ef\ufff9"
)
SIGNS = "'\"!!*?[a]{b,c}~=ls%s#\\'\\"
EVIL = f"{HIDING}\r\n{COMMANDS}\n{SIGNS}<script>{RAN}()</script><img src=x onerror={RAN}()>\x00\n"
# The same without what no name of a file can have.
EVIL_NAME = re.sub("[/\x00]", "", EVIL)

SESSION = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"
FIXING = "33333333-3333-4333-8333-333333333333"
REOPENED = "44444444-4444-4444-8444-444444444444"
PROMPT = "abcd0000-1111-4111-8111-111111111111"
# Ids that are no ids, each that of a session.
IDS = ("--dangerously-skip-permissions", "$(touch ran)", "-rf", "../../elsewhere", f"zzsession{HIDING}`touch ran`")
# Every field that is hostile, by what stands in it for itself.
FIELDS = (
    "cwd branch version entrypoint slug model uuid custom ai summary agentname tag lastprompt prompt text thinking tool"
    " mcptool key value path command purpose old new result system attachment filename queued agent agenttype"
    " described compacted forked worktree pasted history historyproject todo task plan planname memory memoryname"
    " indexed indexedtitle indexedprompt indexedproject overflow unknown unknowntype slash bash mode permission pr"
    " hook progress directory transcript call error"
).split()
# Those that nobody is ever told: they are kept, or not even that.
UNTOLD = frozenset("call memoryname planname version".split())
# What a directory is called whose session can be reopened all the same: nothing in it is hidden.
DIRECTORY = f"-zzseen {COMMANDS.replace('/', '')} {SIGNS}x"


class Hostile(msgspec.Struct, frozen=True):
    """Where the history and the index of it are, and the directory of a session that can be reopened."""

    root: Path
    index: Path
    directory: Path


def evil(name: str) -> str:
    """Return a hostile value of a field, which can be told from those of others."""
    return f"lantern {marker(name)}{EVIL}{marker(name)}"


def marker(name: str) -> str:
    """Return what tells that a field is shown."""
    return f"zz{name}zz"


def write(place: Path) -> Hostile:
    """Write the history below a directory and index it, with vectors of the stand-in for a model."""
    home = Home(place / "claude", cwd=_path("cwd"))
    _session(home)
    _agents(home)
    _fix(home)
    _strange_ids(home)
    _beside(home)
    (place / DIRECTORY).mkdir()
    home.session(REOPENED, cwd=str(place / DIRECTORY)).prompt("lantern: a session that can be reopened")
    index = place / "index"
    with Engine(index, [home.root], "fake") as engine:
        engine.index()
    return Hostile(home.root, index, place / DIRECTORY)


def harm(text: str) -> list[str]:
    """Name the characters of a text that are no text: control, format, half of one, or shown as nothing."""
    return sorted(f"U+{ord(one):04X}" for one in set(text) - {"\n", "\t"} if _is_hidden(one))


def _is_hidden(character: str) -> bool:
    # By what Python knows of Unicode, rather than by the list that is tested.
    name = unicodedata.name(character, "")
    is_nothing = "VARIATION SELECTOR" in name or "FILLER" in name or "GRAPHEME JOINER" in name
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") or is_nothing


def _path(name: str) -> str:
    return f"/src/{evil(name)}"


def _session(home: Home) -> None:
    told = Transcript(
        home.root / "projects" / f"zzdirectoryzz{EVIL_NAME}"[:80] / f"{SESSION}.jsonl",
        SESSION,
        cwd=home.cwd,
        branch=evil("branch"),
        version=evil("version"),
        model=evil("model"),
    )
    more = {"entrypoint": evil("entrypoint"), "slug": evil("slug"), "userType": EVIL, "requestId": EVIL}
    told.prompt(evil("prompt"), uuid=PROMPT, **more)
    told.thinking(evil("thinking"))
    told.text(f"{evil('text')}\n```{EVIL}\n{EVIL}\n```\n", uuid=evil("uuid")[:200])
    call = told.call(evil("tool"), {evil("key"): evil("value"), "deep": {evil("key"): [evil("value")]}})
    told.result(call, evil("result") * 5, is_error=True)
    call = told.call(f"mcp__{EVIL}__{evil('mcptool')}", {"file_path": evil("path")}, toolUseID=evil("call"))
    told.result(call, [{"type": "text", "text": evil("result")}, {"type": EVIL, EVIL: evil("result")}])
    call = told.call("Bash", {"command": evil("command"), "description": evil("purpose")})
    told.progress({"type": "bash_progress", "fullOutput": evil("progress")}, call)
    call = told.call("Edit", {"file_path": evil("path"), "old_string": evil("old"), "new_string": evil("new")})
    told.result(call, evil("error"), is_error=True)
    told.system(EVIL, content=evil("system"), error={EVIL: evil("system")})
    told.attachment("file", displayPath=evil("filename"), content=evil("attachment"))
    told.attachment("hook_blocking_error", hookName=EVIL, blockingError=evil("hook"))
    told.attachment("queued_command", prompt=evil("queued"))
    told.prompt(f"<command-name>/{evil('slash')}</command-name><command-args>{EVIL}</command-args>")
    told.prompt(f"<bash-input>{evil('bash')}</bash-input>")
    told.compact(evil("compacted"), logical_parent=evil("call"))
    told.prompt("lantern: and on it goes, another way", parent=PROMPT)
    for kind, field, name in (
        ("custom-title", "customTitle", "custom"),
        ("summary", "summary", "summary"),
        ("agent-name", "agentName", "agentname"),
        ("tag", "tag", "tag"),
        ("last-prompt", "lastPrompt", "lastprompt"),
        ("mode", "mode", "mode"),
        ("permission-mode", "permissionMode", "permission"),
        ("ai-title", "aiTitle", "ai"),
    ):
        told.line({"type": kind, field: evil(name), "sessionId": SESSION, "leafUuid": told.last})
    told.line({"type": "pr-link", "prUrl": evil("pr"), "prNumber": 7, "sessionId": SESSION})
    state = {"worktreePath": _path("worktree"), "worktreeName": EVIL}
    told.line({"type": "worktree-state", "worktreeSession": state, "sessionId": SESSION})
    told.line({"type": evil("unknowntype"), "sessionId": SESSION, "uuid": EVIL, EVIL: evil("unknown")})
    told.raw(b'b80","timestamp":1}\n')
    told.raw(orjson.dumps({"type": "user", "sessionId": SESSION, "message": EVIL}) + b"\x00\xff\n")


def _agents(home: Home) -> None:
    folder = home.root / "projects" / f"zzdirectoryzz{EVIL_NAME}"[:80]
    caller = Transcript(folder / f"{SESSION}.jsonl", SESSION, cwd=home.cwd, branch=evil("branch"))
    call = caller.call("Task", {"prompt": evil("described"), "subagent_type": EVIL, "description": EVIL})
    name = f"zzagentzz{EVIL_NAME}"[:100]
    below = folder / SESSION / "subagents"
    agent = Transcript(below / f"agent-{name}.jsonl", SESSION, agent=evil("agent")[:200], cwd=home.cwd)
    agent.prompt(evil("described"))
    agent.text(evil("text"))
    caller.result(call, f"agentId: {name}", toolUseResult={"agentId": evil("agent")[:200]})
    meta = {"agentType": evil("agenttype"), "description": evil("described"), "toolUseId": tool_id(call)}
    home.write(below / f"agent-{name}.meta.json", orjson.dumps({**meta, "name": EVIL}))
    fork = home.session(FORK, branch=EVIL)
    fork.prompt(evil("forked"), forkedFrom={"sessionId": evil("forked")[:200], "messageUuid": PROMPT}, parent=PROMPT)


def _fix(home: Home) -> None:
    """Write a session in which something fails, is mended, and passes."""
    told = home.session(FIXING, branch=evil("branch"), model=evil("model"))
    told.prompt(evil("prompt"))
    tested = {"command": f"pytest lantern {EVIL}"}
    told.result(told.call("Bash", tested), f"Exit code 1\nE   KeyError: {evil('error')}\n1 failed", is_error=True)
    told.result(told.call("Edit", {"file_path": evil("path"), "old_string": EVIL, "new_string": EVIL}), EVIL)
    told.result(told.call("Bash", tested), f"1 passed {evil('result')}")
    told.text(evil("text"))


def _strange_ids(home: Home) -> None:
    """Write a session for each id that is none; the file cannot have every name, so the records say it."""
    for number, id in enumerate(IDS):
        name = re.sub("[/\x00]", "", f"zztranscriptzz{number}{EVIL_NAME}")[:100]
        told = Transcript(home.project() / f"{name}.jsonl", id, cwd=f"{_path('cwd')}{number}", branch=evil("branch"))
        told.prompt(f"{evil('prompt')} number {number}")
        told.line({"type": "ai-title", "aiTitle": evil("ai"), "sessionId": id})


def _beside(home: Home) -> None:
    """Write what lies beside the transcripts."""
    pasted = {"1": {"content": evil("pasted")}}
    line = {"display": evil("history"), "pastedContents": pasted, "project": evil("historyproject"), "sessionId": EVIL}
    home.write(home.root / "history.jsonl", orjson.dumps({**line, "timestamp": 1_772_359_200_000}) + b"\n")
    home.todos(SESSION, [{"content": evil("todo"), "status": EVIL}], agent=f"zz{EVIL_NAME}"[:60])
    home.task(SESSION, 1, evil("task"), status=EVIL)
    home.plan(f"zzplannamezz{EVIL_NAME}"[:100], evil("plan"))
    home.memory(f"zzmemorynamezz{EVIL_NAME}"[:100], evil("memory"))
    entry = {"summary": evil("indexed"), "customTitle": evil("indexedtitle"), "firstPrompt": evil("indexedprompt")}
    home.index([{**entry, "sessionId": evil("indexed")[:200], "projectPath": evil("indexedproject"), "prUrl": EVIL}])
    home.overflow(SESSION, f"zzoverflowzz{EVIL_NAME}"[:100], evil("overflow").replace("\0", ""))
