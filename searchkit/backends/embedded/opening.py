"""Opens the backend to write, alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from searchkit.backends.embedded import layout
from searchkit.backends.embedded.backend import EmbeddedBackend
from searchkit.backends.embedded.lock import writing
from searchkit.errors import IndexDamaged, IndexUnwritable, IndexVersion


@contextmanager
def open_to_write(
    directory: Path,
    wait: bool = True,
    on_wait: Callable[[str], None] = lambda holder: None,
    is_rebuild: bool = False,
) -> Iterator[EmbeddedBackend]:
    """Hold the lock and yield the backend; one of another format is an error unless it is built anew.

    Building anew keeps what the transcripts no longer hold, unless the catalog cannot be read: then
    it is moved aside, never deleted.
    """
    try:
        layout.make_directory(directory)
    except OSError as error:
        raise IndexUnwritable(
            f"cannot make {directory}: {error.strerror}",
            "name another directory with --index or SEARCHKIT_INDEX",
        ) from error
    with writing(directory / layout.LOCK, wait, on_wait):
        backend = _open_anew(directory) if is_rebuild else EmbeddedBackend(directory, is_writable=True)
        try:
            yield backend
        finally:
            backend.close()


def _open_anew(directory: Path) -> EmbeddedBackend:
    """Open the backend without its derived stores; a catalog that cannot be read is moved aside first."""
    try:
        backend = EmbeddedBackend(directory, is_writable=True)
        try:
            backend.check()
        except IndexDamaged:
            backend.close()
            raise
    except (IndexVersion, IndexDamaged):
        layout.set_aside(directory, datetime.now().strftime("%Y%m%d-%H%M%S-%f"))
        backend = EmbeddedBackend(directory, is_writable=True)
    backend.drop_derived()
    return backend
