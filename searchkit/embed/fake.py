"""A stand-in for tests that needs no model: texts that share words are near, and nothing else is."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from searchkit.embed.base import Identity, Vector, Vectors

DIMENSION = 64
MAX_TOKENS = 256
_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Gives each word a direction of its own, and a text the sum of those of its words."""

    def __init__(self, dimension: int = DIMENSION) -> None:
        """Take a dimension, so that tests can have vectors that do not fit."""
        self.identity = Identity(
            model="fake",
            weights="none",
            dimension=dimension,
            pooling="sum",
            precision="float32",
            max_tokens=MAX_TOKENS,
        )
        self.cost = 0.0

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return a unit vector for each text that may be found."""
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(-1, self.identity.dimension)

    def embed_query(self, text: str, /) -> Vector:
        """Return the unit vector of a question, which is that of a text."""
        words = _WORD.findall(text.lower())[:MAX_TOKENS]
        total = (
            np.sum([self._direction(word) for word in words], axis=0) if words else np.zeros(self.identity.dimension)
        )
        return (total / (np.linalg.norm(total) or 1.0)).astype(np.float32)

    def _direction(self, word: str) -> NDArray[np.float64]:
        """Return a direction that is the same in every process, unlike what `hash` would give."""
        seed = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(seed, "big")).standard_normal(self.identity.dimension)
