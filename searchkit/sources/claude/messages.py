"""How the content of a message reads: one block per piece, each of one kind."""

import re
from collections.abc import Iterator

from searchkit.sources.json_values import identity, leaves, mapping, strings, text, written_out
from searchkit.sources.tools import touched
from searchkit.types import Block, Kind, Role, Touch

PERSISTED = "<persisted-output>"
_PERSISTED_PATH = re.compile(r"saved to:\s*(.+?)\s*(?:\n|$)")


def assistant_blocks(content: object) -> Iterator[Block]:
    """Read what the assistant wrote, thought and called."""
    for number, item in _items(content):
        if isinstance(item, str):
            yield Block(number=number, kind=Kind.TEXT, role=Role.ASSISTANT, text=item)
            continue
        block_type = item.get("type")
        if block_type == "text":
            yield Block(number=number, kind=Kind.TEXT, role=Role.ASSISTANT, text=text(item.get("text")) or "")
        elif block_type == "thinking":
            thought = text(item.get("thinking")) or ""
            yield Block(number=number, kind=Kind.THINKING, role=Role.ASSISTANT, text=thought)
        elif block_type in ("tool_use", "server_tool_use"):
            yield _call(number, item)
        else:
            yield from _other(number, item, Role.ASSISTANT, Kind.TEXT)


def user_blocks(content: object) -> Iterator[tuple[Block, bool]]:
    """Read a user record's blocks; the flag says that a block is text whose author is still open."""
    for number, item in _items(content):
        if isinstance(item, str):
            yield Block(number=number, kind=Kind.PROMPT, role=Role.USER, text=item), True
        elif item.get("type") == "text":
            said = text(item.get("text")) or ""
            yield Block(number=number, kind=Kind.PROMPT, role=Role.USER, text=said), True
        else:
            for block in _other(number, item, Role.USER, Kind.ATTACHMENT):
                yield block, False


def touches(tool: str, tool_input: object) -> Iterator[Touch]:
    """Name the files that a call reads, edits or writes."""
    for path, action in touched(tool, mapping(tool_input)):
        yield Touch(path=path, action=action)


def persisted_path(result: str) -> list[str]:
    """Return the pieces of the path to the file that holds a result too long for the transcript, or none.

    The path is another machine's: only its last pieces, `<session>/tool-results/<name>`, mean anything here.
    """
    match = _PERSISTED_PATH.search(result)
    return re.split(r"[/\\]", match.group(1)) if match else []


def _items(content: object) -> list[tuple[int, str | dict[str, object]]]:
    if isinstance(content, list):
        return [(number, item) for number, item in enumerate(content) if isinstance(item, (str, dict))]
    return [(0, content)] if isinstance(content, (str, dict)) else []


def _call(number: int, item: dict[str, object]) -> Block:
    shown, fields = written_out(item.get("input"))
    return Block(
        number=number,
        kind=Kind.TOOL_CALL,
        role=Role.ASSISTANT,
        # A call without input is one all the same.
        text=shown or text(item.get("name")) or "",
        tool=text(item.get("name")),
        call=identity(item.get("id")),
        fields=fields,
    )


def _other(number: int, item: dict[str, object], role: Role, kind: Kind) -> Iterator[Block]:
    """Read results, and whatever block type comes next month, leaving images and documents out."""
    if item.get("type") == "tool_result":
        yield Block(
            number=number,
            kind=Kind.TOOL_RESULT,
            role=Role.USER,
            text=_result_text(item.get("content")),
            call=identity(item.get("tool_use_id")),
            is_error=item.get("is_error") is True,
        )
    elif item.get("type") == "document":
        source = mapping(item.get("source"))
        shown = [text(item.get("title")), text(source.get("data")) if source.get("type") == "text" else None]
        yield Block(number=number, kind=Kind.ATTACHMENT, role=role, text="\n".join(filter(None, shown)))
    elif item.get("type") not in ("image", "redacted_thinking"):
        yield Block(number=number, kind=kind, role=role, text=strings(item))


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return strings(content)
    if not isinstance(content, list):
        return ""
    shown = []
    for item in content:
        if isinstance(item, str):
            shown.append(item)
        elif isinstance(item, dict) and item.get("type") not in ("image", "tool_reference"):
            shown.append(text(item.get("text")) or "\n".join(_said(item)))
    return "\n".join(shown)


def _said(item: dict[str, object]) -> Iterator[str]:
    """Yield the strings of an item of unknown type, such as a resource that an MCP server returned."""
    for path, leaf in leaves(item):
        if isinstance(leaf, str) and path.rpartition(".")[2] not in ("type", "data", "blob", "mimeType"):
            yield leaf
