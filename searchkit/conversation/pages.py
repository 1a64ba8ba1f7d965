"""A whole conversation to leaf through: which rows there are, and a few of them at a time with their texts.

A session may have a million steps. It is read once to learn where its turns and its rows begin, of which only numbers
are kept; what is looked at is read again.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

import msgspec
from msgspec.structs import replace

from searchkit.backends.base import Catalog, Node, Step
from searchkit.conversation.excerpt import whole
from searchkit.conversation.subagents import own_records, started
from searchkit.conversation.turns import broken, entries, shown, steps_of, turns
from searchkit.conversation.types import Agent, Break, Entry, Folded, Reason, Thread
from searchkit.types import Heading

Row = Step | Folded | Break
# Stands between the session and the agent in an id; no id has it.
OF_AGENT = ":"


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as it is read: a row for each thing that is shown, steps between them folded.

    `keys` are its records in the order of reading; a turn begins with one of these, by its number in `turns`, and
    with a row, in `begins`. `homes` tells the rows of the records that something leads to; one that says nothing
    belongs to the row before it. `prompts` are the rows of what was typed, `typed` the keys of those parts, and
    `walked` the rows of hits. `apart` are the parts that have rows of their own, and `started` agents by the calls
    that started them. The thread has no records.
    """

    record: str
    session: Heading | None
    thread: Thread
    first: str
    keys: "array[int]"
    turns: "array[int]"
    begins: "array[int]"
    total: int
    prompts: "array[int]"
    typed: "array[int]"
    walked: "array[int]"
    homes: Mapping[str, int]
    hits: Collection[int]
    apart: Collection[int]
    started: Mapping[str, Sequence[Agent]]


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Some rows of a conversation, and the records that belong to each of them, by its number."""

    rows: Sequence[Row]
    homes: Mapping[int, Sequence[str]]


def leaf(catalog: Catalog, uuid: str, hits: Collection[int] = (), apart: Collection[int] = ()) -> Reading | None:
    """Lay out the conversation that a record is in; None where there is no such record.

    Hits, by the keys of their parts, stand in rows of their own, and so do other parts and calls that start agents.
    """
    found = whole(catalog, uuid)
    if found is None:
        return None
    here, thread = found.here, found.thread
    agents = started(catalog, thread.nodes, found.has_inline)
    alone = {*hits, *apart}
    leading = {uuid, thread.left_at, *(branch.at for branch in thread.branches)}
    keys, starts, begins, prompts, typed, walked = (array("q") for _ in range(6))
    homes: dict[str, int] = {}
    total = 1 if thread.ending else 0
    for turn in turns(found.nodes):
        starts.append(len(keys))
        begins.append(total)
        keys.extend(node.key for node in turn)
        rows, own = _lay(turn, alone, agents, total)
        homes |= {node.uuid: own[node.uuid] for node in turn if node.uuid in leading}
        for node in turn:
            key = next((step.key for step in node.steps if step.is_typed), None)
            if key is not None:
                prompts.append(own[node.uuid])
                typed.append(key)
        walked.extend(row for row, one in enumerate(rows, total) if isinstance(one, Step) and one.key in hits)
        total += len(rows)
    return Reading(
        record=uuid,
        session=catalog.headings([here.session]).get(here.session) if here.session else None,
        thread=replace(thread, nodes=()),
        first=thread.nodes[0].uuid,
        keys=keys,
        turns=starts,
        begins=begins,
        total=total,
        prompts=prompts,
        typed=typed,
        walked=walked,
        homes=homes,
        hits=hits,
        apart=frozenset(alone),
        started=agents,
    )


def page(catalog: Catalog, reading: Reading, begin: int, end: int) -> Page:
    """Read some rows again; where a record has gone meanwhile, the others keep their numbers."""
    end = min(end, reading.total)
    first = max(0, bisect_right(reading.begins, begin) - 1)
    # A turn without a row belongs to the row before it.
    last = max(bisect_left(reading.begins, end), bisect_right(reading.begins, end) - 1)
    last = last if end < reading.total else len(reading.begins)
    is_cut = reading.thread.ending is not None and begin <= 0 < end
    rows: list[Row] = [Break(reason=reading.thread.ending or Reason.MISSING, record=reading.first)] if is_cut else []
    homes: dict[int, list[str]] = {}
    bounds = [*reading.turns[first:last], *(reading.turns[last : last + 1] or [len(reading.keys)])]
    held = {node.key: node for node in catalog.nodes(reading.keys[bounds[0] : bounds[-1]])} if begin < end else {}
    for number in range(first, last if begin < end else first):
        at = number - first
        turn = [held[key] for key in reading.keys[bounds[at] : bounds[at + 1]] if key in held]
        start = reading.begins[number]
        size = (reading.begins[number + 1] if number + 1 < len(reading.begins) else reading.total) - start
        laid, own = _lay(turn, reading.apart, reading.started, start)
        laid += [Break(reason=Reason.MISSING, record=reading.record)] * (size - len(laid))
        rows += laid[max(0, begin - start) : min(size, end - start)]
        for uuid, row in own.items():
            if begin <= row < end:
                homes.setdefault(row, []).append(uuid)
    return Page(rows=rows, homes=homes)


def told(catalog: Catalog, reading: Reading, begin: int, end: int) -> list[Entry]:
    """Fetch some rows with their texts; what has gone meanwhile stays, as a fold of one step."""
    return with_texts(catalog, page(catalog, reading, begin, end).rows, reading.hits)


def steps_in(catalog: Catalog, reading: Reading, row: int) -> Sequence[Step]:
    """Return the steps that a row folds; none where it is no fold."""
    return next((one.steps for one in page(catalog, reading, row, row + 1).rows if isinstance(one, Folded)), ())


def unfolded(catalog: Catalog, reading: Reading, row: int, begin: int, end: int) -> list[Entry]:
    """Fetch the texts of some of the steps that a row folds."""
    return with_texts(catalog, steps_in(catalog, reading, row)[begin:end], reading.hits)


def with_texts(catalog: Catalog, rows: Sequence[Row], hits: Collection[int]) -> list[Entry]:
    """Fetch the texts of rows; what has gone meanwhile stays, as a fold of one step."""
    keys = [row.key for row in rows if isinstance(row, Step)]
    texts = dict(zip(keys, catalog.stored(keys), strict=True))
    found: list[Entry] = []
    for row in rows:
        if isinstance(row, Break):
            found.append(row)
        else:
            found += entries([row], hits, texts) or [Folded(steps=[row] if isinstance(row, Step) else row.steps)]
    return found


def agent_id(agent: Agent) -> str:
    """Return an id that means an agent's own conversation; to look for its first record takes all of them."""
    return f"{agent.session}{OF_AGENT}{agent.name}"


def first_record(catalog: Catalog, id: str) -> str:
    """Return the first record of the conversation of the agent that such an id names."""
    session, _, name = id.partition(OF_AGENT)
    return next((node.uuid for node in own_records(catalog, Agent(name=name, session=session))), name)


def _lay(
    turn: Sequence[Node], apart: Collection[int], agents: Mapping[str, Sequence[Agent]], begin: int
) -> tuple[list[Row], dict[str, int]]:
    """Return the rows of a turn, of which the first has a number, and the row that each of its records went to."""
    if not turn:
        return [], {}
    steps = steps_of(turn)
    cut = broken(turn)
    chosen = shown(steps, {step.key for step in steps if step.key in apart or step.call in agents})
    homes: dict[str, int] = {}
    for row, one in enumerate(chosen, begin + len(cut)):
        for step in one.steps if isinstance(one, Folded) else (one,):
            homes.setdefault(step.uuid, row)
    last = max(0, begin + len(cut) + len(chosen) - max(1, len(chosen)))
    for node in turn:
        last = homes.setdefault(node.uuid, last)
    return list(chain(cut, chosen)), homes
