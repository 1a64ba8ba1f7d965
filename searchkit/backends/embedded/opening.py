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

    Building anew keeps what the transcripts no longer hold. Only a catalog that cannot be read
    is moved aside, never deleted.
    """
    try:
        layout.make_directory(directory)
    except OSError as error:
        raise IndexUnwritable(
            f"cannot make {directory}: {error.strerror}",
            "name another directory with --index or SEARCHKIT_INDEX",
        ) from error
    with writing(directory / layout.LOCK, wait, on_wait):
        backend = _open(directory, is_rebuild)
        try:
            if is_rebuild:
                backend.forget_checkpoints()
                backend.drop_derived()
            yield backend
        finally:
            backend.close()


def _open(directory: Path, is_rebuild: bool) -> EmbeddedBackend:
    try:
        return EmbeddedBackend(directory, is_writable=True)
    except (IndexVersion, IndexDamaged):
        if not is_rebuild:
            raise
        layout.set_aside(directory, datetime.now().strftime("%Y%m%d-%H%M%S"))
        return EmbeddedBackend(directory, is_writable=True)
