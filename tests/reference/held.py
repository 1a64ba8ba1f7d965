"""What the memory backend keeps: files, and records as each of their places shows them.

Nothing is worked out when it is written: the home, the links, the standing and the ids of
parts all follow from the places that are known, so the order of writing cannot matter.
"""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from searchkit.backends.base import Stored
from searchkit.types import Link, Origin, Part, Place, Problem, Record, Standing, Tally

TRANSCRIPTS = frozenset({"session", "agent", "journal"})
# Files whose records say when they were written; of a document only the file system knows, and a copy forgets.
DATED = TRANSCRIPTS | {"history", "sessions-index", "job"}

# Which text of which block of a record.
Text = tuple[int, int]


class File(msgspec.Struct, kw_only=True, eq=False):
    """A file that was read."""

    path: str
    origin: Origin
    session: str | None
    checkpoint: bytes | None = None
    is_gone: bool = False
    tally: Tally = Tally()
    problems: set[Problem] = set()


class Sighting(msgspec.Struct, kw_only=True, eq=False):
    """A record as one place shows it; stale once the file was replaced by one without it."""

    record: Record
    file: File
    session: str | None
    agent: str | None
    parts: dict[Text, Part]
    is_stale: bool = False
    is_by_file: bool = False

    @property
    def line(self) -> int:
        """Where the record is in its file; negative where it was."""
        return -self.record.line if self.is_stale else self.record.line


Sightings = list[Sighting]


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """A record with all of its parts."""

    link: Link
    parts: Sequence[Stored]


def ranked(sightings: Iterable[Sighting]) -> Sightings:
    """Sort places, the home first."""
    return sorted(sightings, key=_rank)


def standing(sightings: Iterable[Sighting]) -> Standing:
    """Return the lowest standing over all places."""
    return min(sighting.record.standing for sighting in sightings)


def link(sightings: Sightings) -> Link:
    """Describe a record as its home shows it, with all its places."""
    home, *others = ranked(sightings)
    record = home.record
    others.sort(key=lambda other: (other.file.path, other.line, other.session or ""))
    return Link(
        uuid=record.uuid,
        type=record.type,
        parent=record.parent,
        logical_parent=record.logical_parent,
        source_call=record.source_call,
        response=None if record.response is None else _shortened(record.response),
        time=record.time,
        is_sidechain=record.is_sidechain,
        is_boundary=record.is_boundary,
        standing=standing(sightings),
        context=record.context,
        places=tuple(
            Place(file=place.file.path, line=place.line, session=place.session, agent=place.agent)
            for place in (home, *others)
        ),
    )


def parts(sightings: Sightings) -> dict[str, Part]:
    """Name the parts of a record, in order; of equal texts the one nearest home is shown."""
    texts: dict[Text, Part] = {}
    for sighting in ranked(sightings):
        texts = sighting.parts | texts
    named: dict[tuple[int, int], Part] = {}
    for block in {block for block, _ in texts}:
        smallest, *others = sorted(digest for number, digest in texts if number == block)
        named[block, 0] = texts[block, smallest]
        named |= {(block, _variant(digest)): texts[block, digest] for digest in others}
    uuid = sightings[0].record.uuid
    return {
        f"{uuid}#{block}.{variant:x}" if variant else f"{uuid}#{block}": part
        for (block, variant), part in sorted(named.items(), key=lambda item: item[0])
    }


def _rank(sighting: Sighting) -> tuple[bool, bool, bool, str, int, bool]:
    is_copy, is_forked = sighting.file.origin.is_copy, sighting.record.is_forked
    return sighting.is_stale, is_copy, is_forked, sighting.file.path, sighting.record.line, sighting.is_by_file


def _variant(digest: int) -> int:
    return (digest & 0xFFFFFFFF) or 1


def _shortened(response: str) -> str:
    """Shorten a message id, which is needed only to tell responses apart."""
    return hashlib.blake2b(response.encode(), digest_size=8).hexdigest()
