"""The default embedder: all-MiniLM-L6-v2 on the processor, with onnxruntime and without PyTorch."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from searchkit.embed.base import Identity, Vector, Vectors
from searchkit.embed.minilm import run
from searchkit.embed.minilm.build import ready
from searchkit.embed.minilm.run import cores_to_use
from searchkit.embed.tokenize import Tokens
from searchkit.errors import ModelDamaged

NAME = "all-MiniLM-L6-v2"
# What the model was made for; it reads no more in sentence-transformers either.
MAX_TOKENS = 256
# So many texts are taken at a time, which bounds the memory for any number of them.
WINDOW_TEXTS = 1024
# Of so many questions the vectors are kept, which takes 400 KB.
MAX_QUESTIONS = 256


class MiniLM:
    """The default model, opened. Nothing is left running between calls, so nothing is to be closed."""

    def __init__(self, directory: Path, cores: int | None = None, is_background: bool = False) -> None:
        """Open the model that is kept ready in a directory, making it ready where it is not.

        In the background, texts give way to everything else on the machine; questions do not.
        """
        model = run.packaged()
        self._tokens = Tokens(_tokenizer(model / run.TOKENIZER), MAX_TOKENS)
        self._cores = cores or cores_to_use()
        self._is_background = is_background
        self._question = lru_cache(MAX_QUESTIONS)(self._made)
        known, self._encoder = ready(model, directory / f"{NAME}.ready", self._tokens)
        self.identity = Identity(
            model=NAME,
            weights=known.weights,
            dimension=self._encoder.dimension,
            pooling="mean",
            precision=known.precision,
            max_tokens=MAX_TOKENS,
        )
        self.cost = 1.0

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return a unit vector for each text that may be found."""
        found = np.zeros((len(texts), self.identity.dimension), np.float32)
        for begin in range(0, len(texts), WINDOW_TEXTS):
            window = range(begin, min(begin + WINDOW_TEXTS, len(texts)))
            longest_first = sorted(window, key=lambda number: -len(texts[number]))
            rows = ((number, self._tokens.numbers(texts[number])) for number in longest_first)
            for numbers, vectors in self._encoder.vectors_beside(rows, self._cores, self._is_background):
                found[numbers] = vectors
        return found

    def embed_query(self, text: str, /) -> Vector:
        """Return the unit vector of a question, made in the calling thread, which never steps back.

        Those of the last questions are kept: the page asks for results and facets, an agent for more context.
        """
        return self._question(text)

    def _made(self, text: str) -> Vector:
        vector: Vector = self._encoder.vectors([self._tokens.numbers(text)])[0]
        # Many get the same one.
        vector.setflags(write=False)
        return vector


def _tokenizer(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelDamaged(f"cannot read the default model's tokens in {path}: {error}", run.REINSTALL) from error
