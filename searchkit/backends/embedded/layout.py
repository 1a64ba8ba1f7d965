"""What an index directory looks like: its files, their permissions, and the version of the format."""

import logging
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson

from searchkit.errors import IndexMissing, IndexUnwritable, IndexVersion

log = logging.getLogger(__name__)

# Raised whenever an older searchkit could not read what this one writes, or the other way round.
FORMAT = 3
CATALOG = "catalog.db"
MANIFEST = "manifest.json"
NEW_MANIFEST = "manifest.new"
LOCK = "lock"
KEYWORD = "keyword"
VECTORS = "vectors"
ASIDE = "aside"
# What the process that serves an index keeps beside it is no part of it.
BESIDE = "resident."


def prepare(directory: Path) -> None:
    """Make an index directory for its owner only, or check that the one there is of our format."""
    try:
        make_directory(directory)
        if not (directory / MANIFEST).exists():
            directory.chmod(0o700)
            write_private(directory / MANIFEST, orjson.dumps({"format": FORMAT}, option=orjson.OPT_INDENT_2))
        create_private(directory / CATALOG)
    except OSError as error:
        raise IndexUnwritable(
            f"cannot write the index in {directory}: {error.strerror}",
            "give yourself permission and space there, or name another directory with --index",
        ) from error
    check(directory)


def remember_roots(directory: Path, roots: Sequence[Path]) -> None:
    """Keep in the manifest what the index is made from."""
    _remember(directory, "roots", [str(root) for root in roots])


def remembered_roots(directory: Path) -> tuple[Path, ...]:
    """Return what the index was made from last, or nothing where that is not known."""
    try:
        return tuple(map(Path, _manifest(directory).get("roots", ())))
    except TypeError:
        return ()


def remember_embedding(directory: Path, embedding: dict[str, Any] | None) -> None:
    """Keep in the manifest what the vectors that are searched were made with."""
    _remember(directory, "embedding", embedding)


def remembered_embedding(directory: Path) -> dict[str, Any] | None:
    """Return what the vectors that are searched were made with, or None where there are none."""
    embedding = _manifest(directory).get("embedding")
    return embedding if isinstance(embedding, dict) else None


def _remember(directory: Path, name: str, value: object) -> None:
    manifest = {**_manifest(directory), "format": FORMAT, name: value}
    written = orjson.dumps(
        {key: kept for key, kept in manifest.items() if kept is not None}, option=orjson.OPT_INDENT_2
    )
    if written != (directory / MANIFEST).read_bytes():
        write_private(directory / MANIFEST, written)


def _manifest(directory: Path) -> dict[str, Any]:
    """Return what the manifest says, or nothing where it cannot be read."""
    try:
        manifest = orjson.loads((directory / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


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
    foreign = [entry.name for entry in directory.iterdir() if _is_content(entry.name) and entry.name != NEW_MANIFEST]
    if foreign and not _is_ours(directory / MANIFEST):
        raise IndexUnwritable(
            f"{directory} is not empty and holds no index", "name an empty or a new directory with --index"
        )


def _is_content(name: str) -> bool:
    """Whether a name in the directory of an index is that of a part of it."""
    return name not in (LOCK, ASIDE) and not name.startswith(BESIDE)


def _is_ours(manifest: Path) -> bool:
    """Whether a manifest is that of an index, of whatever format."""
    try:
        return "format" in orjson.loads(manifest.read_bytes())
    except (OSError, ValueError, TypeError):
        return False


def check(directory: Path) -> None:
    """Raise unless the directory holds an index of this format."""
    try:
        manifest = orjson.loads((directory / MANIFEST).read_bytes())
        version = manifest["format"]
    except FileNotFoundError:
        raise IndexMissing(f"there is no index in {directory}", "run: searchkit index") from None
    except OSError as error:
        raise IndexMissing(
            f"cannot read {directory / MANIFEST}: {error.strerror}", "give yourself permission, or name another --index"
        ) from error
    except (ValueError, KeyError, TypeError):
        raise IndexMissing(f"{directory} holds no index", "name another directory with --index") from None
    if version != FORMAT:
        raise IndexVersion(
            f"the index in {directory} has format {version}, this searchkit reads and writes format {FORMAT}",
            f"build it anew: searchkit index --rebuild --index {shlex.quote(str(directory))}"
            " (what is no longer in the transcripts is then lost), or use the searchkit that wrote it",
        )


def create_private(path: Path) -> None:
    """Make an empty file that only its owner can read; SQLite gives its companions the same mode."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    beside = path.with_suffix(".new")
    create_private(beside)
    beside.write_bytes(content)
    beside.replace(path)


@contextmanager
def private() -> Iterator[None]:
    """Let only the owner read what is made meanwhile; stores make files in the mode that the process grants."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def set_aside(directory: Path, stamp: str) -> None:
    """Move whatever index is there into a directory of its own inside."""
    aside = directory / ASIDE
    aside.mkdir(mode=0o700, exist_ok=True)
    (aside / stamp).mkdir(mode=0o700)
    for entry in list(directory.iterdir()):
        if _is_content(entry.name):
            entry.rename(aside / stamp / entry.name)
    log.warning("the old index could not be read and was moved to %s", aside / stamp)
