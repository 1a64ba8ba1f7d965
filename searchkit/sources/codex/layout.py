"""Where Codex puts things below its home, and what each file therefore is.

Rollouts lie in `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, and in `archived_sessions/` once they were archived;
`history.jsonl` lists what was typed.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from searchkit.errors import RootMissing, SourceError
from searchkit.sources.base import DEMO
from searchkit.sources.transcripts import Found, PassOver, one_file, walk
from searchkit.text.sanitize import file_name
from searchkit.types import Origin

# The directories of rollouts; the second holds those that were put away.
DIRECTORIES = ("sessions", "archived_sessions")
HISTORY = "history.jsonl"
SESSION_KIND, AGENT_KIND, HISTORY_KIND = "session", "agent", "history"
_ROLLOUT = re.compile(r"rollout-.*?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl")


def check(root: Path) -> None:
    """Raise unless `root` is a directory that holds rollouts which can be listed."""
    held = [root / name for name in DIRECTORIES if (root / name).is_dir()]
    if not held:
        raise RootMissing(
            f"{root} holds no sessions/, so there are no rollouts of Codex below it",
            f"name the directory that holds sessions/ with --root (Codex's own is ~/.codex); {DEMO}",
        )
    for directory in held:
        if not directory.resolve().is_relative_to(root.resolve()):
            raise SourceError(
                f"{directory} is a symbolic link out of the root, which is not followed",
                f"name the directory that really holds it: --root {directory.resolve().parent}",
            )
        try:
            with os.scandir(directory) as entries:
                next(entries, None)
        except OSError as error:
            raise SourceError(
                f"cannot read {directory}: {error.strerror}",
                "give yourself permission to read it, or name another --root",
            ) from error


def found(root: Path, pass_over: PassOver) -> Iterator[Found]:
    """Yield every file below `root` that can hold something to search; tell of what cannot be looked at, and why."""
    inside = str(root.resolve())
    for name in DIRECTORIES:
        for path, shape in walk(str(root / name), inside, pass_over):
            base = os.path.basename(path)
            if base.startswith("rollout-") and base.endswith(".jsonl"):
                origin = Origin(kind=SESSION_KIND, session=session_named(base))
                yield Found(path=path, shape=shape, origin=origin)
    yield from one_file(str(root / HISTORY), inside, Origin(kind=HISTORY_KIND), pass_over)


def session_named(name: str) -> str:
    """Return the id in the name of a rollout; of a name without one, all of it."""
    match = _ROLLOUT.fullmatch(name)
    return match.group(1).lower() if match else name.removesuffix(".jsonl")


def rollouts_of(session: str, root: Path) -> Iterator[Path]:
    """Yield the rollouts with this id in their names."""
    name = file_name(f"{session}.jsonl")
    # Ids are hexadecimal; what else a session may be called must not be read as a pattern.
    if name and not re.search(r"[*?\[]", name):
        for pattern in (f"sessions/*/*/*/rollout-*{name}", f"archived_sessions/rollout-*{name}"):
            yield from root.glob(pattern)
