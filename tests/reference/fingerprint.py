"""One number for all that a backend holds, by which two of them, or two ways of filling one, are compared.

It covers what can be asked for, not how it is kept: no internal numbers, no order of writing,
no checkpoints (which name inodes), and no findings (which a backend looks for as best it can).
"""

import hashlib

import msgspec

from searchkit.backends.base import Backend, Stored
from searchkit.query.types import Condition
from searchkit.types import Place
from tests.reference.contents import everything
from tests.reference.held import Holding

# Wide enough that no two contents meet by accident.
DIGEST_BYTES = 16


def digest(backend: Backend) -> str:
    """Return equal strings for backends that answer alike, whatever order they were written in."""
    # Hashes are added up, so that records need not be sorted and none is held for longer than its turn.
    total = sum(_hash(*_record(holding)) for holding in everything(backend))
    catalog = backend.catalog
    for session in catalog.sessions(Condition()):
        total += _hash("session", session, sorted(map(_written, catalog.facts(session.id))))
    total += _hash("files", sorted(catalog.checkpoints()))
    counts = catalog.counts()
    total += _hash("counts", msgspec.structs.replace(counts, parts=dict(sorted(counts.parts.items()))))
    return f"{total % (1 << 8 * DIGEST_BYTES):0{2 * DIGEST_BYTES}x}"


def _record(holding: Holding) -> tuple[object, ...]:
    home, *others = holding.link.places
    link = msgspec.structs.replace(holding.link, places=(home, *sorted(others, key=_place)))
    return "record", link, sorted(map(_part, holding.parts))


def _part(stored: Stored) -> str:
    part = stored.part
    text = hashlib.blake2b(part.text.encode(), digest_size=DIGEST_BYTES).hexdigest()
    fields = (stored.id, part.block, part.kind, part.role, text, part.tool, part.call, part.is_error, part.fields)
    return _written((*fields, part.language, stored.repeats))


def _place(place: Place) -> tuple[str, int, str, str]:
    return place.file, place.line, place.session or "", place.agent or ""


def _hash(*values: object) -> int:
    return int.from_bytes(hashlib.blake2b(_ENCODE(values), digest_size=DIGEST_BYTES).digest())


def _written(value: object) -> str:
    return _ENCODE(value).decode()


_ENCODE = msgspec.json.Encoder().encode
