"""Finds the backend for a URL; a plain path means the local one.

The client of the resident process imports this, so it imports nothing: an implementation is loaded when it is asked
for.
"""

import os

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from searchkit.backends.base import Backend, Store

# A backend is a package below this one, and a row here: the scheme of its URLs, and what makes a `Store` of one.
STORES = {"file": "searchkit.backends.local.backend:LocalStore"}


def find_store(url: "str | Path") -> "Store":
    """Return the index at a URL, without opening it; raises UsageError where no backend has such URLs."""
    scheme, mark, _ = str(url).partition("://")
    name = STORES.get(scheme if mark else "file")
    if name is None:
        from searchkit.errors import UsageError

        known = ", ".join(f"{scheme}://" for scheme in sorted(STORES))
        raise UsageError(f"no backend opens {url}", f"name a directory, or a URL that begins with {known}")
    from importlib import import_module

    module, _, kind = name.partition(":")
    store: Store = getattr(import_module(module), kind)(str(url))
    return store


def open_backend(url: "str | Path") -> "Backend":
    """Open the index at a URL to read."""
    return find_store(url).open()


def is_local_index(directory: str) -> bool:
    """Say whether a directory holds an index of the local backend, which a resident process can serve."""
    from searchkit.backends.local import CATALOG

    return os.path.exists(os.path.join(directory, CATALOG))
