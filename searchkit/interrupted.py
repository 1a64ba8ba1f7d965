"""Whether a session was left in the middle: its last word is a person's or a tool's."""

from searchkit.agents import is_inline
from searchkit.backends.base import Backend, Node, Step
from searchkit.graph import graph, on
from searchkit.thread import leaves, told
from searchkit.types import Kind

_UNANSWERED = frozenset({Kind.PROMPT, Kind.COMMAND, Kind.TOOL_CALL, Kind.TOOL_RESULT})
# How the output of a command opens that Claude Code ran by itself, such as /exit: nobody is to answer that.
_PRINTED = ("<local-command-", "<bash-std")


def is_interrupted(backend: Backend, session: str) -> bool:
    """Say whether the last message of a session, on its newest way, still waits for an answer."""
    own = [node for node in backend.members(session) if not is_inline(node)]
    found = graph(own, leaves(backend.facts(session)))
    beginnings = [key for key in found.nodes if found.above.get(key) not in found.nodes]
    if not beginnings:
        return False
    first = max(beginnings, key=lambda key: found.reach[key])
    messages = [found.nodes[key] for key in told(found, [first, *on(found, first)]) if _is_message(found.nodes[key])]
    return bool(messages) and _is_waiting(backend, messages[-1].steps[-1])


def _is_waiting(backend: Backend, last: Step) -> bool:
    if last.kind is not Kind.COMMAND:
        return last.kind in _UNANSWERED
    (stored,) = backend.stored([last.key])
    return stored is None or not stored.part.text.lstrip().startswith(_PRINTED)


def _is_message(node: Node) -> bool:
    """Say whether somebody speaks: what the machine notes of a turn comes after its last word."""
    spoken = _UNANSWERED | {Kind.TEXT, Kind.THINKING}
    return node.type in ("user", "assistant") and bool(node.steps) and node.steps[-1].kind in spoken
