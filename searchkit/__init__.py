"""searchkit: search over everything Claude Code wrote."""

from searchkit.errors import (
    IndexBusy,
    IndexDamaged,
    IndexFault,
    IndexMissing,
    IndexModel,
    IndexUnwritable,
    IndexVersion,
    ModelDamaged,
    ModelFault,
    ModelMismatch,
    ModelMissing,
    ModelTooLarge,
    ModelUnsafe,
    NotFound,
    NotPrivate,
    Refused,
    RootMissing,
    SearchkitError,
    SourceError,
    SourceSilent,
    TooFewTokens,
    UsageError,
)

# As `typing` has it, which takes a third of the time that asking the resident process takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from searchkit.conversation.types import Conversation
    from searchkit.engine import Engine
    from searchkit.search.types import Answer, Result
    from searchkit.types import Session

__all__ = [
    "Answer",
    "Conversation",
    "Engine",
    "IndexBusy",
    "IndexDamaged",
    "IndexFault",
    "IndexMissing",
    "IndexModel",
    "IndexUnwritable",
    "IndexVersion",
    "ModelDamaged",
    "ModelFault",
    "ModelMismatch",
    "ModelMissing",
    "ModelTooLarge",
    "ModelUnsafe",
    "NotFound",
    "NotPrivate",
    "Refused",
    "Result",
    "RootMissing",
    "SearchkitError",
    "Session",
    "SourceError",
    "SourceSilent",
    "TooFewTokens",
    "UsageError",
]
__version__ = "0.1.0"

# Imported when they are asked for: a command that needs one module of the package does not wait for all of them.
_MODULES = {
    "Answer": "searchkit.search.types",
    "Conversation": "searchkit.conversation.types",
    "Engine": "searchkit.engine",
    "Result": "searchkit.search.types",
    "Session": "searchkit.types",
}


def __getattr__(name: str) -> object:
    """Import what the package exports when it is asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """List what the package exports, whether or not it was asked for yet."""
    return sorted({*globals(), *__all__})
