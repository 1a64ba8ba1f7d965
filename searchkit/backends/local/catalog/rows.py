"""A batch in rows, as far as they can be made without the catalog.

It is half of the work of writing and needs no database, so it is done where the batch was read,
in a process of its own when there is much. What only the catalog can tell is left open: numbers
of records, parts, chunks and files. Strings that recur are listed once and meant by their place
in the list.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from searchkit.backends.base import Batch, Entry
from searchkit.backends.local.catalog.ids import Key, response_key, uuid_key
from searchkit.backends.local.catalog.schema import (
    BOUNDARY,
    CALLED_BY_PARENT,
    FORKED,
    KINDS,
    LANGUAGES,
    LINK,
    ROLES,
    SIDECHAIN,
)
from searchkit.backends.local.catalog.texts import Gatherer
from searchkit.text.analysis import prepared
from searchkit.types import Context, Part, Record, Standing, Usage

# Files whose records say when they were written; of other documents only the file system knows.
DATED = frozenset({"session", "agent", "journal", "history", "sessions-index", "job"})

_KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_ROLE_NUMBER = {role: number for number, role in enumerate(ROLES)}
_LANGUAGE_NUMBER = {language: number for number, language in enumerate(LANGUAGES)}

T = TypeVar("T")
# A key, or none. msgspec knows no union of bytes and str, though what is encoded tells one from the other.
AnyKey = Any


class PartRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A part; its text lies in one of the batch's chunks.

    `words` is the text as the keyword index takes it, where that differs, and `names` has the parts of its names.
    """

    block: int
    kind: int
    role: int
    digest: int
    tool: int | None
    call: str | None
    is_error: bool
    fields: str | None
    chunk: int
    start: int
    length: int
    language: int
    words: str | None
    names: str


class RecordRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A record as its line shows it, with its parts and the files it touched (path and action)."""

    key: AnyKey
    parent: AnyKey
    logical_parent: AnyKey
    source_call: AnyKey
    type: int
    session: int
    agent: int | None
    line: int
    time: int | None
    context: int
    response: int | None
    standing: int
    flags: int
    parts: list[PartRow]
    touches: list[tuple[int, int]]


class FactRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Something known of a session or one of its agents."""

    session: int
    name: int
    value: str
    agent: int | None
    leaf: AnyKey
    line: int


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """When the records of a session in one file were written, first and last."""

    session: int
    first: int | None
    last: int | None


class Spent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a response cost, as the records of a batch tell it, and the first of these by key."""

    response: int
    record: AnyKey
    usage: Usage


class EntryRows(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one change brings."""

    records: list[RecordRow]
    facts: list[FactRow]
    spans: list[Span]


class Rows(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a batch brings: entries in its order, and the lists that their rows refer to."""

    entries: list[EntryRows]
    names: list[str]
    sessions: list[str | None]
    contexts: list[Context]
    paths: list[str]
    spent: list[Spent]
    chunks: list[bytes]


def prepare(batch: Batch) -> Rows:
    """Make the rows of a batch."""
    return _Preparation().rows(batch)


def decode(prepared: msgspec.Raw) -> Rows:
    """Read rows as another process encoded them."""
    return _DECODE(prepared)


class _Numbering(dict[T, int]):
    """Gives every value its place in the list of those asked for."""

    def __missing__(self, value: T) -> int:
        number = self[value] = len(self)
        return number


class _Keys(dict[str, Key]):
    """Remembers keys: most uuids are a record's own and then its child's parent."""

    def __missing__(self, uuid: str) -> Key:
        key = self[uuid] = uuid_key(uuid)
        return key


class _Preparation:
    """Gathers what the rows of one batch refer to."""

    def __init__(self) -> None:
        self._keys = _Keys()
        self._names = _Numbering[str]()
        self._sessions = _Numbering[str | None]()
        self._contexts = _Numbering[Context]()
        self._paths = _Numbering[str]()
        self._spent: dict[int, tuple[Key, Usage]] = {}
        self._texts = Gatherer()

    def rows(self, batch: Batch) -> Rows:
        entries = [self._entry(entry) for entry in batch]
        return Rows(
            entries=entries,
            names=list(self._names),
            sessions=list(self._sessions),
            contexts=list(self._contexts),
            paths=list(self._paths),
            spent=[Spent(response, record, usage) for response, (record, usage) in self._spent.items()],
            chunks=self._texts.chunks(),
        )

    def _entry(self, entry: Entry) -> EntryRows:
        change = entry.change
        facts = [
            FactRow(
                self._sessions[fact.session],
                self._names[fact.name],
                fact.value,
                None if fact.agent is None else self._names[fact.agent],
                None if fact.leaf is None else self._keys[fact.leaf],
                fact.line,
            )
            for fact in change.facts
        ]
        records = [self._record(record, parts) for record, parts in zip(change.records, entry.parts, strict=True)]
        return EntryRows(records, facts, _spans(records, change.origin.kind in DATED))

    def _record(self, record: Record, parts: Sequence[Part]) -> RecordRow:
        keys, names = self._keys, self._names
        key, parent = keys[record.uuid], record.parent
        logical_parent, source_call = record.logical_parent, record.source_call
        response = None if record.response is None else response_key(record.response)
        if response is not None and record.usage is not None:
            self._spend(response, key, record.usage)
        flags = (
            LINK * record.is_link
            | SIDECHAIN * record.is_sidechain
            | FORKED * record.is_forked
            | BOUNDARY * record.is_boundary
        )
        if source_call is not None and source_call == parent:
            flags, source_call = flags | CALLED_BY_PARENT, None
        is_repeating = not record.is_link and record.standing is Standing.MACHINE
        return RecordRow(
            key,
            None if parent is None else keys[parent],
            None if logical_parent is None else keys[logical_parent],
            None if source_call is None else keys[source_call],
            names[record.type],
            self._sessions[record.session],
            None if record.agent is None else names[record.agent],
            record.line,
            record.time,
            self._contexts[record.context],
            response,
            int(record.standing),
            flags,
            [self._part(part, is_repeating) for part in parts] if parts else [],
            [(self._paths[touch.path], names[touch.action]) for touch in record.touches] if record.touches else [],
        )

    def _part(self, part: Part, is_repeating: bool) -> PartRow:
        fields = _ENCODE_FIELDS(part.fields).decode() if part.fields else None
        text = part.text
        encoded = text.encode()
        chunk, start = self._texts.add(encoded, is_repeating)
        words, names = prepared(text, encoded)
        return PartRow(
            part.block,
            _KIND_NUMBER[part.kind],
            _ROLE_NUMBER[part.role],
            part.digest,
            None if part.tool is None else self._names[part.tool],
            part.call,
            part.is_error,
            fields,
            chunk,
            start,
            len(encoded),
            _LANGUAGE_NUMBER[part.language],
            None if words == text else words,
            names,
        )

    def _spend(self, response: int, key: Key, usage: Usage) -> None:
        """Keep the largest usage of a response, which every record of it repeats."""
        other = self._spent.get(response)
        if other is None:
            self._spent[response] = (key, usage)
        else:
            largest = usage if usage == other[1] else _larger(usage, other[1])
            self._spent[response] = (_smaller(key, other[0]), largest)


def _spans(records: Iterable[RecordRow], is_dated: bool) -> list[Span]:
    """Say from when to when each session lasts; a stand-in may go again, and its time with it."""
    times: dict[int, list[int]] = {}
    for record in records:
        known = times.get(record.session)
        if known is None:
            known = times[record.session] = []
        if is_dated and record.time is not None and record.standing != Standing.STAND_IN:
            known.append(record.time)
    return [Span(session, min(known, default=None), max(known, default=None)) for session, known in times.items()]


def _smaller(one: Key, other: Key) -> Key:
    """Choose as SQLite's min() does: text sorts before bytes."""
    if isinstance(one, str) and isinstance(other, str):
        return min(one, other)
    if isinstance(one, bytes) and isinstance(other, bytes):
        return min(one, other)
    return one if isinstance(one, str) else other


def _larger(one: Usage, other: Usage) -> Usage:
    costs = [usage.cost for usage in (one, other) if usage.cost is not None]
    return Usage(
        input=max(one.input, other.input),
        output=max(one.output, other.output),
        cache_read=max(one.cache_read, other.cache_read),
        cache_write=max(one.cache_write, other.cache_write),
        cost=max(costs, default=None),
        cache_write_1h=max(one.cache_write_1h, other.cache_write_1h),
    )


_ENCODE_FIELDS = msgspec.json.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(Rows).decode
