"""The conversation around hits: what led to each, and what came of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from searchkit.backends.base import Backend, Near, Stored
from searchkit.results import Turn
from searchkit.types import Kind

# Records without text stand between those with: so many more are looked at for each that is wanted.
STEPS_PER_TURN = 3
# What the conversation does not consist of.
_ASIDE = frozenset({Kind.TITLE, Kind.SYSTEM, Kind.ATTACHMENT})


def around(backend: Backend, hits: Sequence[Stored], turns: int) -> list[list[Turn]]:
    """Return, for each hit, up to so many parts before it, the hit, and as many after it."""
    if not turns or not hits:
        return [[Turn(stored=hit, is_hit=True)] for hit in hits]
    uuids = [hit.link.uuid for hit in hits]
    before, after = (_nearest(backend.chains(uuids, turns * STEPS_PER_TURN, back), turns) for back in (True, False))
    keys = sorted({key for near in (before, after) for chain in near.values() for key in chain})
    parts = dict(zip(keys, backend.stored(keys), strict=True))
    return [
        [
            *_turns(parts, reversed(before.get(hit.link.uuid, []))),
            Turn(stored=hit, is_hit=True),
            *_turns(parts, after.get(hit.link.uuid, [])),
        ]
        for hit in hits
    ]


def _nearest(chains: Mapping[str, Sequence[Near]], turns: int) -> dict[str, list[int]]:
    """Choose the parts next to each hit that belong to the conversation."""
    return {uuid: [near.key for near in chain if near.kind not in _ASIDE][:turns] for uuid, chain in chains.items()}


def _turns(parts: Mapping[int, Stored | None], keys: Iterable[int]) -> Iterator[Turn]:
    for key in keys:
        stored = parts[key]
        if stored is not None:
            yield Turn(stored=stored)
