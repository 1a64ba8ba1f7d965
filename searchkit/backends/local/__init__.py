"""The default backend: a catalog in SQLite beside derived stores, all in one directory."""

from searchkit.backends.local.backend import EmbeddedBackend
from searchkit.backends.local.open import open_to_write

__all__ = ["EmbeddedBackend", "open_to_write"]
