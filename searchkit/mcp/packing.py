"""The tool that packs what earlier sessions say about something into so many tokens."""

import msgspec
from msgspec.structs import asdict, replace

from searchkit.engine import Engine
from searchkit.errors import TooFewTokens, UsageError
from searchkit.mcp import answers, arguments, hints
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.query.filters import among
from searchkit.query.parse import understand
from searchkit.render.context import markdown
from searchkit.text import tokens

# JSON escapes line ends and quotation marks, and what stands around the text costs something, too: of three packs
# of 300 to 6,000 tokens none came out above the first share.
SHARES = (0.85, 0.7, 0.5)


def context(engine: Engine, asked: arguments.Context, caller: Caller) -> answers.Context:
    """Pack the best passages; the whole answer takes no more tokens than are wanted."""
    query = understand(asked.query, filters=among(asdict(asked)))
    left = left_out(engine, caller, asked.exclude_session, query.condition)

    def packed(size: int) -> answers.Context:
        pack = engine.context(without(query, left), size)
        found = answers.Context(
            text=markdown(pack) if pack.excerpts else "",
            max_tokens=asked.max_tokens,
            uuids=[one.shown.stored.part.uuid for one in pack.excerpts],
            empty_because=hints.reason(pack.answer, query, left),
            hints=[] if pack.excerpts else hints.hints(engine, pack.answer, query),
            left_out=left,
        )
        return replace(found, tokens=_cost(found))

    for share in SHARES:
        try:
            found = packed(int(asked.max_tokens * share))
        except TooFewTokens as refused:
            found = packed(refused.least)
            if found.tokens > asked.max_tokens:
                hint = f"use max_tokens={found.tokens} or more"
                raise UsageError(f"no passage fits into {asked.max_tokens:,} tokens", hint) from refused
        if found.tokens <= asked.max_tokens:
            break
    return found


def _cost(found: answers.Context) -> int:
    """Count all of an answer, the number that says how much that is included."""
    return tokens.count(msgspec.json.encode(replace(found, tokens=found.max_tokens)).decode())
