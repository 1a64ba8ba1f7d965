"""Vectors in dictionaries: compared one by one, and looked through again whenever they are asked for."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from searchkit.backends.base import TYPED, Near, Reach, Stored, Vector
from searchkit.backends.duplicates import Space, Worth, is_mixed, is_multilingual, is_other, pieces, worth
from searchkit.query.types import Condition
from searchkit.types import Kind, Role
from tests.reference.catalog import ReferenceCatalog
from tests.reference.finding import is_meant
from tests.reference.settle import Key, key

if TYPE_CHECKING:
    from searchkit.backends.base import Values


class ReferenceVectors:
    """The vectors of the parts of a reference catalog."""

    def __init__(self, catalog: ReferenceCatalog, space: Space = Space.CHOSEN) -> None:
        """Begin with no vectors, of no embedder."""
        self._catalog = catalog
        self._space = space
        self._adopted = b""
        self._vectors: dict[bytes, dict[Key, list[Vector]]] = {}

    def adopt(self, identity: msgspec.Struct, /) -> None:
        """Keep and ask for vectors of the embedder with this identity from now on."""
        self._adopted = msgspec.json.encode(identity)

    def pending(self, limit: int, /) -> dict[int, Stored]:
        """Return the parts that should have a vector and have none, by key, those worth most and newest first."""
        kept = self._vectors.get(self._adopted, {})
        missing = [one for one in self._in_order() if not _is_whole(one[1], kept.get(key(one[1].part), ()))]
        return dict(missing[:limit])

    def twins(self, keys: Sequence[int], /) -> Mapping[int, Sequence[Vector]]:
        """Return, by these keys, the vectors that another part of the same kind with the same text has."""
        parts = dict(self._in_order())
        vectors = self.of(list(parts))
        of_text = {_text(parts[number]): pieces for number, pieces in vectors.items()}
        found = {number: of_text.get(_text(parts[number]), ()) for number in keys if number in parts}
        return {
            number: [msgspec.structs.replace(one, key=number) for one in pieces]
            for number, pieces in found.items()
            if pieces
        }

    def keep(self, vectors: Sequence[Vector], /) -> None:
        """Keep vectors, all pieces of a part at once; a part that is gone or has its vector is left out."""
        kept, parts = self._vectors.setdefault(self._adopted, {}), dict(self._in_order())
        lacking = {number for number, stored in parts.items() if not _is_whole(stored, kept.get(key(stored.part), ()))}
        for number in {one.key for one in vectors} & lacking:
            kept.pop(key(parts[number].part), None)
        for vector in {(one.key, one.piece): one for one in vectors}.values():
            if vector.key in lacking:
                kept.setdefault(key(parts[vector.key].part), []).append(vector)

    def tidy(self) -> None:
        """Throw the vectors of other embedders away once those of this one are complete."""
        if not self.pending(1):
            self._vectors = {self._adopted: self._vectors.get(self._adopted, {})}

    def reach(self) -> Reach:
        """Count the parts that a search for meaning reaches, and those that it should reach and does not yet."""
        pending = len(self.pending(len(self._in_order())))
        return Reach(searchable=len(self._in_order()) - pending, pending=pending)

    def nearest(self, values: "Values", condition: Condition, limit: int, /) -> list[Near]:
        """Return, of the parts that a condition means, those nearest to a unit vector."""
        held, kept = self._catalog.held(), self._vectors.get(self._adopted, {})
        positions = self._catalog.positions()
        found = []
        for number, stored in self._in_order():
            if is_meant(condition, stored, held):
                pieces = [vector for vector in kept.get(key(stored.part), ()) if vector.values.any()]
                cosines = [(float(vector.values @ values), vector.feature) for vector in pieces]
                found += [_near(number, positions[number], stored, *max(cosines))] if cosines else []
        return sorted(found, key=lambda near: -near.cosine)[:limit]

    def of(self, keys: Sequence[int], /) -> Mapping[int, Sequence[Vector]]:
        """Return the vectors of parts, piece by piece; a part without any is left out."""
        kept, parts = self._vectors.get(self._adopted, {}), dict(self._in_order())
        found = {number: kept.get(key(parts[number].part), []) for number in keys if number in parts}
        return {
            number: [
                msgspec.structs.replace(one, key=number, language=parts[number].part.language)
                for one in sorted(pieces, key=lambda one: one.piece)
            ]
            for number, pieces in found.items()
            if pieces
        }

    def follow(self) -> None:
        """Throw away the vectors of parts that are gone, or should have none."""
        there = {key(stored.part) for _, stored in self._in_order()}
        for identity, kept in self._vectors.items():
            self._vectors[identity] = {part: pieces for part, pieces in kept.items() if part in there}

    def drop(self) -> None:
        """Throw all vectors away."""
        self._vectors = {}

    def _in_order(self) -> list[tuple[int, Stored]]:
        """List the parts that should have a vector, those worth most and newest first."""
        parts = [(number, stored) for number, stored in self._catalog.keyed() if stored.repeats is None]
        last = _last(parts)
        ranked = [
            (rank, -(stored.link.time or 0), place, number, stored)
            for place, (number, stored) in enumerate(parts)
            if (rank := _worth(stored, number in last))
        ]
        found = [(number, stored) for *_, number, stored in sorted(ranked, key=lambda item: item[:3])]
        if self._space is Space.CHOSEN:
            return found
        mixed = is_mixed(sum(is_other(stored.part.language) for _, stored in found), len(found))
        return [(number, stored) for number, stored in found if _is_multilingual(stored, mixed)]


def _worth(stored: Stored, is_last: bool) -> Worth | None:
    part = stored.part
    return worth(part.kind, len(part.text.encode()), is_last, part.is_error)


def _is_multilingual(stored: Stored, mixed: bool) -> bool:
    part = stored.part
    return is_multilingual(part.kind, part.language, mixed)


def _is_whole(stored: Stored, kept: Sequence[Vector]) -> bool:
    """Say whether all pieces of a part are there."""
    return len(kept) >= pieces(stored.part.kind, len(stored.part.text.encode()))


def _text(stored: Stored) -> tuple[Kind, str]:
    return stored.part.kind, stored.part.text


def _last(parts: Sequence[tuple[int, Stored]]) -> set[int]:
    """Return the texts after which their agent says nothing more in the file before something is typed."""
    said: dict[tuple[object, ...], list[tuple[int, int, int, Kind]]] = {}
    for number, stored in parts:
        home, part = stored.link.places[0], stored.part
        if part.kind is Kind.TEXT or (part.kind in TYPED and part.role is Role.USER):
            where = (home.file, home.agent, stored.link.is_sidechain)
            said.setdefault(where, []).append((home.line, part.block, number, part.kind))
    last = set()
    for steps in map(sorted, said.values()):
        for (*_, number, kind), after in zip(steps, [*steps[1:], None], strict=True):
            if kind is Kind.TEXT and (after is None or after[3] is not Kind.TEXT):
                last.add(number)
    return last


def _near(number: int, position: int, stored: Stored, cosine: float, feature: float) -> Near:
    home = stored.link.places[0]
    return Near(
        key=number,
        position=position,
        kind=stored.part.kind,
        session=hash(home.session) if home.session else 0,
        time=stored.link.time,
        is_agents=home.agent is not None,
        cosine=cosine,
        feature=feature,
        language=stored.part.language,
    )
