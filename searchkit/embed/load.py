"""Chooses the embedder that a setting names."""

from pathlib import Path

from searchkit.config import DEFAULT_MODEL
from searchkit.embed.base import Embedder

FAKE = "fake"


def choose(setting: str, directory: Path, *, cores: int | None = None, is_background: bool = False) -> Embedder:
    """Open the default model, the stand-in for tests, or any model of sentence-transformers.

    The setting is what flags, environment and file come to: nothing or `default`, `fake`, or the name or path
    of a model. The directory is where the default model is kept ready.
    """
    # Each brings a runtime that takes from a tenth of a second to many seconds to import.
    if setting in DEFAULT_MODEL:
        from searchkit.embed.minilm.model import MiniLM

        return MiniLM(directory, cores, is_background)
    if setting == FAKE:
        from searchkit.embed.fake import FakeEmbedder

        return FakeEmbedder()
    from searchkit.embed.sentence_transformer import Transformer

    return Transformer(setting)
