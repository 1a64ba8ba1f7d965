"""searchkit: search over everything Claude Code wrote."""

from searchkit.errors import SearchkitError

# As `typing` has it, which takes a third of the time that asking the resident process takes.
TYPE_CHECKING = False
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
