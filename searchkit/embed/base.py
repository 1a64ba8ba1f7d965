"""The seam towards models: what the stages ask of whatever turns texts into vectors."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

# One row for each text.
Vectors = NDArray[np.float32]
Vector = NDArray[np.float32]
# Says of each text, between 0 and 1, how well it answers a question.
Judge = Callable[[str, Sequence[str]], Sequence[float]]


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What vectors were made with. Only vectors with equal identities may be compared.

    `weights` is a hash of whatever decides what the model says, and `pooling` is how the vectors of a
    text's tokens become one.
    """

    model: str
    weights: str
    dimension: int
    pooling: str
    precision: str
    max_tokens: int
    query_prefix: str = ""
    text_prefix: str = ""

    def differences(self, other: "Identity") -> list[str]:
        """Name the fields in which another identity is not this one."""
        return [name for name in self.__struct_fields__ if getattr(self, name) != getattr(other, name)]


class Embedder(Protocol):
    """A model. The same text always has the same vector, whatever texts it is embedded together with.

    A text in which the model knows nothing (empty, only spaces, only control characters) has the zero
    vector, which is near nothing. What is longer than the model reads counts by its beginning. No text is
    refused. Several threads may ask at once.
    """

    @property
    def identity(self) -> Identity:
        """Say what the vectors are made with, as an index records and compares it."""

    @property
    def cost(self) -> float:
        """Say about how long a text takes, as a multiple of what the default model takes for it."""

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return a unit vector for each text that may be found."""

    def embed_query(self, text: str, /) -> Vector:
        """Return the unit vector of a question; it does not wait for all of the texts that are being embedded."""
