"""searchkit: search over everything Claude Code wrote."""

from searchkit.engine import Engine
from searchkit.errors import SearchkitError

__all__ = ["Engine", "SearchkitError"]
__version__ = "0.1.0"
