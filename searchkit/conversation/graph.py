"""The ways through the records of a few files: what comes before each, what after, and which way was taken last."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from searchkit.backends.base import Node
from searchkit.types import Kind

# Which conversation in which file.
_Where = tuple[int, str | None, bool]
# More lines than a transcript has.
MOST_LINES = 1 << 40


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """Records by their keys, in line order within each file.

    `above` is the record that comes before, past compactions; `below` those that come after, in
    line order. `reach` tells how late something was written below a record in the same file.
    `ends` tells how late a record was named as the one with which the conversation goes on.
    `leading` are the records that make a way or lead to one that does; what hangs off the others are asides.
    `latest` tells how late, in a file, anything was said on the ways that leave from a record.
    `answers` are the records that hold the result of a tool call.
    """

    nodes: Mapping[int, Node]
    above: Mapping[int, int]
    below: Mapping[int, Sequence[int]]
    reach: Mapping[int, int]
    ends: Mapping[int, int]
    leading: AbstractSet[int]
    latest: Mapping[tuple[int, int], int]
    responses: Mapping[tuple[int, int], Sequence[int]]
    answers: Mapping[str, Sequence[int]]


def graph(several: Iterable[Node], leaves: Mapping[str, int] | None = None) -> Graph:
    """Connect records that come in line order; a leaf that was named on a line was reached once more there."""
    nodes = {node.key: node for node in several}
    above = _above(nodes)
    below: dict[int, list[int]] = {}
    responses: dict[tuple[int, int], list[int]] = {}
    answers: dict[str, list[int]] = {}
    for key, node in nodes.items():
        if key in above:
            below.setdefault(above[key], []).append(key)
        if node.response is not None:
            responses.setdefault((node.file, node.response), []).append(key)
        for step in node.steps:
            if step.kind is Kind.TOOL_RESULT and step.call is not None:
                answers.setdefault(step.call, []).append(key)
    ends = {key: leaves[node.uuid] + MOST_LINES for key, node in nodes.items() if node.uuid in leaves} if leaves else {}
    reach = _reach(nodes, above, ends)
    leading = _leading(nodes, above)
    return Graph(
        nodes=nodes,
        above=above,
        below=below,
        reach=reach,
        ends=ends,
        leading=leading,
        latest=_latest(nodes, above, reach, leading),
        responses=responses,
        answers=answers,
    )


def back(found: Graph, key: int) -> Iterator[int]:
    """Yield the records before one, nearest first; a cycle ends where it would begin again."""
    seen = {key}
    while (key := found.above.get(key, -1)) in found.nodes and key not in seen:
        seen.add(key)
        yield key


def on(found: Graph, key: int) -> Iterator[int]:
    """Yield the records after one, nearest first, on the way that was taken last in its file."""
    seen = {key}
    while (following := _last_taken(found, key, seen)) is not None:
        key = following
        seen.add(key)
        yield key


def under(found: Graph, *keys: int) -> Iterator[int]:
    """Yield records and all that come after them on any way, each once and after the one it comes after."""
    seen = set(keys)
    waiting = list(reversed(keys))
    while waiting:
        key = waiting.pop()
        yield key
        following = [one for one in found.below.get(key, ()) if one not in seen]
        seen.update(following)
        waiting.extend(reversed(following))


def is_turning(node: Node) -> bool:
    """Say whether a record makes a way of its own: somebody typed it, or the assistant answered."""
    return node.type == "assistant" or (node.type == "user" and any(step.is_typed for step in node.steps))


def _last_taken(found: Graph, key: int, seen: Collection[int]) -> int | None:
    file = found.nodes[key].file
    own = [one for one in found.below.get(key, ()) if found.nodes[one].file == file and one not in seen]
    last = max(own, key=lambda one: found.reach[one], default=None)
    return None if last is None or found.ends.get(key, 0) > found.reach[last] else last


def _above(nodes: Mapping[int, Node]) -> dict[int, int]:
    """Find what comes before each record: its parent; before a compaction, what was said last; else the line before."""
    above: dict[int, int] = {}
    linked = {_where(node) for node in nodes.values() if node.parent is not None}
    last: dict[_Where, int] = {}
    for key, node in nodes.items():
        where = _where(node)
        before = last.get(where)
        if not _is_cut(node) or (where in linked and _is_beginning(node)):
            if node.parent is not None and node.parent != key:
                above[key] = node.parent
        elif before is not None and (
            node.parent not in nodes or _is_below(above, before, _spoken(nodes, above, node.parent))
        ):
            # Nothing was taken back: what followed the record that is named still counts.
            above[key] = before
        elif node.parent is not None:
            above[key] = node.parent
        if node.is_link:
            last[where] = key
    return above


def _where(node: Node) -> _Where:
    """Name the conversation that a record is of."""
    return node.file, node.agent, node.is_sidechain


def _is_beginning(node: Node) -> bool:
    """Say whether a conversation begins with a record: where others name parents, a prompt without one was edited."""
    return node.parent is None and node.missing is None and not node.is_boundary and is_turning(node)


def _is_cut(node: Node) -> bool:
    """Say whether a record names none that comes before it, or only what was there before a compaction.

    Sidechains in the file of a session begin again, each for itself.
    """
    is_alone = node.parent is None and node.missing is None and (node.agent is not None or not node.is_sidechain)
    return node.is_boundary or is_alone or not node.is_link


def _spoken(nodes: Mapping[int, Node], above: Mapping[int, int], key: int | None) -> int | None:
    """Return what a way must lead through to have a record beside it: of an aside or a result, what it hangs off."""
    seen: set[int] = set()
    while key is not None and key not in seen and (before := above.get(key, -1)) in nodes:
        seen.add(key)
        node, other = nodes[key], nodes[before]
        is_same_response = node.response is not None and node.response == other.response
        if is_turning(node) and not is_same_response:
            break
        key = before
    return key


def _is_below(above: Mapping[int, int], key: int, ancestor: int | None) -> bool:
    seen = set()
    while key != ancestor and key in above and key not in seen:
        seen.add(key)
        key = above[key]
    return key == ancestor


def _reach(nodes: Mapping[int, Node], above: Mapping[int, int], ends: Mapping[int, int]) -> dict[int, int]:
    """Tell every record how late something was written below it: the latest comes first, and each is told once."""
    reach: dict[int, int] = {}
    lines = ((_lateness(node, ends.get(key, 0)), key) for key, node in nodes.items())
    for line, key in sorted(lines, reverse=True):
        file = nodes[key].file
        while key in nodes and key not in reach and nodes[key].file == file:
            reach[key] = line
            key = above.get(key, -1)
    return reach


def _leading(nodes: Mapping[int, Node], above: Mapping[int, int]) -> set[int]:
    """Find, once for all, what has a turning at or below it: to look below each record takes too long in a chain."""
    leading: set[int] = set()
    for key, node in nodes.items():
        at = key if is_turning(node) else -1
        while at in nodes and at not in leading:
            leading.add(at)
            at = above.get(at, -1)
    return leading


def _latest(
    nodes: Mapping[int, Node], above: Mapping[int, int], reach: Mapping[int, int], leading: AbstractSet[int]
) -> dict[tuple[int, int], int]:
    latest: dict[tuple[int, int], int] = {}
    for key in leading:
        if key in above:
            leaving = above[key], nodes[key].file
            latest[leaving] = max(latest.get(leaving, 0), reach[key])
    return latest


def _lateness(node: Node, end: int) -> int:
    """Count lines, so that what somebody said is always later than asides: a hook may answer long after."""
    return max(abs(node.line) + (MOST_LINES if is_turning(node) else 0), end)
