"""What is shown of a conversation: turns around a hit, the steps between folded, the hit and the outcome in full."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile, islice, takewhile

from searchkit.backends.base import Catalog, Node, Step, Stored
from searchkit.conversation.types import Break, Entry, Folded, Reason, Said
from searchkit.types import Kind

# What the conversation does not consist of: it is shown only where it was asked for.
ASIDE = frozenset({Kind.TITLE, Kind.SYSTEM, Kind.ATTACHMENT, Kind.HISTORY, Kind.TODO})


# Texts of a turn, the last ones, that may answer what was found in it.
MAX_REPLIES = 8


def nearby(catalog: Catalog, keys: Sequence[int], turns: int) -> Mapping[int, Sequence[Step]]:
    """Return the steps around each hit: its turn and, with more turns, those before and after it."""
    return catalog.turns(keys, turns - 1, turns - 1) if turns else {}


def replies(steps: Sequence[Step], hit: int) -> list[int]:
    """Return the keys of the texts that follow a hit in its turn."""
    behind = islice(dropwhile(lambda step: step.key != hit, steps), 1, None)
    turn = takewhile(lambda step: not step.is_typed, behind)
    return [step.key for step in turn if step.kind is Kind.TEXT][-MAX_REPLIES:]


def shown(steps: Sequence[Step], hits: Collection[int]) -> list[Step | Folded]:
    """Choose what to show of turns: what was asked, the hits with their calls and results, and what came of it."""
    chosen = _chosen(steps, hits)
    entries: list[Step | Folded] = []
    between: list[Step] = []
    for step in steps:
        if step.key in chosen:
            if between:
                entries.append(Folded(steps=between))
                between = []
            entries.append(step)
        elif step.kind not in ASIDE:
            between.append(step)
    return [*entries, Folded(steps=between)] if between else entries


def entries(chosen: Iterable[Step | Folded], hits: Collection[int], texts: Mapping[int, Stored | None]) -> list[Entry]:
    """Put texts to the steps that are shown; what has gone meanwhile is left out."""
    found = ((one, one if isinstance(one, Folded) else texts.get(one.key)) for one in chosen)
    return [
        text if isinstance(text, Folded) else Said(stored=text, is_hit=isinstance(one, Step) and one.key in hits)
        for one, text in found
        if text is not None
    ]


def turns(nodes: Iterable[Node]) -> Iterator[list[Node]]:
    """Split a thread where somebody typed something, and where it was compacted."""
    turn: list[Node] = []
    for node in nodes:
        if turn and (node.is_boundary or any(step.is_typed for step in node.steps)):
            yield turn
            turn = []
        turn.append(node)
    if turn:
        yield turn


def steps_of(nodes: Iterable[Node]) -> list[Step]:
    """Return what records say, each call with its result beside it, though one record may hold several calls."""
    steps = [step for node in nodes for step in node.steps]
    results: dict[str, list[Step]] = {}
    for step in steps:
        if step.kind is Kind.TOOL_RESULT and step.call:
            results.setdefault(step.call, []).append(step)
    paired: dict[int, Step] = {}
    for step in steps:
        several = results.get(step.call, ()) if step.kind is Kind.TOOL_CALL and step.call else ()
        for one in (step, *several):
            paired.setdefault(one.key, one)
    return list(paired.values())


def broken(turn: Sequence[Node]) -> list[Break]:
    """Say that the conversation was compacted before a turn, if it was."""
    return [Break(reason=Reason.COMPACTED, record=turn[0].uuid, time=turn[0].time)] if turn[0].is_boundary else []


def _chosen(steps: Sequence[Step], hits: Collection[int]) -> set[int]:
    """Return the keys of what is told in full: also the last text of each turn."""
    calls = {step.call for step in steps if step.call and step.key in hits}
    chosen = set(hits)
    last = None
    for step in steps:
        if step.kind is Kind.TEXT:
            last = step.key
        elif step.is_typed:
            chosen |= {step.key, last or step.key}
            last = None
        elif step.call in calls:
            chosen.add(step.key)
    return chosen if last is None else chosen | {last}
