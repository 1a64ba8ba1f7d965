"""A thread as the engine finds it, in the form in which a corpus tells it."""

from collections.abc import Sequence

import msgspec

from searchkit import Engine
from searchkit.backends.base import Node

_MESSAGES = frozenset({"user", "assistant"})


class FoundThread(msgspec.Struct, frozen=True, kw_only=True):
    """What the manifest of a corpus tells of a thread."""

    uuids: Sequence[str]
    caller: str | None
    sessions: Sequence[str]


def found_thread(engine: Engine, uuid: str) -> FoundThread:
    """Find the thread of a record; of what else has a uuid the manifest tells nothing."""
    thread = engine.thread(uuid)
    places = engine._open().catalog.links([uuid])[uuid].places
    return FoundThread(
        uuids=[node.uuid for node in thread.nodes if _is_told(node)],
        caller=thread.above[-1].caller if thread.above else None,
        sessions=sorted({place.session for place in places if place.session}),
    )


def _is_told(node: Node) -> bool:
    is_queued = node.type == "attachment" and any(step.is_typed for step in node.steps)
    return node.type in _MESSAGES or node.is_boundary or is_queued
