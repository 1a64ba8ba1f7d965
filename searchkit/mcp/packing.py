"""The tool that packs what earlier sessions say about something into so many tokens."""

from datetime import datetime

import msgspec

from searchkit import tokens
from searchkit.dates import LOCAL
from searchkit.engine import Engine
from searchkit.mcp import answers, arguments, why
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.query import understand
from searchkit.render.context import markdown

# JSON escapes line ends and quotation marks, and what stands around the text costs something, too: of three packs
# of 300 to 6,000 tokens none came out above the first share.
SHARES = (0.85, 0.7, 0.5)


def context(engine: Engine, asked: arguments.Context, caller: Caller) -> answers.Context:
    """Pack the best passages; the whole answer takes no more tokens than are wanted."""
    given = (("project", asked.project), ("file", asked.file), ("after", asked.after), ("before", asked.before))
    filters = [(name, value) for name, value in given if value.strip()]
    query = understand(asked.query, now=datetime.now(LOCAL), filters=filters)
    left = left_out(engine, caller, asked.exclude_session, query.condition)
    for share in SHARES:
        pack = engine.context(without(query, left), int(asked.max_tokens * share))
        found = answers.Context(
            text=markdown(pack) if pack.excerpts else "",
            tokens=asked.max_tokens,
            max_tokens=asked.max_tokens,
            uuids=[one.shown.stored.part.uuid for one in pack.excerpts],
            empty_because=why.reason(pack.answer, query, left),
            hints=[] if pack.excerpts else why.hints(engine, pack.answer, query),
            left_out=left,
        )
        cost = tokens.count(msgspec.json.encode(found).decode())
        if cost <= asked.max_tokens:
            break
    return msgspec.structs.replace(found, tokens=cost)
