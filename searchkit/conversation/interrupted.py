"""Whether a session was left in the middle: its last word is a person's or a tool's."""

from collections.abc import Iterable, Mapping

from searchkit.backends.base import Backend, Node, Step
from searchkit.conversation.graph import graph, on
from searchkit.conversation.subagents import is_inline
from searchkit.conversation.thread import NAMING, leaves, told
from searchkit.types import Kind

_UNANSWERED = frozenset({Kind.PROMPT, Kind.COMMAND, Kind.TOOL_CALL, Kind.TOOL_RESULT})
# How the output of a command opens that Claude Code ran by itself, such as /exit: nobody is to answer that.
_PRINTED = ("<local-command-", "<bash-std")


def is_interrupted(backend: Backend, session: str) -> bool:
    """Say whether the last message of a session, on its newest way, still waits for an answer."""
    tail = backend.tail(session)
    last = _last_message(tail.nodes, tail.leaves, is_whole=False) if tail is not None else None
    if last is None:
        last = _last_message(backend.members(session), leaves(backend.facts(session, NAMING)), is_whole=True)
    return last is not None and _is_waiting(backend, last.steps[-1])


def _last_message(nodes: Iterable[Node], named: Mapping[str, int], is_whole: bool) -> Node | None:
    """Return the last message on the newest way through records; None where they are too few to tell."""
    found = graph((node for node in nodes if not is_inline(node)), named)
    beginnings = [key for key in found.nodes if found.above.get(key) not in found.nodes]
    if not beginnings:
        return None
    first = max(beginnings, key=lambda key: found.reach[key])
    if not is_whole and found.reach[first] < max(found.reach.values()):
        # Lines are swapped, so that what was said last seems to begin nowhere.
        return None
    messages = [found.nodes[key] for key in told(found, [first, *on(found, first)]) if _is_message(found.nodes[key])]
    return messages[-1] if messages else None


def _is_waiting(backend: Backend, last: Step) -> bool:
    if last.kind is not Kind.COMMAND:
        return last.kind in _UNANSWERED
    (stored,) = backend.stored([last.key])
    return stored is None or not stored.part.text.lstrip().startswith(_PRINTED)


def _is_message(node: Node) -> bool:
    """Say whether somebody speaks: what the machine notes of a turn comes after its last word."""
    spoken = _UNANSWERED | {Kind.TEXT, Kind.THINKING}
    return node.type in ("user", "assistant") and bool(node.steps) and node.steps[-1].kind in spoken
