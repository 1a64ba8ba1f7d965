"""The reference backend: dictionaries, nothing worked out before it is asked for."""

from searchkit.backends.memory.backend import MemoryBackend

__all__ = ["MemoryBackend"]
