"""The conversation around hits: what led to each, and what came of it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from searchkit.backends.base import Backend, Near, Stored
from searchkit.results import Turn
from searchkit.types import Kind

# Records without text stand between those with: so many more are looked at for each that is wanted.
STEPS_PER_TURN = 3
# What the conversation does not consist of.
_ASIDE = frozenset({Kind.TITLE, Kind.SYSTEM, Kind.ATTACHMENT})


class Nearby(NamedTuple):
    """The keys of the parts around a hit, in the order of the conversation."""

    before: list[int]
    after: list[int]


def nearby(backend: Backend, keys: Sequence[int], turns: int) -> dict[int, Nearby]:
    """Return, for each hit, up to so many parts before it and as many after it; their texts are not fetched."""
    if not turns or not keys:
        return {key: Nearby([], []) for key in keys}
    before, after = (backend.chains(keys, turns * STEPS_PER_TURN, is_back) for is_back in (True, False))
    return {key: Nearby(_nearest(before[key], turns)[::-1], _nearest(after[key], turns)) for key in keys}


def around(backend: Backend, uuid: str, before: int, after: int) -> list[Turn]:
    """Return what a record says with so many parts before it and after it."""
    keys = backend.keys(uuid)
    if not keys:
        return []
    earlier = _nearest(backend.chains(keys[:1], before * STEPS_PER_TURN, True)[keys[0]], before)[::-1]
    later = _nearest(backend.chains(keys[-1:], after * STEPS_PER_TURN, False)[keys[-1]], after)
    several = [*earlier, *keys, *later]
    found = zip(several, backend.stored(several), strict=True)
    return [Turn(stored=stored, is_hit=key in keys) for key, stored in found if stored is not None]


def turns_of(hit: int, near: Mapping[int, Nearby], parts: Mapping[int, Stored | None]) -> list[Turn]:
    """Put the conversation around a hit together; what has gone meanwhile is left out."""
    before, after = near.get(hit, ([], []))
    found = ((key, parts.get(key)) for key in (*before, hit, *after))
    return [Turn(stored=stored, is_hit=key == hit) for key, stored in found if stored is not None]


def _nearest(chain: Sequence[Near], turns: int) -> list[int]:
    """Choose the parts next to a hit that belong to the conversation."""
    return [near.key for near in chain if near.kind not in _ASIDE][:turns]
