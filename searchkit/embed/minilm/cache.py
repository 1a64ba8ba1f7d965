"""A model made ready to run, kept in one file: a line that says what it is, then the graph.

It is written under another name and renamed, so that whoever reads it finds all of it or none; two
processes that make it at once write the same. What it was not meant to be is noticed by its hash.
"""

import contextlib
import hashlib
import logging
import os
import time
from pathlib import Path

import msgspec

from searchkit.errors import NotPrivate
from searchkit.system.files import check_owned

log = logging.getLogger(__name__)

# No line that was written here is longer.
MOST_LINE_BYTES = 4096
# Nobody takes so long to write a model: whoever began it was killed.
ABANDONED_SECONDS = 3600


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """What a graph was made from and with, and how near it is to its original, as a mean cosine.

    `maker` is what would make another graph, or run this one otherwise; `stamp` is that of the files of
    weights, and `weights` their hash.
    """

    maker: str
    stamp: str
    weights: str
    precision: str
    cosine: float
    graph_hash: str


def load(path: Path) -> tuple[Ready, bytes] | None:
    """Read a model and its graph; None where there is none, or only a damaged one."""
    try:
        _check(path)
        with path.open("rb") as file:
            ready = msgspec.json.decode(file.readline(MOST_LINE_BYTES), type=Ready)
            graph = file.read()
    except FileNotFoundError:
        return None
    except NotPrivate as refusal:
        # Whoever else can write there could have put another model there.
        log.warning("%s, so the model is made again every time; %s", refusal.message, refusal.hint)
        return None
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        log.warning("cannot read %s, so it is made anew: %s", path, error)
        return None
    if graph_hash(graph) != ready.graph_hash:
        log.warning("%s is damaged, so it is made anew", path)
        return None
    return ready, graph


def store(path: Path, ready: Ready, graph: bytes) -> None:
    """Write a model for its owner only; where that cannot be done, it is made again the next time."""
    # A model that is kept already is only read.
    import tempfile

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_owned(path.parent, may_be_link=True)
        _clear_abandoned(path)
        # Made with mode 0600, and named like no other.
        descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(ready) + b"\n")
                file.write(graph)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except NotPrivate:
        # Whoever looked for it was told.
        return
    except OSError as error:
        log.warning("cannot keep the model in %s, so it is made again every time: %s", path, error)


def _check(path: Path) -> None:
    check_owned(path.parent, may_be_link=True)
    check_owned(path)


def graph_hash(graph: bytes) -> str:
    """Return what a graph is known by."""
    return hashlib.sha256(graph).hexdigest()


def _clear_abandoned(path: Path) -> None:
    """Remove what writers left behind that were killed."""
    for left in path.parent.glob(f"{path.name}.*.new"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
                left.unlink()
