"""How the items of a rollout read: whose words a message holds, what a call does, and whether its result failed."""

import re
from collections.abc import Iterator

import msgspec

from searchkit.sources import tools
from searchkit.sources.json_values import identity, mapping, strings, text, written_out
from searchkit.sources.jsonl import decode
from searchkit.types import Block, Field, Kind, Role, Touch

Fields = dict[str, object]

_TAG = re.compile(r"\s*<([A-Za-z][\w-]*)[\s>]")
# Tags that open what the client puts into the conversation in a user's name; any other may be the person's own.
_MACHINE_TAGS = frozenset(
    {
        "environment_context",
        "user_instructions",
        "instructions",
        "permissions",
        "collaboration_mode",
        "turn_aborted",
        "subagent_notification",
        "skill",
        "skills_instructions",
        "apps_instructions",
        "plugins_instructions",
        "personality_spec",
        "model_switch",
        "codex_internal_context",
        "goal_context",
        "hook_prompt",
        "user_action",
        "recommended_plugins",
        "token_budget",
    }
)
_MACHINE_OPENINGS = ("# AGENTS.md instructions for ", "Warning: apply_patch was requested via ")
# What the client tells in nearly the same words in every session; it is kept once, with all sessions that it is in.
_LISTED_TAGS = _MACHINE_TAGS - {"turn_aborted", "subagent_notification", "user_action", "hook_prompt"}
# How the summary opens that a conversation goes on from once it was compacted.
_SUMMARY = "Another language model started to solve this problem and produced a summary"
# What an editor puts around what a person typed.
_REQUEST = re.compile(r"(# Context from my IDE setup:.*?)\n## My request for Codex:\s*\n(.*\S)\s*", re.DOTALL)
_SHELL_COMMAND = re.compile(r"\s*<user_shell_command>\s*<command>\s*(.*?)\s*</command>(.*)", re.DOTALL)
# Content of a message that is no text.
_PICTURES = frozenset({"input_image", "image", "input_audio"})
# Lines that stand before what a command printed.
_HEAD = re.compile(
    r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Exit code|Process exited with code|"
    r"Process running with session ID)\b[^\n]*\n)+(?:Output:\n|\Z)"
)
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
# The head of a result is looked at for how it ended: behind it comes what a program printed, which may say anything.
MOST_HEAD = 1_000
_FAILED = (
    "exec_command failed",
    "execution error:",
    "failed to parse function arguments",
    "unsupported call:",
    "apply_patch verification failed",
    "tool call error:",
)
# A shell that is told to run a script: `["bash", "-lc", script]`.
_SCRIPTED = frozenset({"-c", "-lc", "-Command"})


class Words(msgspec.Struct, frozen=True):
    """What a message is, by whom, and how it is best read; what is listed stands in many sessions alike."""

    kind: Kind
    role: Role
    text: str
    is_listed: bool = False


def message_text(content: object) -> str:
    """Return what a message says, without pictures."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    said = []
    for item in content:
        if isinstance(item, str):
            said.append(item)
        elif isinstance(item, dict) and item.get("type") not in _PICTURES:
            said.append(text(item.get("text")) or text(item.get("refusal")) or "")
    return "\n".join(filter(None, said))


def classify(role: str, said: str) -> Words:
    """Tell what a person typed from what the client put into the conversation."""
    if role == "assistant":
        return Words(Kind.TEXT, Role.ASSISTANT, said)
    if role != "user":
        return Words(Kind.SYSTEM, Role.SYSTEM, said, is_listed=True)
    match = _TAG.match(said)
    tag = match.group(1).lower() if match else ""
    if tag in _MACHINE_TAGS or said.startswith(_MACHINE_OPENINGS):
        return Words(Kind.SYSTEM, Role.SYSTEM, said, is_listed=not tag or tag in _LISTED_TAGS)
    if said.startswith(_SUMMARY):
        return Words(Kind.SUMMARY, Role.USER, said)
    command = _SHELL_COMMAND.match(said)
    if command:
        return Words(Kind.COMMAND, Role.USER, "! " + "\n".join(filter(None, (command[1], command[2].strip()))))
    request = _REQUEST.fullmatch(said)
    if request:
        return Words(Kind.PROMPT, Role.USER, f"{request[2]}\n\n{request[1].strip()}")
    return Words(Kind.PROMPT, Role.USER, said)


def thought(item: Fields) -> str:
    """Return what can be read of a thought: its summary and its content; what is encrypted cannot."""
    return "\n\n".join(filter(None, (_texts(item.get("summary")), _texts(item.get("content")))))


def call(item: Fields) -> tuple[Block, list[Touch]]:
    """Read a call of a tool, and the files that it names."""
    name, inputs = _tool(item), _inputs(item)
    fields: tuple[Field, ...] = ()
    if isinstance(inputs, str):
        touched = tools.touched(name, {tools.PATCHES[0]: inputs})
        shown = inputs
    else:
        if tools.runs_commands(name):
            inputs = _as_command(inputs)
        touched = tools.touched(name, inputs)
        shown, fields = written_out(inputs)
    block = Block(
        number=0,
        kind=Kind.TOOL_CALL,
        role=Role.ASSISTANT,
        # A call without input is one all the same.
        text=shown or name or "",
        tool=name,
        call=identity(item.get("call_id")) or identity(item.get("id")),
        fields=fields,
    )
    command = mapping(inputs).get(tools.COMMAND)
    if isinstance(command, str) and "*** Begin Patch" in command:
        # A shell that is told to apply a patch.
        touched = tools.patched(command.splitlines())
    return block, [Touch(path=path, action=action) for path, action in dict.fromkeys(touched)]


def result(item: Fields, tool: str | None) -> Block:
    """Read the result of a call: what it printed, and whether it failed."""
    said, is_error = _output(item.get("output"))
    if item.get("status") in ("failed", "incomplete"):
        is_error = True
    return Block(
        number=0,
        kind=Kind.TOOL_RESULT,
        role=Role.USER,
        text=said,
        tool=tool,
        call=identity(item.get("call_id")),
        is_error=is_error,
    )


def _texts(value: object) -> str:
    items = value if isinstance(value, list) else []
    return "\n\n".join(filter(None, (text(mapping(item).get("text")) for item in items)))


def _tool(item: Fields) -> str | None:
    if item.get("type") == "local_shell_call":
        return "local_shell"
    if item.get("type") == "web_search_call":
        return "web_search"
    name, namespace = text(item.get("name")), text(item.get("namespace"))
    if name is None:
        return (text(item.get("type")) or "").removesuffix("_call") or None
    if namespace is None or name.startswith(namespace):
        return name
    return f"{namespace}{name}" if namespace.endswith("__") else f"{namespace}__{name}"


def _inputs(item: Fields) -> Fields | str:
    """Return the inputs of a call: those that it names, or one text."""
    for key in ("arguments", "input", "action"):
        value = item.get(key)
        if isinstance(value, dict):
            return {name: one for name, one in value.items() if name != "type"}
        if isinstance(value, str) and value:
            decoded = decode(value.encode("utf-8", "replace")) if value.lstrip().startswith("{") else None
            return value if decoded is None else decoded
        if value is not None and value != "":
            return strings(value)
    return {}


def _as_command(inputs: Fields) -> Fields:
    """Name what a shell runs alike in all versions, as it would be typed."""
    command = inputs.get(tools.COMMAND, inputs.get("cmd"))
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        command = words[2] if len(words) == 3 and words[1] in _SCRIPTED else " ".join(words)
    if not isinstance(command, str):
        return inputs
    return {tools.COMMAND: command, **{name: one for name, one in inputs.items() if name not in (tools.COMMAND, "cmd")}}


def _output(value: object) -> tuple[str, bool]:
    """Return what a call gave back, and whether it says that it failed."""
    if isinstance(value, list):
        return message_text(value), False
    if isinstance(value, dict):
        said, is_error = _output(value.get("content") or value.get("output"))
        return said, is_error or value.get("success") is False or _exit_code(value) not in (None, 0)
    if not isinstance(value, str):
        return "", False
    if value.lstrip().startswith("{"):
        decoded = decode(value.encode("utf-8", "replace"))
        if decoded is not None and isinstance(decoded.get("output"), str) and "metadata" in decoded:
            return str(decoded["output"]), _exit_code(decoded) not in (None, 0)
    head = _HEAD.match(value)
    code = _EXIT_CODE.search(value[: min(head.end(), MOST_HEAD)]) if head else None
    is_error = code is not None and int(code[1]) != 0
    said = value[head.end() :] if head and value[head.end() :].strip() else value
    return said, is_error or value.startswith(_FAILED)


def _exit_code(value: Fields) -> int | None:
    code = mapping(value.get("metadata")).get("exit_code", value.get("exit_code"))
    return code if type(code) is int else None


def mcp_call(invocation: Fields, call: str) -> Fields:
    """Write what an event tells of a call of an MCP server as the item that it would have been."""
    name = f"mcp__{text(invocation.get('server')) or ''}__{text(invocation.get('tool')) or ''}"
    return {"type": "function_call", "name": name, "arguments": invocation.get("arguments"), "call_id": call}


def mcp_result(value: object, call: str, tool: str | None) -> Block:
    """Read the result of such a call: `Ok` with content, or `Err` with a message."""
    answer = mapping(mapping(value).get("Ok"))
    said = message_text(answer.get("content")) or strings(mapping(value).get("Err"))
    is_error = "Err" in mapping(value) or answer.get("isError") is True
    return Block(number=0, kind=Kind.TOOL_RESULT, role=Role.USER, text=said, tool=tool, call=call, is_error=is_error)


def plans(item: Fields) -> Iterator[Block]:
    """Read a plan that was completed."""
    if (text(item.get("type")) or "").lower() == "plan" and (said := text(item.get("text"))):
        yield Block(number=0, kind=Kind.PLAN, role=Role.ASSISTANT, text=said)
