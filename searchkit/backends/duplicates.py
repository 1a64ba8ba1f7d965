"""Which parts of a session only repeat others: a pure function over all of its secondary parts."""

from collections.abc import Iterable

import msgspec

from searchkit.types import Standing


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """As much of a part as deciding needs; `order` is its place in its file."""

    key: int
    id: str
    digest: int
    standing: Standing
    time: int | None
    call: str | None
    order: tuple[str, int]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Which parts repeat which, and which stand-ins are no longer needed, by key."""

    repeats: dict[int, int]
    dropped: set[int]


def judge(parts: Iterable[Candidate], answered: Iterable[str]) -> Verdict:
    """Decide over the parts of one session; `answered` are the calls whose real result is known.

    Of equal texts the one of lowest standing stays, then the earliest, then the first by id:
    never which was read first, so that any order of reading ends the same.
    """
    answered = set(answered)
    kept: dict[int, Candidate] = {}
    newest: dict[str, Candidate] = {}
    dropped: set[int] = set()
    rest = []
    for part in parts:
        if part.standing is not Standing.STAND_IN:
            rest.append(part)
        elif part.call in answered:
            dropped.add(part.key)
        elif part.call is None:
            rest.append(part)
        else:
            other = newest.get(part.call)
            newest[part.call] = part if other is None else max(part, other, key=_age)
            if other is not None:
                dropped.add(min(part, other, key=_age).key)
    repeats: dict[int, int] = {}
    for part in sorted((*rest, *newest.values()), key=_preference):
        first = kept.setdefault(part.digest, part)
        if first is part or part.standing is Standing.ORIGINAL:
            continue
        if part.standing is Standing.STAND_IN:
            dropped.add(part.key)
        else:
            repeats[part.key] = first.key
    return Verdict(repeats=repeats, dropped=dropped)


def _preference(part: Candidate) -> tuple[int, bool, int, str]:
    return part.standing, part.time is None, part.time or 0, part.id


def _age(part: Candidate) -> tuple[int, tuple[str, int], str]:
    """Order what stands in for one result; two texts of one record are told apart by their ids."""
    return part.time or 0, part.order, part.id
