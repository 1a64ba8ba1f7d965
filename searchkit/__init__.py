"""searchkit: search over everything Claude Code wrote."""

from typing import TYPE_CHECKING

from searchkit.errors import SearchkitError

if TYPE_CHECKING:
    from searchkit.engine import Engine

__all__ = ["Engine", "SearchkitError"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import the engine when it is asked for: whoever wants one module of the package need not wait for all."""
    if name != "Engine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from searchkit.engine import Engine

    return Engine
