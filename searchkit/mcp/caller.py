"""Which session asks: its own words crowd out what it is looking for, so it is left out.

It is the one that the call names, or that the client was started in. Where none is named, a session of the same
project whose transcript was written to just now is taken for it, and the answer says so.
"""

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from searchkit.engine import Engine
from searchkit.mcp.answers import LeftOut
from searchkit.questions import Condition, Filter, Query, narrowed
from searchkit.types import Session

# Claude Code writes the call down before it makes it; a model may have thought about it for a minute before.
ACTIVE_SECONDS = 120.0
# Of the sessions of a project the newest are looked at: more are hardly open at once.
MOST_OPEN = 5
BECAUSE_NAMED = "it is the session that asks"


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """What the client says of itself: its session, and the directory it works in."""

    session: str = ""
    cwd: str = ""


def left_out(
    engine: Engine, caller: Caller, named: str = "", condition: Condition | None = None, now: float | None = None
) -> list[LeftOut]:
    """Return the sessions that are taken for the one that asks; none where the question itself names a session."""
    if condition and any(one.name == "session" and not one.is_excluded for one in condition.filters):
        return []
    session = named.strip() or caller.session.strip()
    if session:
        return [LeftOut(session=session, because=BECAUSE_NAMED)]
    if not caller.cwd:
        return []
    moment = time.time() if now is None else now
    within = Condition(filters=(Filter(name="project", values=(caller.cwd,)),))
    sessions = [one for one in engine.sessions(within, MOST_OPEN) if _is_same(one.project, caller.cwd)]
    ages = [(one, moment - _last_written(engine, one)) for one in sessions]
    return [
        LeftOut(
            session=one.id,
            because=f"it is of the same project, and was written to {max(0, round(age))} s ago",
        )
        for one, age in ages
        if age <= ACTIVE_SECONDS
    ]


def without(query: Query, left: Sequence[LeftOut]) -> Query:
    """Keep sessions away from the answer to a question."""
    if not left:
        return query
    kept_away = Filter(name="session", values=tuple(one.session for one in left), is_excluded=True)
    return narrowed(query, kept_away)


def _is_same(project: str | None, cwd: str) -> bool:
    return project is not None and project.rstrip("/\\") == cwd.rstrip("/\\")


def _last_written(engine: Engine, session: Session) -> float:
    """Return when something was last written down of a session: the index may be behind its transcript."""
    written = (session.ended or 0) / 1000
    folder = re.sub("[^A-Za-z0-9]", "-", session.project or "")
    for root in engine.roots:
        with suppress(OSError):
            transcript = Path(root) / "projects" / folder / f"{session.id}.jsonl"
            written = max(written, transcript.stat().st_mtime)
    return written
