"""Chooses and loads the models that an engine asks; each is loaded when it is needed and then kept."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from searchkit.config import DEFAULT_MODEL, DEFAULT_PACKAGE, MULTILINGUAL, Settings, model_directory
from searchkit.errors import ModelFault

if TYPE_CHECKING:
    from searchkit.embed.base import Embedder, Judge

FAKE = "fake"


def choose(setting: str, directory: Path, *, cores: int | None = None, is_background: bool = False) -> "Embedder":
    """Open the default model, the stand-in for tests, or any model of sentence-transformers.

    The setting is what flags, environment and file come to: nothing or `default`, `multilingual`, `fake`, or the name
    or path of a model. The directory is where the default model is kept ready.
    """
    # Each brings a runtime that takes from a tenth of a second to many seconds to import.
    if setting in DEFAULT_MODEL:
        from searchkit.embed.minilm.model import MiniLM

        return MiniLM(directory, cores, is_background)
    if setting == MULTILINGUAL:
        from searchkit.embed.multilingual import Multilingual

        return Multilingual(directory, cores, is_background)
    if setting == FAKE:
        from searchkit.embed.fake import FakeEmbedder

        return FakeEmbedder()
    from searchkit.embed.sentence_transformer import Transformer

    return Transformer(setting)


class Models:
    """One that embeds, one for other languages, and one that reranks where somebody wants that."""

    def __init__(self, settings: Settings, share: "Callable[[str], Embedder] | None" = None) -> None:
        """Load nothing yet; shared embedders are asked for by their settings."""
        self._settings = settings
        self._share = share
        self._embedders: dict[str, Embedder] = {}
        self._reranker: tuple[str, Judge] | None = None

    def embedder(self) -> "Embedder":
        """Return the model that makes vectors."""
        return self._opened(self._settings.model)

    def multilingual(self) -> "Embedder | None":
        """Return the model that makes vectors for other languages than English, or None where none is wanted."""
        return self._opened(self._settings.multilingual) if self._settings.multilingual else None

    def _opened(self, setting: str) -> "Embedder":
        if setting not in self._embedders:
            share = self._share
            self._embedders[setting] = share(setting) if share else choose(setting, self._settings.models)
        return self._embedders[setting]

    def is_installed(self) -> bool:
        """Say, at no cost, whether the default model is there; any other may be."""
        return self._settings.model not in DEFAULT_MODEL or model_directory(DEFAULT_PACKAGE) is not None

    def judge(self, reranker: str) -> "tuple[Judge | None, str]":
        """Return the model that reranks, or why it cannot be had; neither where none is wanted."""
        if not reranker:
            return None, ""
        if self._reranker is None or self._reranker[0] != reranker:
            from searchkit.embed.sentence_transformer import CrossEncoder

            try:
                self._reranker = reranker, CrossEncoder(reranker).judge
            except ModelFault as fault:
                return None, f"{fault.message}; {fault.hint}"
        return self._reranker[1], ""
