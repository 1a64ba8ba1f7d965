"""What is shown of a conversation: turns around a hit, the steps between folded, the hit and the outcome in full."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile, islice, takewhile

from searchkit.backends.base import Catalog, Node, Step, Stored
from searchkit.conversation.types import Break, Entry, Folded, Reason, Said
from searchkit.sources import tools
from searchkit.text.format import count, last_part
from searchkit.text.sanitize import one_line
from searchkit.text.secrets import is_revealed, mask, masked
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


# Many steps on one line: what was read, changed and run, and which files it was about.


_KINDS = {Kind.TEXT: "remark", Kind.THINKING: "thought", Kind.SUMMARY: "summary", Kind.PLAN: "plan"}
# What belongs to a call or to a command that was typed: it is named only where there is nothing else.
_REST = {Kind.TOOL_RESULT: "result", Kind.COMMAND: "text"}
_PLURALS = {"search": "searches", "web search": "web searches", "summary": "summaries"}
# Files that are named; those that were changed come first.
MOST_FILES = 3


def describe(steps: Sequence[Step]) -> str:
    """Write steps as counts, the files they were about, and how many failed."""
    parts = [count(several, name, _PLURALS.get(name)) for name, several in _named(steps).items()]
    failed = sum(step.is_error for step in steps if step.kind is Kind.TOOL_RESULT)
    files = list(_files(steps))
    about = f": {', '.join(map(mask, files[:MOST_FILES]))}" if files else ""
    more = f" and {len(files) - MOST_FILES:,} more" if len(files) > MOST_FILES else ""
    return ", ".join(parts) + about + more + (f" ({failed:,} failed)" if failed else "")


def count_steps(steps: Sequence[Step]) -> int:
    """Count steps as they are named: a call and its result are one."""
    return _named(steps).total()


def _named(steps: Sequence[Step]) -> Counter[str]:
    named = Counter(name for step in steps if (name := _name(step)))
    return named or Counter(_REST[step.kind] for step in steps if step.kind in _REST)


def _name(step: Step) -> str | None:
    return _called(step.tool or "", is_revealed()) if step.kind is Kind.TOOL_CALL else _KINDS.get(step.kind)


# A search folds hundreds of steps of a few tools.
@lru_cache(1024)
def _called(tool: str, is_revealed: bool) -> str:
    return tools.noun(one_line(tool if is_revealed else masked(tool).text))


def _files(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the names of files, each once: what was changed, then what was read."""
    touched = [step for step in steps if step.path]
    paths = [step.path for step in touched if tools.changes_files(step.tool)] + [step.path for step in touched]
    yield from dict.fromkeys(one_line(last_part(path)) for path in paths if path)
