"""What an index directory looks like: its files, their permissions, and the version of the format."""

import os
from pathlib import Path

import orjson

from searchkit.errors import IndexMissing, IndexUnwritable, IndexVersion

# Raised whenever an older searchkit could not read what this one writes, or the other way round.
FORMAT = 1
CATALOG = "catalog.db"
MANIFEST = "manifest.json"
LOCK = "lock"
KEYWORD = "keyword"


def prepare(directory: Path) -> None:
    """Make an index directory for its owner only, or check that the one there is of our format."""
    try:
        if not directory.exists():
            directory.mkdir(mode=0o700, parents=True)
        if not (directory / MANIFEST).exists():
            if any(entry.name not in (LOCK, "aside") for entry in directory.iterdir()):
                raise IndexUnwritable(
                    f"{directory} is not empty and holds no index",
                    "name an empty or a new directory with --index",
                )
            directory.chmod(0o700)
            create_private(directory / CATALOG)
            write_private(directory / MANIFEST, orjson.dumps({"format": FORMAT}, option=orjson.OPT_INDENT_2))
    except OSError as error:
        raise IndexUnwritable(
            f"cannot write the index in {directory}: {error.strerror}",
            "give yourself permission and space there, or name another directory with --index",
        ) from error
    check(directory)


def check(directory: Path) -> None:
    """Raise unless the directory holds an index of this format."""
    try:
        manifest = orjson.loads((directory / MANIFEST).read_bytes())
        version = manifest["format"]
    except FileNotFoundError:
        raise IndexMissing(f"there is no index in {directory}", "run: searchkit index") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexVersion(
            f"cannot read {directory / MANIFEST}: {error}", "build the index anew: searchkit index --rebuild"
        ) from error
    if version != FORMAT:
        raise IndexVersion(
            f"the index in {directory} has format {version}, this searchkit reads and writes format {FORMAT}",
            "build it anew: searchkit index --rebuild (what is no longer in the transcripts is then lost),"
            " or use the searchkit that wrote it",
        )


def create_private(path: Path) -> None:
    """Make an empty file that only its owner can read; SQLite gives its companions the same mode."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    beside = path.with_suffix(".new")
    create_private(beside)
    beside.write_bytes(content)
    os.replace(beside, path)


def set_aside(directory: Path, stamp: str) -> Path | None:
    """Move whatever index is there into a directory beside it; None where there is nothing to move."""
    old = [entry for entry in directory.iterdir() if entry.name not in (LOCK, "aside")] if directory.is_dir() else []
    if not old:
        return None
    aside = directory / "aside" / stamp
    aside.mkdir(mode=0o700, parents=True)
    for entry in old:
        entry.rename(aside / entry.name)
    return aside
