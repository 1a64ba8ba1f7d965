"""What narrows a search, said in numbers of the catalog's: the same for every store that derives from it."""

import msgspec


class Among(msgspec.Struct, frozen=True):
    """A field that must hold one of these numbers; none of them means nothing at all."""

    field: str
    numbers: frozenset[int]


class During(msgspec.Struct, frozen=True):
    """A time from `start` up to but without `end`; what has no time is in no span, also in one without ends."""

    start: int | None
    end: int | None


class AnyOf(msgspec.Struct, frozen=True):
    """Something that holds if one of several does."""

    tests: "tuple[Test, ...]"


class AllOf(msgspec.Struct, frozen=True):
    """Something that holds if all of several do."""

    tests: "tuple[Test, ...]"


Test = Among | During | AnyOf | AllOf


class Bound(msgspec.Struct, frozen=True):
    """What must hold of a part, or must not."""

    test: Test
    is_excluded: bool
