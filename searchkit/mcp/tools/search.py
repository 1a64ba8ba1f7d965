"""The tool `search`: finds what was said or done, one passage a session."""

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from searchkit.engine import Engine
from searchkit.mcp import quoting
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.mcp.quoting import Passage, passage, passage_lines
from searchkit.mcp.tools.base import (
    After,
    Answer,
    Arguments,
    Before,
    ExcludeSession,
    File,
    Offset,
    Project,
    Query,
    Tool,
    given_filters,
)
from searchkit.query.parse import understand
from searchkit.types import Kind


class SearchArguments(Arguments, frozen=True, kw_only=True):
    """What `search` takes."""

    query: Query
    project: Project = ""
    file: File = ""
    tool: Annotated[str, Meta(max_length=200, description="A tool's name, or the MCP server that offers it.")] = ""
    kind: Annotated[
        list[Kind],
        Meta(max_length=len(Kind), description="Only these kinds of parts; `prompt` is what a person typed."),
    ] = []
    errors_only: Annotated[bool, Meta(description="Only results of tools that failed.")] = False
    after: After = ""
    before: Before = ""
    mode: Annotated[
        Literal["hybrid", "keyword", "semantic"], Meta(description="Ask for words and meaning, or for one of them.")
    ] = "hybrid"
    sort: Annotated[Literal["relevance", "newest", "oldest"], Meta(description="What comes first.")] = "relevance"
    limit: Annotated[int, Meta(ge=1, le=50, description="How many sessions.")] = 5
    offset: Offset = 0
    exclude_session: ExcludeSession = ""


class SearchAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """What `search` found: one result a session, best first."""

    results: list[Passage] = []
    matches: Annotated[
        int, Meta(description="How many parts hold any of the words, or, if none, are near in meaning.")
    ] = 0
    next_offset: int | None = None

    def lines(self) -> Iterator[str]:
        """Write each result."""
        for one in self.results:
            yield from passage_lines(one)


def run(engine: Engine, asked: SearchArguments, caller: Caller) -> SearchAnswer:
    """Find what was said, one result a session."""
    query = understand(asked.query, filters=_filters(asked))
    left = left_out(engine, caller, asked.exclude_session, query.condition)
    end = asked.offset + asked.limit
    found = engine.search(without(query, left), end + 1, sort=asked.sort, mode=asked.mode)
    page = found.results[asked.offset : end]
    return SearchAnswer(
        results=[passage(one) for one in page],
        matches=found.total,
        next_offset=end if len(found.results) > end else None,
        empty_because=quoting.reason(found, query, left),
        hints=quoting.remarks(found) if page else quoting.hints(engine, found, query),
        left_out=left,
    )


def _filters(asked: SearchArguments) -> list[tuple[str, str]]:
    filters = given_filters(asked)
    return [*filters, ("is", "error")] if asked.errors_only else filters


TOOL = Tool(
    name="search",
    title="Search earlier sessions",
    description="Find what was said or done in earlier Claude Code sessions, by words and meaning. Use it when the "
    "user refers to earlier work, or before solving what may have been solved. Returns one passage a session with "
    "uuid, session, project, time and what was asked; then `show` with that uuid as `id`. When empty, "
    "`empty_because` and `hints` say why.",
    arguments=SearchArguments,
    answer=SearchAnswer,
    run=run,
)
