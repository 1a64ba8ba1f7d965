"""The tool that lists sessions."""

from msgspec.structs import asdict

from searchkit.engine import Engine
from searchkit.mcp import answers, arguments, hints
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.mcp.quoting import TITLE_CHARACTERS, line, moment
from searchkit.query.filters import among
from searchkit.query.parse import understand
from searchkit.types import Session


def sessions(engine: Engine, asked: arguments.Sessions, caller: Caller) -> answers.Sessions:
    """List sessions, newest first, without the one that asks."""
    query = understand("", filters=among(asdict(asked)))
    left = left_out(engine, caller, asked.exclude_session, query.condition)
    found = engine.sessions(without(query, left).condition)
    end = asked.offset + asked.limit
    page = found[asked.offset : end]
    is_hidden = not found and bool(left) and bool(engine.sessions(query.condition, 1))
    return answers.Sessions(
        sessions=[_session(one) for one in page],
        total=len(found),
        next_offset=end if len(found) > end else None,
        empty_because=None if found else "left_out" if is_hidden else "no_match",
        hints=[] if page or is_hidden else ["There are no more sessions."] if found else hints.unlisted(engine, query),
        left_out=left,
    )


def _session(one: Session) -> answers.Session:
    return answers.Session(
        session=one.id,
        title=line(one.title, TITLE_CHARACTERS),
        project=line(one.project, 4 * TITLE_CHARACTERS),
        branch=line(one.branch, TITLE_CHARACTERS),
        started=moment(one.started),
        ended=moment(one.ended),
        prompts=one.prompts,
        is_gone=one.is_gone,
    )
