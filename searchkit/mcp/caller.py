"""Which session asks: its own words crowd out what it is looking for, so it is left out.

It is the one that the call names, or whose transcript holds the call, or that the client says it has open. Where none
is known, a session of the same project whose transcript was written to just now is taken for it. The answer says so.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from searchkit.engine import Engine
from searchkit.errors import SourceSilent
from searchkit.query.types import Condition, Filter, Query, narrowed
from searchkit.sources import registry
from searchkit.system.deadlines import Patience
from searchkit.text.secrets import mask
from searchkit.types import Session

# Claude Code writes the call down before it makes it; a model may have thought about it for a minute before.
ACTIVE_SECONDS = 120.0
# Of the sessions of a project the newest are looked at: more are hardly open at once.
MOST_OPEN = 5
# Looks at transcripts on disks that may not answer; without them the index says when something was written last.
_LOOKS = Patience(4, 2.0)
BECAUSE_NAMED = "it is the session that asks"
# Claude Code never changes the environment of a server, so that after /clear this may be the session before.
BECAUSE_OPENED = "the client that asks was started in it; exclude_session names another"
BECAUSE_OPEN = "the client that asks has it open"


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was not looked at, and why it is taken for the one that asks."""

    session: str
    because: str


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """What the client says of itself: its session, the call that it makes, its process, and where it works.

    `started_in` is the session that it was started in, which may not be the one that it has open by now.
    """

    session: str = ""
    call: str = ""
    process: int = 0
    started_in: str = ""
    cwd: str = ""
    because: str = BECAUSE_NAMED


def known(caller: Caller, roots: Sequence[Path]) -> Caller:
    """Find out which session a caller is, by its call and then by its process; waits a moment for the transcript."""
    if caller.session.strip() or not (caller.call or caller.process):
        return caller
    subject = " and ".join(map(str, roots))
    with suppress(SourceSilent):
        for app, own in _LOOKS.call(subject, lambda: registry.by_app(roots)).items():
            adapter = registry.adapter(app)
            if session := _LOOKS.call(subject, partial(adapter.session_of_call, caller.call, own)):
                return replace(caller, session=session)
            if session := _LOOKS.call(subject, partial(adapter.session_of_client, caller.process, own)):
                return replace(caller, session=session, because=BECAUSE_OPEN)
    return caller


def left_out(
    engine: Engine, caller: Caller, named: str = "", condition: Condition | None = None, now: float | None = None
) -> list[LeftOut]:
    """Return the sessions that are taken for the one that asks; none where the question itself names a session."""
    if condition and any(one.name == "session" and not one.is_excluded for one in condition.filters):
        return []
    if named.strip():
        return [LeftOut(session=named.strip(), because=BECAUSE_NAMED)]
    if caller.session.strip():
        return [LeftOut(session=caller.session.strip(), because=caller.because)]
    if caller.started_in.strip():
        return [LeftOut(session=caller.started_in.strip(), because=BECAUSE_OPENED)]
    if not caller.cwd:
        return []
    moment = time.time() if now is None else now
    within = Condition(filters=(Filter(name="project", values=(caller.cwd,)),))
    sessions = [one for one in engine.sessions(within, MOST_OPEN) if _is_same(one.project, mask(caller.cwd))]
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
    for root in engine.roots:
        with suppress(SourceSilent):
            written = max(written, _LOOKS.call(str(root), partial(_written, session, root)) or 0)
    return written


def _written(session: Session, root: Path) -> float | None:
    return registry.adapter(registry.app_of(root).name).last_written(session.id, session.project, root)
