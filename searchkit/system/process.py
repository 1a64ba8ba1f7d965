"""What a process of ours does without: imports that it never uses, and memory that it freed.

Spared is what LanceDB imports and a store on the disk never uses, the client of its remote service: two thirds of the
seconds that `import lancedb` takes, and of the wait for a first search by meaning.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

CLIENT = "lance_namespace_urllib3_client"
NEWER_TYPES = "typing_extensions"


def spare() -> None:
    """Let the client be imported as a hollow: only for processes of our own, since others may want to use it."""
    if CLIENT not in sys.modules:
        sys.meta_path.insert(0, _Hollow())
    _spare_typing_extensions()


def _spare_typing_extensions() -> None:
    """Import msgspec without typing_extensions, of which it wants what `typing` has from Python 3.11 on.

    That module and what it imports are a seventh of what a keyword search imports. Others can import it afterwards.
    """
    if "msgspec" in sys.modules or NEWER_TYPES in sys.modules:
        return
    # Python takes None for a module that cannot be found.
    sys.modules[NEWER_TYPES] = None  # type: ignore[assignment]  # what the type stubs do not know
    try:
        import msgspec  # noqa: F401  # it stays in sys.modules
    finally:
        del sys.modules[NEWER_TYPES]


class _Hollow:
    """Finds modules in which whatever is asked for is an empty class.

    It has all that imports want of a finder and a loader. The classes for those are in `importlib.abc`, which takes
    milliseconds to import, at the start of every command.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_meant = fullname == CLIENT or fullname.startswith(f"{CLIENT}.")
        loader: Any = self
        return ModuleSpec(fullname, loader, is_package=True) if is_meant else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Let an ordinary module be made."""

    def exec_module(self, module: ModuleType) -> None:
        def empty(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

        module.__dict__["__getattr__"] = empty


# Freed memory goes back to the system: threads that each keep what they freed make a long run hold much more.
#
# While a table of 160,000 vectors was indexed, a process held at most 503 MB before and 382 MB with this, as fast.
# Only the GNU library can be told; others have no such functions, or ones that do nothing.


# From malloc.h: how many heaps threads share, and from how many free bytes on a heap shrinks. To set the latter
# also keeps blocks beyond 128 kB apart, which are given back as soon as they are freed.
_M_ARENA_MAX, _ARENAS = -8, 2
_M_TRIM_THRESHOLD, _TRIM_BYTES = -1, 128 * 1024


def give_back() -> None:
    """Hold little of what is freed from here on."""
    # Commands start with this module, and ctypes takes milliseconds.
    import ctypes

    with suppress(OSError, TypeError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_ARENA_MAX, _ARENAS)
        library.mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)


def give_back_now() -> None:
    """Hold nothing of what was freed already."""
    import ctypes

    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
