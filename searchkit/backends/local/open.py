"""Opens the backend to write, alone; an index of an older format is migrated, a damaged one salvaged."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from searchkit.backends.local import layout
from searchkit.backends.local.backend import EmbeddedBackend
from searchkit.backends.local.lock import writing
from searchkit.errors import IndexDamaged, IndexUnwritable, IndexVersion


@contextmanager
def open_to_write(
    directory: Path,
    wait: bool = True,
    on_wait: Callable[[str], None] = lambda holder: None,
    is_rebuild: bool = False,
) -> Iterator[EmbeddedBackend]:
    """Hold the lock and yield the backend.

    To rebuild keeps what the transcripts no longer have. Of a catalog that cannot be read through, what can be
    read is copied, and the damaged file is moved aside, never deleted.
    """
    try:
        layout.make_directory(directory)
        layout.check_owner(directory)
    except OSError as error:
        raise IndexUnwritable(
            f"cannot make {directory}: {error.strerror}",
            "name another directory with --index or SEARCHKIT_INDEX",
        ) from error
    with writing(directory / layout.LOCK, wait, on_wait):
        backend = _open(directory, is_rebuild)
        try:
            yield backend
        finally:
            backend.close()


def _open(directory: Path, is_rebuild: bool) -> EmbeddedBackend:
    try:
        _remove_left_over(directory)
        _migrate(directory)
        backend = EmbeddedBackend(directory, is_writable=True)
        if not is_rebuild:
            backend.finish_forgetting()
            return backend
        if backend.begin_rebuild():
            return backend
        backend.close()
    except IndexVersion as fault:
        if not is_rebuild or fault.is_older:
            raise
        layout.set_aside(directory, datetime.now().strftime(layout.STAMP))
        return EmbeddedBackend(directory, is_writable=True)
    except IndexDamaged:
        if not is_rebuild:
            raise
    except OSError as error:
        raise layout.unwritable(directory, error) from error
    # Only who rebuilds needs it.
    from searchkit.backends.local.migrate import salvage

    try:
        salvage(directory)
    except OSError as error:
        raise layout.unwritable(directory, error) from error
    backend = EmbeddedBackend(directory, is_writable=True)
    if not backend.begin_rebuild():
        backend.close()
        raise IndexDamaged(
            f"what could be copied of {directory / layout.CATALOG} is damaged, too",
            f"the old catalog is below {directory / layout.ASIDE}: keep that, and index into another --index",
        )
    return backend


def _migrate(directory: Path) -> None:
    from searchkit.backends.local.migrate import migrate, version_of

    version = version_of(directory)
    if version is not None and 0 < version < layout.FORMAT:
        migrate(directory, version)


def _remove_left_over(directory: Path) -> None:
    """Remove what a process that was killed had begun and nobody needs."""
    for name in (layout.NEW_KEYWORD, layout.OLD_KEYWORD):
        shutil.rmtree(directory / name, ignore_errors=True)
    shutil.rmtree(directory / layout.ASIDE / layout.MIGRATING, ignore_errors=True)
