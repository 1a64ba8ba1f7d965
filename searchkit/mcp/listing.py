"""The tool that lists sessions."""

from searchkit.engine import Engine
from searchkit.mcp import answers, arguments, why
from searchkit.mcp.caller import Caller
from searchkit.mcp.saying import TITLE_CHARACTERS, line, moment
from searchkit.query import understand
from searchkit.types import Session


def sessions(engine: Engine, asked: arguments.Sessions, caller: Caller) -> answers.Sessions:
    """List sessions, newest first; that which asks is listed, too."""
    given = [
        ("project", asked.project),
        ("branch", asked.branch),
        ("file", asked.file),
        ("after", asked.after),
        ("before", asked.before),
        ("title", asked.title),
    ]
    query = understand("", filters=[(name, value) for name, value in given if value.strip()])
    found = engine.sessions(query.condition)
    end = asked.offset + asked.limit
    page = found[asked.offset : end]
    return answers.Sessions(
        sessions=[_session(one) for one in page],
        total=len(found),
        next_offset=end if len(found) > end else None,
        empty_because=None if found else "no_match",
        hints=[] if page else ["There are no more sessions."] if found else why.unlisted(engine, query),
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
