"""The tool `files`: finds the conversations that read or changed a file."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from searchkit.backends.base import Order
from searchkit.engine import Engine
from searchkit.mcp import quoting
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.mcp.quoting import (
    PROJECT_CHARACTERS,
    TITLE_CHARACTERS,
    Message,
    asked_in,
    asked_lines,
    join,
    line,
    message_lines,
    moment,
)
from searchkit.mcp.tools.base import (
    After,
    Answer,
    Arguments,
    Before,
    ExcludeSession,
    Offset,
    Project,
    Tool,
    given_filters,
)
from searchkit.query.parse import understand
from searchkit.query.types import Mode
from searchkit.search.types import Result
from searchkit.sources.tools import changing
from searchkit.types import Kind

TOUCH_CHARACTERS = 160
MAX_TOUCHES = 2
# Of a path that nothing has, the last parts are looked for.
MAX_PARTS = 3


class FilesArguments(Arguments, frozen=True, kw_only=True):
    """What `files` takes."""

    path: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1_000,
            description="A file, by its path or by the end of it.",
            examples=["src/shop/cookie.py"],
        ),
    ]
    changed_only: Annotated[bool, Meta(description="Only where it was edited or written, not merely read.")] = False
    project: Project = ""
    after: After = ""
    before: Before = ""
    limit: Annotated[int, Meta(ge=1, le=20, description="How many conversations.")] = 5
    offset: Offset = 0
    exclude_session: ExcludeSession = ""


class TouchingConversation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation that touched a file, how, and why."""

    session: str
    title: str = ""
    project: str = ""
    branch: str = ""
    asked: str = ""
    touches: list[Message] = []


class FilesAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """Conversations that touched a file, the latest first."""

    path: Annotated[str, Meta(description="What was looked for: where nothing has the whole path, its end.")] = ""
    conversations: list[TouchingConversation] = []
    next_offset: int | None = None

    def lines(self) -> Iterator[str]:
        """Write each conversation with its calls."""
        for one in self.conversations:
            yield join(one.project, one.title, f"session {one.session}")
            yield from asked_lines(one.asked)
            yield from (row for touch in one.touches for row in message_lines(touch))


def run(engine: Engine, asked: FilesArguments, caller: Caller) -> FilesAnswer:
    """Find the conversations that touched a file, the latest first."""
    left = left_out(engine, caller, asked.exclude_session)
    end = asked.offset + asked.limit
    for path in _paths(asked.path):
        tools = [("tool", tool) for tool in changing()] if asked.changed_only else []
        common = given_filters(asked)
        query = understand("", filters=[("file", path), ("kind", Kind.TOOL_CALL.value), *tools, *common])
        found = engine.search(without(query, left), end + 1, sort=Order.NEWEST, mode=Mode.KEYWORD)
        if found.results:
            break
    page = found.results[asked.offset : end]
    return FilesAnswer(
        path=path,
        conversations=[_conversation(one) for one in page],
        next_offset=end if len(found.results) > end else None,
        empty_because=None if found.results else "no_match",
        hints=[] if page else quoting.unknown(engine, query),
        left_out=left,
    )


def _conversation(found: Result) -> TouchingConversation:
    session = found.session
    several = (found.best, *found.others)[:MAX_TOUCHES]
    return TouchingConversation(
        session=found.best.stored.link.places[0].session or "",
        title=line(session.title if session else None, TITLE_CHARACTERS),
        project=line(session.project if session else None, PROJECT_CHARACTERS),
        branch=line(found.best.stored.link.context.branch, TITLE_CHARACTERS),
        asked=asked_in(found),
        touches=[
            Message(
                uuid=one.stored.part.uuid,
                tool=line(one.stored.part.tool, TITLE_CHARACTERS),
                time=moment(one.stored.link.time),
                text=line(one.stored.part.text, TOUCH_CHARACTERS),
            )
            for one in several
        ],
    )


def _paths(path: str) -> list[str]:
    """Return what a path may be called elsewhere: all of it, then its last parts."""
    whole = path.strip().removeprefix("./")
    parts = [part for part in whole.replace("\\", "/").split("/") if part]
    ends = ["/".join(parts[-number:]) for number in range(min(MAX_PARTS, len(parts) - 1), 0, -1)]
    return list(dict.fromkeys([whole, *ends]))


TOOL = Tool(
    name="files",
    title="Who touched a file",
    description="Find the conversations that read or changed a file, the latest first, with what was asked and the "
    "calls that touched it. Use it to learn why a file is as it is.",
    arguments=FilesArguments,
    answer=FilesAnswer,
    run=run,
)
