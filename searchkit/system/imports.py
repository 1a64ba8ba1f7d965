"""Spares what LanceDB imports and a store on the disk never uses: the client of its remote service.

That client is two thirds of the seconds that `import lancedb` takes, and of the wait for a first search by meaning.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

CLIENT = "lance_namespace_urllib3_client"


def spare() -> None:
    """Let the client be imported as a hollow: only for processes of our own, since others may want to use it."""
    if CLIENT not in sys.modules:
        sys.meta_path.insert(0, _Hollow())


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
