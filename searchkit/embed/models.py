"""The models that an engine asks, each loaded when it is needed and then kept."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from searchkit.config import DEFAULT_MODEL, DEFAULT_PACKAGE, Settings
from searchkit.errors import ModelFault

if TYPE_CHECKING:
    from searchkit.embed.base import Embedder, Judge


class Models:
    """One that embeds, and one that reranks where somebody wants that."""

    def __init__(self, settings: Settings, share: "Callable[[], Embedder] | None" = None) -> None:
        """Load nothing yet; where the embedder is shared, whoever has it is asked."""
        self._settings = settings
        self._share = share
        self._embedder: Embedder | None = None
        self._reranker: tuple[str, Judge] | None = None

    def embedder(self) -> "Embedder":
        """Return the model that makes vectors."""
        if self._embedder is None:
            from searchkit.embed.load import choose

            settings = self._settings
            self._embedder = self._share() if self._share else choose(settings.model, settings.models)
        return self._embedder

    def is_installed(self) -> bool:
        """Say, at no cost, whether the default model is there; any other may be."""
        return self._settings.model not in DEFAULT_MODEL or find_spec(DEFAULT_PACKAGE) is not None

    def judge(self, reranker: str) -> "tuple[Judge | None, str]":
        """Return the model that reranks, or why it cannot be had; neither where none is wanted."""
        if not reranker:
            return None, ""
        if self._reranker is None or self._reranker[0] != reranker:
            from searchkit.embed.cross_encoder import CrossEncoder

            try:
                self._reranker = reranker, CrossEncoder(reranker).judge
            except ModelFault as fault:
                return None, f"{fault.message}; {fault.hint}"
        return self._reranker[1], ""
