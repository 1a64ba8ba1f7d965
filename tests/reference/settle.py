"""Settles all sessions that the memory backend keeps: which parts repeat others, which stand-ins go."""

from collections.abc import Iterable, Mapping

import msgspec

from searchkit.backends.duplicates import Candidate, judge
from searchkit.types import ANSWERED, Fact, Kind, Part, Standing
from tests.reference.held import Sightings, parts, ranked, standing

# A part by its record, its block and its text.
Key = tuple[str, int, int]


class Settled(msgspec.Struct, kw_only=True):
    """Which parts repeat which, and which are to be dropped."""

    repeats: dict[Key, Key] = {}
    dropped: set[Key] = set()


def key(part: Part) -> Key:
    """Name a part by what does not depend on its variants."""
    return part.uuid, part.block, part.digest


def settle(records: Mapping[str, Sightings], sessions: Iterable[str], facts: Iterable[Fact]) -> Settled:
    """Judge every session; a part that several of them hold is judged in that of its home."""
    settled = Settled()
    blank = [fact for fact in facts if fact.name == ANSWERED]
    for session in sessions:
        held = _held(records, session)
        answered = [
            part.call
            for candidate, part in held
            if part.call and part.kind is Kind.TOOL_RESULT and candidate.standing < Standing.STAND_IN
        ]
        answered += [fact.value for fact in blank if fact.session == session]
        verdict = judge([candidate for candidate, _ in held], answered)
        keys = {candidate.key: key(part) for candidate, part in held}
        own = {number for number, (uuid, *_) in keys.items() if ranked(records[uuid])[0].session == session}
        settled.repeats |= {keys[one]: keys[first] for one, first in verdict.repeats.items() if one in own}
        settled.dropped |= {keys[one] for one in verdict.dropped & own}
    return settled


def _held(records: Mapping[str, Sightings], session: str) -> list[tuple[Candidate, Part]]:
    """Describe every part that a session holds, wherever its home is."""
    found: list[tuple[Candidate, Part]] = []
    for sightings in records.values():
        if any(sighting.session == session for sighting in sightings):
            home = ranked(sightings)[0]
            for part_id, part in parts(sightings).items():
                candidate = Candidate(
                    key=len(found),
                    id=part_id,
                    digest=part.digest,
                    standing=standing(sightings),
                    time=home.record.time,
                    call=part.call,
                    order=(home.file.path, home.record.line),
                )
                found.append((candidate, part))
    return found
