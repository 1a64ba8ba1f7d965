"""The tool `context`: packs what earlier sessions say about something into so many tokens."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from searchkit.context.markdown import markdown
from searchkit.engine import Engine
from searchkit.errors import TooFewTokens, UsageError
from searchkit.mcp import quoting
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.mcp.tools.base import (
    After,
    Answer,
    Arguments,
    Before,
    ExcludeSession,
    File,
    Project,
    Query,
    Tool,
    given_filters,
)
from searchkit.query.parse import understand
from searchkit.text import tokens

# JSON escapes line ends and quotation marks, and what stands around the text costs something, too: of three packs
# of 300 to 6,000 tokens none came out above the first share.
SHARES = (0.85, 0.7, 0.5)


class ContextArguments(Arguments, frozen=True, kw_only=True):
    """What `context` takes."""

    query: Query
    max_tokens: Annotated[int, Meta(ge=100, le=20_000, description="How many tokens the answer may take.")] = 1_500
    project: Project = ""
    file: File = ""
    after: After = ""
    before: Before = ""
    exclude_session: ExcludeSession = ""


class ContextAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """The best passages, each with what led to it, what came of it, and where it is from."""

    text: str = ""
    tokens: Annotated[int, Meta(description="What this whole answer takes, a little generously.")] = 0
    max_tokens: int = 0
    uuids: Annotated[list[str], Meta(description="The messages that are quoted, in order.")] = []

    def lines(self) -> Iterator[str]:
        """Write the pack as it is."""
        yield self.text


def run(engine: Engine, asked: ContextArguments, caller: Caller) -> ContextAnswer:
    """Pack the best passages; the whole answer takes no more tokens than are wanted."""
    query = understand(asked.query, filters=given_filters(asked))
    left = left_out(engine, caller, asked.exclude_session, query.condition)

    def pack(size: int) -> ContextAnswer:
        pack = engine.context(without(query, left), size)
        found = ContextAnswer(
            text=markdown(pack) if pack.excerpts else "",
            max_tokens=asked.max_tokens,
            uuids=[one.shown.stored.part.uuid for one in pack.excerpts],
            empty_because=quoting.reason(pack.answer, query, left),
            hints=[] if pack.excerpts else quoting.hints(engine, pack.answer, query),
            left_out=left,
        )
        return replace(found, tokens=_cost(found))

    for share in SHARES:
        try:
            found = pack(int(asked.max_tokens * share))
        except TooFewTokens as refused:
            found = pack(refused.least)
            if found.tokens > asked.max_tokens:
                hint = f"use max_tokens={found.tokens} or more"
                raise UsageError(f"no passage fits into {asked.max_tokens:,} tokens", hint) from refused
        if found.tokens <= asked.max_tokens:
            break
    return found


def _cost(found: ContextAnswer) -> int:
    """Count the tokens of an answer, the number that says how many they are included."""
    return tokens.count(msgspec.json.encode(replace(found, tokens=found.max_tokens)).decode())


TOOL = Tool(
    name="context",
    title="Gather context from earlier sessions",
    description="Gather what earlier sessions say about a topic into one text within a token budget: the best passages "
    "with the question, the steps and the outcome of each, and uuids. Use it to brief yourself or a subagent "
    "before work; use `search` to find one thing.",
    arguments=ContextArguments,
    answer=ContextAnswer,
    run=run,
)
