"""Labelled questions that are kept beside the project and never in it: where they are, unpacked and indexed.

What is unpacked lies in the user's cache. Of a run only ids and ranks are kept, never a text.
"""

import hashlib
import os
import shutil
import tarfile
from pathlib import Path

import zstandard

from measure.environment import ROOT
from searchkit import Engine
from searchkit.errors import UsageError

# Where sets lie that share a directory with the project: below `shared/eval`, beside it or one directory further up.
PLACES = (ROOT.parent / "shared" / "eval", ROOT.parent.parent / "shared" / "eval")
ARCHIVE = "home.tar.zst"
QUESTIONS = "queries.jsonl"


def find(name: str) -> Path:
    """Return the directory of a set by its name or path."""
    for directory in (Path(name), *(place / name for place in PLACES)):
        if (directory / QUESTIONS).is_file():
            return directory
    places = ", ".join(str(place) for place in PLACES)
    raise UsageError(f"there is no set {name!r}", f"name a directory that holds {QUESTIONS}, or a set in {places}")


def index(directory: Path) -> Path:
    """Unpack the transcripts of a set into the cache, bring their index up to date, and return where that is.

    An index is that of one version of what reads and embeds: another makes its own.
    """
    home = _unpacked(directory)
    place = _cache() / f"{directory.name}-{_version()}"
    for other in _cache().glob(f"{directory.name}-*"):
        if other != place:
            shutil.rmtree(other)
    with Engine(place, [home]) as engine:
        engine.index(with_vectors=True)
    return place


def _unpacked(directory: Path) -> Path:
    archive = directory / ARCHIVE
    if not archive.is_file():
        return directory / "home"
    place = _cache() / "unpacked" / directory.name
    stamp = f"{archive.stat().st_size} {archive.stat().st_mtime_ns}"
    done = place / "unpacked-from"
    if not (done.is_file() and done.read_text() == stamp):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, mode=0o700)
        with (
            archive.open("rb") as packed,
            zstandard.open(packed, "rb") as plain,
            tarfile.open(fileobj=plain, mode="r|") as tar,
        ):
            tar.extractall(place, filter="data")
        done.write_text(stamp)
    return next(one.parent for one in sorted(place.rglob("projects")) if one.is_dir())


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    place = Path(base) / "searchkit-eval"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return place


def _version() -> str:
    """Say by a hash what decides how transcripts are read, and which vectors they have."""
    package = ROOT / "searchkit"
    files = [file for room in ("embed", "indexing", "sources") for file in (package / room).rglob("*.py")]
    files += [package / "backends" / "duplicates.py", *(package / "text").glob("*.py")]
    whole = hashlib.blake2b(digest_size=6)
    for file in sorted(files):
        whole.update(file.read_bytes())
    return whole.hexdigest()
