"""What an index directory looks like: its files, whose they are, and the manifest that says what they are.

The manifest is for who must not wait for the catalog. All that it says is in the catalog too, so one that is
damaged is written again from there.
"""

import logging
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson

from searchkit.backends import local
from searchkit.errors import IndexMissing, IndexUnwritable, IndexVersion
from searchkit.system import files as own
from searchkit.system import paths

log = logging.getLogger(__name__)

# Raised whenever an older searchkit could not read what this one writes, or the other way round.
FORMAT = 5
CATALOG = local.CATALOG
MANIFEST = "manifest.json"
NEW_MANIFEST = "manifest.new"
LOCK = "lock"
KEYWORD = "keyword"
# A keyword index that is being made while the one before it is still searched, and the latter on its way out.
NEW_KEYWORD = "keyword.new"
OLD_KEYWORD = "keyword.old"
VECTORS = "vectors"
ASIDE = "aside"
# Where an index of an older format is kept until its migration has worked, below `ASIDE`.
MIGRATING = "migrating"
# Where a damaged catalog lies until all that can be read of it is in a new one, below `ASIDE`.
SALVAGING = "salvaging"
# Names what was moved aside by when that was.
STAMP = "%Y%m%d-%H%M%S-%f"
LAST_SEARCH = paths.LAST_SEARCH
# What the process that serves an index keeps beside it is no part of it.
BESIDE = "resident."
_CHECKSUM = "checksum"
# The first format whose manifests carry a checksum.
_CHECKED_SINCE = 4


def prepare(directory: Path) -> None:
    """Make an index directory for its owner only, or check that the one there is his and of our format."""
    try:
        make_directory(directory)
        check_owner(directory)
        if not (directory / MANIFEST).exists() and not (directory / CATALOG).exists():
            write_manifest(directory, {})
    except OSError as error:
        raise unwritable(directory, error) from error
    check(directory)


def unwritable(directory: Path, error: OSError) -> IndexUnwritable:
    """Say that an index cannot be written, and why."""
    return IndexUnwritable(
        f"cannot write the index in {directory}: {error.strerror or error}",
        "give yourself permission and space there, or name another directory with --index",
    )


def check_owner(directory: Path) -> None:
    """Raise NotPrivate unless the directory and what is in it is the user's, and let nobody else read it."""
    own.check_owned(directory, may_be_link=True)
    for name in _OURS.intersection(entry.name for entry in directory.iterdir()):
        # What is being replaced may go meanwhile.
        with suppress(FileNotFoundError):
            own.check_owned(directory / name)
    if os.name == "posix" and stat.S_IMODE(directory.stat().st_mode) & 0o077:
        with suppress(OSError):
            directory.chmod(0o700)
            log.warning("%s was open to other users and no longer is", directory)


def read_manifest(directory: Path) -> dict[str, Any] | None:
    """Return what the manifest says; None where there is none, or it is not as it was written."""
    try:
        manifest = orjson.loads(own.read_private(directory / MANIFEST))
        version = manifest["format"]
        expected = manifest.pop(_CHECKSUM, None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    is_checked = expected is not None or not isinstance(version, int) or _CHECKED_SINCE <= version <= FORMAT
    return None if is_checked and expected != _checksum(manifest) else manifest


def write_manifest(directory: Path, settings: Mapping[str, object]) -> None:
    """Write what the catalog says of the index into its manifest, unless it says so already."""
    manifest = {"format": FORMAT, **{name: value for name, value in settings.items() if value is not None}}
    if manifest != read_manifest(directory):
        written = {**manifest, _CHECKSUM: _checksum(manifest)}
        own.write_private(directory / MANIFEST, orjson.dumps(written, option=orjson.OPT_INDENT_2))


def mark_changed(directory: Path) -> None:
    """Let a process that keeps answers in memory see, by the time of the manifest, that they no longer hold."""
    try:
        # On a full disk it may be missing until it can be written again from the catalog.
        with suppress(FileNotFoundError):
            os.utime(directory / MANIFEST)
    except OSError as error:
        raise unwritable(directory, error) from error


def _checksum(manifest: Mapping[str, object]) -> int:
    return zlib.crc32(orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS))


def has_index(directory: Path) -> bool:
    """Whether a directory holds an index, whatever state it is in."""
    return (directory / CATALOG).exists()


def remembered_roots(directory: Path) -> tuple[Path, ...]:
    """Return what the index was made from last, or nothing where that is not known."""
    try:
        return tuple(map(Path, (read_manifest(directory) or {}).get("roots", ())))
    except TypeError:
        return ()


def remembered_embedding(directory: Path) -> dict[str, Any] | None:
    """Return what the vectors that are searched were made with, or None where there are none."""
    embedding = (read_manifest(directory) or {}).get("embedding")
    return embedding if isinstance(embedding, dict) else None


def identity(directory: Path) -> tuple[int, ...]:
    """Tell one index from another in the same place: rebuilt, set aside, or with the vectors of another model."""
    found = []
    for name in (MANIFEST, CATALOG):
        try:
            stat = (directory / name).stat()
        except OSError:
            continue
        # The catalog is written all the time; the manifest only when something of this changes.
        found += [stat.st_ino, stat.st_mtime_ns if name == MANIFEST else 0]
    return tuple(found)


def size(directory: Path) -> int:
    """Add up the files below a directory; one that goes meanwhile counts nothing."""
    total = 0
    for file in directory.rglob("*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def make_directory(directory: Path) -> None:
    """Make an index directory, or refuse one that is something else's."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = {entry.name for entry in directory.iterdir() if _is_content(entry.name)}
    # What a process makes that writes while the directory is moved away under it is ours, too.
    foreign = names - {NEW_MANIFEST, KEYWORD, NEW_KEYWORD, OLD_KEYWORD, VECTORS, LAST_SEARCH}
    if foreign and CATALOG not in names and not _is_ours(directory / MANIFEST):
        raise IndexUnwritable(
            f"{directory} holds {min(foreign)!r} and no index", "name an empty or a new directory with --index"
        )


def _is_content(name: str) -> bool:
    """Whether a name in the directory of an index is that of a part of it."""
    return name not in (LOCK, ASIDE) and not name.startswith(BESIDE)


def _is_ours(manifest: Path) -> bool:
    """Whether a manifest is that of an index, of whatever format."""
    try:
        return "format" in orjson.loads(own.read_private(manifest))
    except (OSError, ValueError, TypeError):
        return False


def check(directory: Path) -> None:
    """Raise unless the directory holds an index of this format, as far as its manifest tells.

    Where the manifest is gone or damaged, the catalog tells.
    """
    try:
        check_owner(directory)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissing(f"there is no index in {directory}", "run: searchkit index") from None
    except OSError as error:
        hint = "give yourself permission, or name another --index"
        raise IndexMissing(f"cannot read {directory}: {error.strerror}", hint) from error
    manifest = read_manifest(directory)
    if manifest is not None:
        # An older one may be that of an index that was migrated just now: the catalog tells.
        if not _is_older(manifest["format"]) or not (directory / CATALOG).exists():
            check_version(directory, manifest["format"])
    elif not (directory / CATALOG).exists():
        if (directory / MANIFEST).exists():
            raise IndexMissing(f"{directory} holds no index", "name another directory with --index")
        raise IndexMissing(f"there is no index in {directory}", "run: searchkit index")


def check_version(directory: Path, version: object) -> None:
    """Raise unless a version is that of this format; the error says whether the index can be migrated."""
    if version == FORMAT:
        return
    is_older = _is_older(version)
    if is_older:
        hint = "run: searchkit index, which brings it up to date and keeps all that is in it"
    else:
        hint = "use the searchkit that wrote it, or rebuild it: searchkit index --rebuild, which moves this one aside"
    raise IndexVersion(
        f"the index in {directory} has format {version}, this searchkit reads and writes format {FORMAT}",
        hint,
        is_older=is_older,
    )


def _is_older(version: object) -> bool:
    return isinstance(version, int) and 0 < version < FORMAT


@contextmanager
def private() -> Iterator[None]:
    """Let only the owner read what is made meanwhile; stores make files in the mode that the process grants."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def set_aside(directory: Path, stamp: str) -> Path:
    """Move whatever index is there into a directory of its own inside, and return that."""
    aside = make_aside(directory, stamp)
    for entry in list(directory.iterdir()):
        if _is_content(entry.name):
            entry.rename(aside / entry.name)
    log.warning("the old index could not be read and was moved to %s", aside)
    return aside


def make_aside(directory: Path, name: str) -> Path:
    """Make a directory for what is kept beside the index."""
    aside = directory / ASIDE
    aside.mkdir(mode=0o700, exist_ok=True)
    (aside / name).mkdir(mode=0o700)
    return aside / name


_OURS = frozenset(
    {CATALOG, f"{CATALOG}-wal", f"{CATALOG}-shm", f"{CATALOG}-journal", MANIFEST, LOCK, KEYWORD, VECTORS, ASIDE}
)
