"""A whole conversation to leaf through: its rows without texts, and the texts of a few rows at a time.

A session may have 20,000 steps. Which rows there are is known from the links alone; texts are fetched
for what is looked at.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from searchkit.agents import own_records, started
from searchkit.backends.base import Backend, Node, Step
from searchkit.conversations import Agent, Break, Entry, Folded, Thread
from searchkit.thread import thread
from searchkit.types import Heading
from searchkit.window import broken, entries, shown, steps_of, turns

Row = Step | Folded | Break
# Stands between the session and the agent in an id; no id has it.
OF_AGENT = ":"


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as it is read: a row for each thing that is shown, steps between them folded.

    `homes` tells the row of every record; one that says nothing belongs to the row before it. `started`
    are agents by the calls that started them.
    """

    record: str
    session: Heading | None
    thread: Thread
    rows: Sequence[Row]
    homes: Mapping[str, int]
    hits: Collection[int]
    started: Mapping[str, Agent]


def leaf(backend: Backend, uuid: str, hits: Collection[int] = ()) -> Reading | None:
    """Lay out the conversation that a record is in; None where there is no such record.

    Hits, by the keys of their parts, stand in rows of their own, and so do calls that start agents.
    """
    found = thread(backend, uuid)
    if found is None:
        return None
    here = next(node for node in found.nodes if node.uuid == uuid)
    agents = started(backend, found.nodes)
    rows: list[Row] = [Break(reason=found.ending, record=found.nodes[0].uuid)] if found.ending else []
    homes: dict[str, int] = {}
    for turn in turns(found.nodes):
        steps = steps_of(turn)
        apart = {step.key for step in steps if step.key in hits or step.call in agents}
        rows += broken(turn)
        _place(homes, turn, shown(steps, apart), rows)
    return Reading(
        record=uuid,
        session=backend.headings([here.session]).get(here.session) if here.session else None,
        thread=found,
        rows=rows,
        homes=homes,
        hits=hits,
        started=agents,
    )


def told(backend: Backend, reading: Reading, begin: int, end: int) -> list[Entry]:
    """Fetch the texts of some rows; what has gone meanwhile stays, as a fold of one step."""
    return _with_texts(backend, reading.rows[begin:end], reading.hits)


def unfolded(backend: Backend, reading: Reading, row: int, begin: int, end: int) -> list[Entry]:
    """Fetch the texts of some of the steps that a row folds."""
    folded = reading.rows[row]
    return _with_texts(backend, folded.steps[begin:end] if isinstance(folded, Folded) else (), reading.hits)


def agent_id(agent: Agent) -> str:
    """Return an id that means an agent's own conversation; to look for its first record takes all of them."""
    return f"{agent.session}{OF_AGENT}{agent.name}"


def first_record(backend: Backend, id: str) -> str:
    """Return the record with which the conversation of an agent begins that is meant by such an id."""
    session, _, name = id.partition(OF_AGENT)
    return next((node.uuid for node in own_records(backend, Agent(name=name, session=session))), name)


def _place(homes: dict[str, int], turn: Sequence[Node], chosen: Sequence[Step | Folded], rows: list[Row]) -> None:
    """Append the rows of a turn, and note where each of its records went."""
    for row, one in enumerate(chosen, len(rows)):
        for step in one.steps if isinstance(one, Folded) else (one,):
            homes.setdefault(step.uuid, row)
    rows += chosen
    last = max(0, len(rows) - max(1, len(chosen)))
    for node in turn:
        last = homes.setdefault(node.uuid, last)


def _with_texts(backend: Backend, rows: Sequence[Row], hits: Collection[int]) -> list[Entry]:
    keys = [row.key for row in rows if isinstance(row, Step)]
    texts = dict(zip(keys, backend.stored(keys), strict=True))
    found: list[Entry] = []
    for row in rows:
        if isinstance(row, Break):
            found.append(row)
        else:
            found += entries([row], hits, texts) or [Folded(steps=[row] if isinstance(row, Step) else row.steps)]
    return found
