"""Codex CLI: rollouts and the history of prompts below a root such as `~/.codex`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from searchkit.sources.codex.layout import rollouts_of
from searchkit.sources.codex.source import CodexSource
from searchkit.types import Picture

__all__ = [
    "CodexSource",
    "last_written",
    "open",
    "pictures",
    "records_with_pictures",
    "session_of_call",
    "session_of_client",
]

open = CodexSource


def session_of_call(call: str, roots: Sequence[Path]) -> str | None:
    """Know nothing: Codex names no call in its requests over MCP."""
    return None


def session_of_client(process: int, roots: Sequence[Path]) -> str | None:
    """Know nothing: Codex does not write down which process has a session open."""
    return None


def last_written(session: str, project: str | None, root: Path) -> float | None:
    """Return when the rollout of a session was last written to."""
    times = []
    for path in rollouts_of(session, root):
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=None)


def records_with_pictures(file: str) -> Mapping[str, int]:
    """Show no pictures: the records of a rollout have no ids of their own by which theirs could be found again."""
    return {}


def pictures(file: str, uuid: str) -> Sequence[Picture]:
    """Show no pictures."""
    return ()
