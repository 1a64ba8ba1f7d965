"""Vectors made of words, and what a backend finds by them, for the contract suites."""

import zlib
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from searchkit.backends.base import Backend, Near, Vector
from searchkit.query.types import Condition, Filter, Period

DIMENSION = 24


class Identity(msgspec.Struct, frozen=True):
    """What vectors were made with."""

    model: str = "words"
    dimension: int = DIMENSION


WORDS, OTHERS = Identity(), Identity(model="others")


def meaning(text: str) -> NDArray[np.float32]:
    """Return a unit vector to which texts with the same words are near, or zero where there are none."""
    total = np.zeros(DIMENSION, np.float32)
    for word in text.lower().split():
        total += np.random.default_rng(zlib.crc32(word.encode())).standard_normal(DIMENSION, np.float32)
    length = float(np.linalg.norm(total))
    return total / length if length else total


def embed(backend: Backend, identity: Identity = WORDS, at_once: int = 1_000) -> int:
    """Make and keep the vectors that are lacking; return how many parts got one."""
    backend.vectors.adopt(identity)
    done = 0
    while lacking := backend.vectors.pending(at_once):
        backend.vectors.keep([Vector(key=key, values=meaning(stored.part.text)) for key, stored in lacking.items()])
        done += len(lacking)
    backend.vectors.tidy()
    return done


def lacking(backend: Backend, limit: int = 1_000) -> list[str]:
    """Return the texts of the parts that lack a vector, in order."""
    return [stored.part.text for stored in backend.vectors.pending(limit).values()]


def condition(*wanted: Filter | Period) -> Condition:
    """Put filters and periods together."""
    filters = tuple(one for one in wanted if isinstance(one, Filter))
    return Condition(filters=filters, periods=tuple(one for one in wanted if isinstance(one, Period)))


def near(backend: Backend, text: str, *wanted: Filter | Period, limit: int = 1_000) -> list[str]:
    """Return the ids of the parts that mean something like a text, the nearest first."""
    return ids(backend, backend.vectors.nearest(meaning(text), condition(*wanted), limit))


def ids(backend: Backend, found: Sequence[Near]) -> list[str]:
    """Return the ids of what was found, all of which must be there."""
    stored = backend.catalog.stored([one.key for one in found])
    return [one.id for one in stored if one is not None and one.repeats is None]
