"""Whether and how a session can be reopened: the command, and whether it was left in the middle."""

from collections.abc import Iterable, Mapping

import msgspec

from searchkit.backends.base import Catalog, Node, Step
from searchkit.conversation.graph import graph, on
from searchkit.conversation.subagents import is_inline
from searchkit.conversation.thread import NAMING, leaves, told
from searchkit.sources.apps import APPS, DEFAULT, App
from searchkit.text import sanitize
from searchkit.types import Heading, Kind, Session

_UNANSWERED = frozenset({Kind.PROMPT, Kind.COMMAND, Kind.TOOL_CALL, Kind.TOOL_RESULT})
# How the output of a command opens that an agent ran by itself, such as /exit: nobody is to answer that.
_PRINTED = ("<local-command-", "<bash-std")


def is_interrupted(catalog: Catalog, session: str) -> bool:
    """Say whether the last message of a session, on its newest way, still waits for an answer."""
    tail = catalog.tail(session)
    last = _last_message(tail.nodes, tail.leaves, is_whole=False) if tail is not None else None
    if last is None:
        last = _last_message(catalog.members(session), leaves(catalog.facts(session, NAMING)), is_whole=True)
    return last is not None and _is_waiting(catalog, last.steps[-1])


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


def _is_waiting(catalog: Catalog, last: Step) -> bool:
    if last.kind is not Kind.COMMAND:
        return last.kind in _UNANSWERED
    (stored,) = catalog.stored([last.key])
    return stored is None or not stored.part.text.lstrip().startswith(_PRINTED)


def _is_message(node: Node) -> bool:
    """Say whether somebody speaks: what the machine notes of a turn comes after its last word."""
    spoken = _UNANSWERED | {Kind.TEXT, Kind.THINKING}
    return node.type in ("user", "assistant") and bool(node.steps) and node.steps[-1].kind in spoken


# The command that reopens a session in the program that wrote it.


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """A session that may be reopened, and what stands in the way or is worth knowing before."""

    session: Session
    has_directory: bool
    is_interrupted: bool
    forked_from: str | None = None
    worktree: str | None = None


def command(session: Heading) -> str | None:
    """Write the line for a shell; it goes to the directory of the project, from where programs find their sessions.

    There is none for a session that `refusal` says something about.
    """
    words = arguments(session)
    reopen = sanitize.command_line(*words) if words else None
    change = sanitize.command_line("cd", sanitize.path(session.project)) if session.project else None
    if reopen is None or (session.project and change is None):
        return None
    return f"{change} && {reopen}" if change else reopen


def arguments(session: Heading) -> list[str] | None:
    """List the program and its arguments, to be run in the directory of the project; None where the id is no id."""
    return [*app(session).resume, session.id] if sanitize.is_id(session.id) else None


def app(session: Heading) -> App:
    """Return the program that wrote a session; one that this version does not know is taken for the default."""
    return APPS.get(session.app) or APPS[DEFAULT]


def refusal(session: Heading) -> str | None:
    """Say why there is no command that reopens a session, if there is none: its transcript may say anything."""
    if not sanitize.is_id(session.id):
        return f"the id of that session is none that {app(session).title} gives, so no command is made of it"
    if command(session) is None:
        return "the directory of that session has hidden characters in its name, so no command is made of it"
    return None
