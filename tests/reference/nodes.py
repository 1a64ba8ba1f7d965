"""The conversations in a memory backend: every record as a node, and the turns around parts."""

from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from searchkit.backends.base import FAR_LINES, Node, Step, Stored
from searchkit.types import Kind, Role
from tests.reference.held import Sighting, Sightings, link, ranked

Nodes = Mapping[str, Node]


def nodes(
    records: Mapping[str, Sightings], keyed: Iterable[tuple[int, Stored]], key_of: Callable[[str], int]
) -> dict[str, Node]:
    """Return every record as a node, by its uuid."""
    numbers = {uuid: key_of(uuid) for uuid in records}
    homes = {uuid: ranked(sightings)[0] for uuid, sightings in records.items()}
    files = {path: number for number, path in enumerate(sorted({home.file.path for home in homes.values()}))}
    steps: dict[str, list[Step]] = {uuid: [] for uuid in records}
    for key, stored in keyed:
        if stored.repeats is None or stored.link.type != "progress":
            touched = {touch.path for place in records[stored.link.uuid] for touch in place.record.touches}
            steps[stored.link.uuid].append(_step(key, stored, touched))
    return {uuid: _node(records[uuid], numbers, files[homes[uuid].file.path], steps[uuid]) for uuid in records}


def places(records: Mapping[str, Sightings], session: str, agent: str | None) -> list[Sighting]:
    """Return where the records of a session or of one of its agents lie, each once, copies after others."""
    found = [
        (place.file.origin.is_copy, place.file.session != session, place.file.path, place.record.line, uuid, place)
        for uuid, sightings in records.items()
        for place in sightings
        if (place.session, place.agent) == (session, agent)
    ]
    first: dict[str, Sighting] = {}
    for *_, uuid, place in sorted(found, key=lambda one: one[:5]):
        first.setdefault(uuid, place)
    return list(first.values())


def members(held: Nodes, several: Iterable[Sighting]) -> list[Node]:
    """Return records as they lie in places."""
    files: dict[str, int] = {}
    placed = (
        msgspec.structs.replace(
            held[place.record.uuid], file=files.setdefault(place.file.path, len(files)), line=place.record.line
        )
        for place in several
    )
    return [node for node in placed if node.is_link]


def transcript(held: Nodes, key: int) -> list[Node]:
    """Return the records with a uuid in the home file of this one, and this one, in line order."""
    here = next(node for node in held.values() if node.key == key)
    return _in_line_order(node for node in held.values() if node.file == here.file and (node.is_link or node is here))


def offspring(held: Nodes, parents: Mapping[str, str | None], keys: Collection[int], session: str) -> list[Node]:
    """Return the records of other sessions than this whose parent is one of these, without their steps."""
    wanted = {node.uuid for node in held.values() if node.key in keys}
    several = (held[uuid] for uuid, parent in parents.items() if parent in wanted)
    others = (node for node in several if node.session not in (session, None))
    return sorted((msgspec.structs.replace(node, steps=()) for node in others), key=lambda n: (n.time or 0, n.uuid))


def turns(held: Nodes, uuid: str, before: int, after: int) -> list[Step]:
    """Return the parts of the turn that a record is in and of so many before and after."""
    by_key = {node.key: node for node in held.values()}
    own = _turn(held, held[uuid])
    several, at = [own], own
    for _ in range(before):
        has_parent = _is_typed(at[0]) and at[0].line >= 0 and at[0].parent is not None
        parent = by_key.get(at[0].parent or 0) if has_parent else None
        if parent is None or any(parent in turn for turn in several):
            break
        at = _turn(held, parent)
        several.insert(0, at)
    at = own
    for _ in range(after):
        following = _following(held, at) if at[0].line >= 0 else None
        if following is None or following.parent not in {node.key for node in at}:
            break
        at = _turn(held, following)
        several.append(at)
    said = (node for turn in several for node in turn if (node.is_link and node.line >= 0) or node.uuid == uuid)
    return [step for node in said for step in node.steps]


def prompt(held: Nodes, uuid: str) -> int | None:
    """Return what was typed that the turn of a record begins with."""
    said = (step for node in _turn(held, held[uuid]) if node.is_link and node.line >= 0 for step in node.steps)
    return next((step.key for step in said if step.is_typed), None)


def conclusion(held: Nodes, uuid: str) -> int | None:
    """Return the last text of the turn of a record."""
    said = [step for node in _turn(held, held[uuid]) if node.is_link for step in node.steps]
    return next((s.key for s in reversed(said) if s.kind is Kind.TEXT and s.role is Role.ASSISTANT), None)


def _turn(held: Nodes, here: Node) -> list[Node]:
    """Return the records of a turn, in line order."""
    if here.line < 0:
        return [here]
    around = [node for node in _beside(held, here) if abs(node.line - here.line) <= FAR_LINES]
    begin = max((node.line for node in around if _is_typed(node) and node.line <= here.line), default=0)
    end = min((node.line for node in around if _is_typed(node) and node.line > here.line), default=None)
    return [node for node in around if begin <= node.line and (end is None or node.line < end)]


def _following(held: Nodes, turn: list[Node]) -> Node | None:
    """Return the record that the next turn in the file begins with."""
    later = (node for node in _beside(held, turn[-1]) if _is_typed(node) and node.line > turn[-1].line)
    return next(later, None)


def _beside(held: Nodes, here: Node) -> list[Node]:
    """Return the records of the same conversation in the same file that are still there."""
    where = (here.file, here.agent, here.is_sidechain)
    several = (node for node in held.values() if (node.file, node.agent, node.is_sidechain) == where)
    return _in_line_order(node for node in several if node.line >= 0)


def _in_line_order(several: Iterable[Node]) -> list[Node]:
    """Sort the records of a file; a line of an earlier version of it counts as that line."""
    return sorted(several, key=lambda node: (abs(node.line), node.uuid))


def _is_typed(node: Node) -> bool:
    return node.is_link and any(step.is_typed for step in node.steps)


def _step(key: int, stored: Stored, touched: set[str]) -> Step:
    part = stored.part
    return Step(
        key=key,
        uuid=part.uuid,
        kind=part.kind,
        role=part.role,
        tool=part.tool,
        call=part.call,
        path=min(touched, default=None) if part.kind is Kind.TOOL_CALL else None,
        is_error=part.is_error,
    )


def _node(sightings: Sightings, numbers: Mapping[str, int], file: int, steps: list[Step]) -> Node:
    here, home = link(sightings), ranked(sightings)[0]
    above = [uuid for uuid in (here.parent, here.logical_parent) if uuid is not None]
    parent = next((numbers[uuid] for uuid in above if uuid in numbers), None)
    return Node(
        key=numbers[here.uuid],
        uuid=here.uuid,
        type=here.type,
        parent=parent,
        missing=above[0] if above and parent is None else None,
        response=None if here.response is None else _signed(here.response),
        file=file,
        line=home.line,
        time=here.time,
        session=home.session,
        agent=home.agent,
        is_link=home.record.is_link,
        is_boundary=here.is_boundary,
        is_sidechain=here.is_sidechain,
        steps=tuple(steps),
    )


def _signed(response: str) -> int:
    """Write the number of a response as a store on disk keeps it."""
    return int.from_bytes(bytes.fromhex(response), "big", signed=True)
