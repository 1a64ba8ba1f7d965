"""The tool `sessions`: lists sessions."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from searchkit.engine import Engine
from searchkit.mcp import quoting
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.mcp.quoting import PROJECT_CHARACTERS, TITLE_CHARACTERS, join, line, moment
from searchkit.mcp.tools.base import (
    After,
    Answer,
    Arguments,
    Before,
    ExcludeSession,
    File,
    Offset,
    Project,
    Tool,
    given_filters,
)
from searchkit.query.filters import BY_NAME
from searchkit.query.parse import understand
from searchkit.types import Session


class SessionsArguments(Arguments, frozen=True, kw_only=True):
    """What `sessions` takes."""

    title: Annotated[str, Meta(max_length=1_000, description="Words of the title.")] = ""
    project: Project = ""
    branch: Annotated[str, Meta(max_length=1_000, description=BY_NAME["branch"].help)] = ""
    file: File = ""
    after: After = ""
    before: Before = ""
    limit: Annotated[int, Meta(ge=1, le=50, description="How many sessions.")] = 10
    offset: Offset = 0
    exclude_session: ExcludeSession = ""


class ListedSession(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session."""

    session: str
    title: str = ""
    project: str = ""
    branch: str = ""
    started: str = ""
    ended: str = ""
    prompts: int = 0
    is_gone: Annotated[bool, Meta(description="Its transcript is no longer on disk.")] = False


class SessionsAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """Sessions, newest first."""

    sessions: list[ListedSession] = []
    total: int = 0
    next_offset: int | None = None

    def lines(self) -> Iterator[str]:
        """Write a line for each session, and how many there are."""
        yield from (join(one.ended, one.project, one.title, f"session {one.session}") for one in self.sessions)
        yield f"{self.total} in all"


def run(engine: Engine, asked: SessionsArguments, caller: Caller) -> SessionsAnswer:
    """List sessions, newest first, without the one that asks."""
    filters = given_filters(asked)
    query = understand("", filters=filters)
    left = left_out(engine, caller, asked.exclude_session, query.condition)
    found = engine.sessions(without(query, left).condition)
    end = asked.offset + asked.limit
    page = found[asked.offset : end]
    is_hidden = not found and bool(left) and bool(engine.sessions(query.condition, 1))
    return SessionsAnswer(
        sessions=[_session(one) for one in page],
        total=len(found),
        next_offset=end if len(found) > end else None,
        empty_because=None if found else "left_out" if is_hidden else "no_match",
        hints=[]
        if page or is_hidden
        else ["There are no more sessions."]
        if found
        else quoting.unlisted(engine, query),
        left_out=left,
    )


def _session(one: Session) -> ListedSession:
    return ListedSession(
        session=one.id,
        title=line(one.title, TITLE_CHARACTERS),
        project=line(one.project, PROJECT_CHARACTERS),
        branch=line(one.branch, TITLE_CHARACTERS),
        started=moment(one.started),
        ended=moment(one.ended),
        prompts=one.prompts,
        is_gone=one.is_gone,
    )


TOOL = Tool(
    name="sessions",
    title="List sessions",
    description="List earlier sessions, newest first, by title, project, branch, file or time. Use it for questions "
    "such as what was worked on last week.",
    arguments=SessionsArguments,
    answer=SessionsAnswer,
    run=run,
)
