"""Which engine a command asks: one of its own, or the one that the resident process holds open."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from searchkit import config
from searchkit.cli.commands import NotHere
from searchkit.cli.console import audience
from searchkit.engine import Engine

_lent: ContextVar[Engine] = ContextVar("engine")


@contextmanager
def opened(index: str | None, roots: Sequence[str] = (), model: str | None = None) -> Iterator[Engine]:
    """Give the engine that was lent, which is that of the index, or one that is closed afterwards."""
    engine = _lent.get(None)
    if engine is None:
        with Engine(index, roots, model) as own:
            yield own
        return
    held = engine.settings
    if config.resolve([str(root) for root in roots], str(held.index), audience().environment, model) != held:
        raise NotHere
    yield engine


def lend(engine: Engine) -> None:
    """Let commands that run in this context use an engine, which stays open after them."""
    _lent.set(engine)


def is_own() -> bool:
    """Say whether the command runs in a process of the user's own, rather than in the resident one."""
    return _lent.get(None) is None


def must_be_own() -> None:
    """Refuse to go on where the resident process runs the command: it is not to touch files of its clients."""
    if not is_own():
        raise NotHere
