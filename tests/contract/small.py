"""Small changes written by hand, and what a backend answers about them, for the contract suites."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from searchkit.backends.base import Backend, Entry, Node, Step
from searchkit.query.types import Condition, Filter, Period
from searchkit.sources.parts import split
from searchkit.types import Block, Change, Fact, Kind, Link, Origin, Place, Problem, Record, Role, Standing, Tally
from tests.reference.contents import everything, session_parts

A = "aaaaaaaa-1111-4111-8111-111111111111"
B = "bbbbbbbb-2222-4222-8222-222222222222"
C = "cccccccc-3333-4333-8333-333333333333"

_SESSION_OF = {"a": A, "b": B, "c": C, "z": A}


def uuid(number: int) -> str:
    """Return a uuid by number."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def record(
    number: int, line: int, *texts: str, kind: Kind = Kind.PROMPT, session: str | None = A, **fields: Any
) -> Record:
    """Make a record with a block for each text; its parent is the number before, its time the number."""
    about = {name: fields.pop(name) for name in ("tool", "call", "is_error") if name in fields}
    blocks = [
        Block(number=position, kind=kind, role=Role.USER, text=text, **about) for position, text in enumerate(texts)
    ]
    values: dict[str, Any] = {"uuid": uuid(number), "parent": uuid(number - 1), "time": 1_000 * number, "type": "user"}
    return Record(line=line, session=session, blocks=blocks, **{**values, **fields})


def transcript(name: str, *records: Record, **fields: Any) -> Change:
    """Make a change of the transcript `<name>.jsonl`, whose first letter tells its session."""
    origin = Origin(kind="session", session=_SESSION_OF[name[0]], project_directory="p")
    return change(f"/p/{name}.jsonl", origin, *records, **fields)


def agent(name: str, *records: Record, is_copy: bool = False, session: str | None = A, **fields: Any) -> Change:
    """Make a change of the transcript of an agent."""
    origin = Origin(kind="agent", session=session, agent=name, is_copy=is_copy)
    return change(f"/p/agent-{name}.jsonl", origin, *records, **fields)


def document(name: str, *records: Record, session: str | None = A, **fields: Any) -> Change:
    """Make a version of a document, which replaces the one before."""
    origin = Origin(kind="todo", session=session, is_document=True)
    return change(f"/todos/{name}.json", origin, *records, is_restart=True, **fields)


def change(file: str, origin: Origin, *records: Record, **fields: Any) -> Change:
    """Make a change; its checkpoint is its last line unless another is given."""
    last = max((item.line for item in records), default=0)
    values: dict[str, Any] = {
        "checkpoint": f"{file}:{last}".encode(),
        "tally": Tally(lines=last, bytes=100 * last),
        "bytes_read": 100 * len(records),
    }
    return Change(file=file, origin=origin, records=records, **{**values, **fields})


def batch(*changes: Change) -> list[Entry]:
    """Split the records of changes into parts, as ingesting does."""
    return [Entry(change=item, parts=[split(record) for record in item.records]) for item in changes]


def told(backend: Backend, *changes: Change) -> Backend:
    """Write each change as a batch of its own, then settle."""
    for item in changes:
        backend.catalog.write(batch(item))
    backend.catalog.settle()
    return backend


def places(backend: Backend, number: int) -> list[tuple[str, int, str | None]]:
    """Return base name, line and session of each place of a record, the home first and the rest in order."""
    home, *others = map(_place, link(backend, number).places)
    return [home, *sorted(others, key=str)]


def link(backend: Backend, number: int) -> Link:
    """Return a record by number, which must be there."""
    return backend.catalog.links([uuid(number)])[uuid(number)]


def texts(backend: Backend, session: str = A, agent: str | None = None) -> list[str]:
    """Return the texts of a session in order, without repeats."""
    return [stored.part.text for stored in session_parts(backend, session, agent) if stored.repeats is None]


def ids(backend: Backend, *conditions: Filter | Period) -> list[str]:
    """Return the sessions for which all of these hold."""
    filters = tuple(one for one in conditions if isinstance(one, Filter))
    periods = tuple(one for one in conditions if isinstance(one, Period))
    return [session.id for session in backend.catalog.sessions(Condition(filters=filters, periods=periods))]


def contents(backend: Backend) -> list[str]:
    """Write out everything that a backend holds, so that a difference can be read."""
    return sorted(_lines(backend))


def numbers(links: Iterable[Link]) -> list[int]:
    """Return the numbers of records."""
    return [int(item.uuid[:8], 16) for item in links]


def fact(name: str, value: str, line: int = 0, session: str = A, **fields: Any) -> Fact:
    """Make a fact of a session."""
    return Fact(session=session, name=name, value=value, line=line, **fields)


def torn(*lines: int) -> Sequence[Problem]:
    """Make a problem for each line."""
    return [Problem(kind="torn line", line=line, detail="9 bytes") for line in lines]


def queued(number: int, line: int, text: str, **fields: Any) -> Record:
    """Make a record of the queue, which repeats the prompt of the same text."""
    return record(number, line, text, standing=Standing.QUEUE, type="queue-operation", **fields)


def progress(number: int, line: int, text: str, call: str, **fields: Any) -> Record:
    """Make a record that stands in for the result of a call."""
    standing = Standing.STAND_IN
    return record(number, line, text, kind=Kind.TOOL_RESULT, call=call, standing=standing, type="progress", **fields)


def _lines(backend: Backend) -> Iterator[str]:
    for holding in everything(backend):
        home, *others = holding.link.places
        link = msgspec.structs.replace(holding.link, places=(home, *sorted(others, key=repr)))
        yield f"record {link}"
        for stored in holding.parts:
            yield f"part {stored.id} {stored.part} repeats {stored.repeats}"
    for session in backend.catalog.sessions(Condition()):
        yield f"session {session}"
        yield from (f"fact {item}" for item in backend.catalog.facts(session.id))
    yield f"files {sorted(backend.catalog.checkpoints())}"
    counts = backend.catalog.counts()
    yield f"counts {msgspec.structs.replace(counts, parts=dict(sorted(counts.parts.items())))}"


def _place(place: Place) -> tuple[str, int, str | None]:
    return place.file.rpartition("/")[2], place.line, place.session


def conversations(backend: Backend) -> list[str]:
    """Write out everything that a backend tells of conversations, with uuids for its keys."""
    uuids = sorted(holding.link.uuid for holding in everything(backend))
    names = {number: one for one in uuids if (number := backend.catalog.record(one)) is not None}
    links = backend.catalog.links(uuids).values()
    sessions = sorted({place.session for link in links for place in link.places if place.session})
    lines = []
    for number, one in names.items():
        lines += [f"transcript of {one}: {_node(node, names)}" for node in backend.catalog.transcript(number)]
        lines += [f"offspring of {one}: {_node(node, names)}" for node in backend.catalog.offspring([number], A)]
        for key, turns in ((key, turns) for key in backend.catalog.keys(one) for turns in (0, 1, 3)):
            said = [_step(step) for step in backend.catalog.turns([key], turns, turns)[key]]
            lines.append(f"{turns} turns around {one}: {said}")
        begun = backend.catalog.prompts(backend.catalog.keys(one))
        said = [step.id for step in backend.catalog.stored([*begun.values()]) if step]
        lines.append(f"what the turns of {one} begin with: {said}")
        ended = backend.catalog.conclusions(backend.catalog.keys(one))
        lengths = [(conclusion.length, conclusion.other_length) for conclusion in ended.values()]
        said = [step.id for step in backend.catalog.stored([conclusion.key for conclusion in ended.values()]) if step]
        lines.append(f"what the turns of {one} end with: {said} {lengths}")
    for session in sessions:
        for agent in (None, *backend.catalog.agents(session)):
            several = backend.catalog.members(session, agent)
            lines += [f"member of {session} {agent}: {_node(node, names)}" for node in several]
    return lines


def _node(node: Node, names: Mapping[int, str]) -> str:
    """Write a node with the uuid of its parent; numbers of files are a backend's own."""
    values = msgspec.structs.asdict(node)
    del values["key"], values["file"]
    parent = None if node.parent is None else names[node.parent]
    return str({**values, "parent": parent, "steps": [_step(step) for step in node.steps]})


def _step(step: Step) -> str:
    values = msgspec.structs.asdict(step)
    del values["key"]
    return str(values)
