"""Shows in what two backends differ, without the texts: where to look when their digests are not equal."""

from collections.abc import Iterator

import msgspec

from searchkit.backends.base import Backend
from searchkit.query.types import Condition
from tests.reference.contents import everything
from tests.reference.held import Holding

MOST_SHOWN = 8


def differences(one: Backend, other: Backend) -> Iterator[str]:
    """Yield a line per difference, the first few of each kind, then how many there are."""
    yield from _shown("records", _records(one), _records(other))
    yield from _shown("sessions", _sessions(one), _sessions(other))


def _shown(name: str, one: dict[str, dict[str, str]], other: dict[str, dict[str, str]]) -> Iterator[str]:
    differing = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
    for key in differing[:MOST_SHOWN]:
        mine, theirs = one.get(key, {}), other.get(key, {})
        for field in sorted(mine.keys() | theirs.keys()):
            if mine.get(field) != theirs.get(field):
                yield f"{name[:-1]} {key}, {field}: {mine.get(field)} / {theirs.get(field)}"
    yield f"{len(differing)} of {len(other)} {name} differ"


def _records(backend: Backend) -> dict[str, dict[str, str]]:
    return {holding.link.uuid: _record(holding) for holding in everything(backend)}


def _record(holding: Holding) -> dict[str, str]:
    home, *others = holding.link.places
    fields = _fields(holding.link, "places")
    fields |= {"home": str(home), "other places": str(sorted(map(str, others)))}
    for stored in holding.parts:
        part = stored.part
        shown = f"{part.kind} {part.role} {part.tool} {part.call} {part.digest} repeats {stored.repeats}"
        fields[f"part {stored.id}"] = shown
    return fields


def _sessions(backend: Backend) -> dict[str, dict[str, str]]:
    return {
        session.id: {**_fields(session), "facts": str(sorted(map(str, backend.catalog.facts(session.id))))}
        for session in backend.catalog.sessions(Condition())
    }


def _fields(value: msgspec.Struct, *left_out: str) -> dict[str, str]:
    return {name: str(getattr(value, name)) for name in value.__struct_fields__ if name not in left_out}
