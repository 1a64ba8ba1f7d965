"""The tool that is given an error and returns how such were mended before."""

import re
from collections.abc import Iterator

from searchkit.conversation.types import Conversation, Fix
from searchkit.engine import Engine
from searchkit.mcp import answers, arguments, hints
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.mcp.quoting import TITLE_CHARACTERS, line, message
from searchkit.mcp.searching import result
from searchkit.query.parse import understand
from searchkit.query.types import Query
from searchkit.search.types import Answer

# Lines that say what went wrong; of a long error they are what can be found again.
_TELLING = re.compile(r"error|exception|fail|fatal|cannot|can't|denied|refused|not found|undefined|panic|assert", re.I)
MOST_LINES = 4
MOST_ASKED = 400
# Errors whose conversations are looked through for a fix.
CANDIDATES = 15
MOST_SEEN = 3
CALL_CHARACTERS = 200
RESULT_CHARACTERS = 300
CHANGE_CHARACTERS = 400
# The last ones, for what was changed last made it pass.
MOST_CHANGES = 2


def fixes(engine: Engine, asked: arguments.Fixes, caller: Caller) -> answers.Fixes:
    """Find errors like this one, and of those that passed later, what was changed between."""
    filters = [("is", "error"), *([("project", asked.project)] if asked.project.strip() else [])]
    # What was printed has minus signs, quotation marks and colons of its own.
    query = understand(telling(asked.error), filters=filters, is_pasted=True)
    left = left_out(engine, caller, asked.exclude_session)
    found = engine.search(without(query, left), CANDIDATES, group="none")
    mended = list(_mended(engine, found, asked.limit))
    of_fixes = {one.uuid for fix in mended for one in fix.failed}
    seen = [result(one) for one in found.results if one.best.stored.part.uuid not in of_fixes]
    # That only errors are looked at is no filter of who asks.
    unfiltered = Query(text=query.text, condition=understand("", filters=filters[1:]).condition)
    return answers.Fixes(
        fixes=mended,
        seen=[] if len(mended) >= asked.limit else seen[:MOST_SEEN],
        empty_because=hints.reason(found, unfiltered, left),
        hints=hints.respelled(found) if found.results else hints.hints(engine, found, query),
        left_out=left,
    )


def telling(error: str) -> str:
    """Return the lines of an error that say what went wrong: the last of them, for a traceback ends in it."""
    lines = [one.strip() for one in error.splitlines() if one.strip()]
    chosen = [one for one in lines if _TELLING.search(one)] or lines
    return "\n".join(chosen[-MOST_LINES:])[-MOST_ASKED:] if len(error) > MOST_ASKED or len(lines) > 1 else error


def _mended(engine: Engine, found: Answer, limit: int) -> Iterator[answers.Fix]:
    told: set[tuple[str, str]] = set()
    for one in found.results:
        conversation = engine.show(one.best.stored.part.uuid, 0, 0)
        for fix in conversation.fixes:
            pair = (fix.failed.id, fix.passed.id)
            if fix.failed.part.uuid == one.best.stored.part.uuid and pair not in told:
                told.add(pair)
                yield _fix(conversation, fix)
                if len(told) == limit:
                    return


def _fix(conversation: Conversation, fix: Fix) -> answers.Fix:
    session = conversation.session
    return answers.Fix(
        session=session.id if session else "",
        title=line(session.title if session else None, TITLE_CHARACTERS),
        project=line(session.project if session else None, 4 * TITLE_CHARACTERS),
        failed=[message(fix.failed_call, CALL_CHARACTERS), message(fix.failed, RESULT_CHARACTERS)],
        changes=[message(one, CHANGE_CHARACTERS) for one in fix.changes[-MOST_CHANGES:]],
        passed=[message(fix.passed_call, CALL_CHARACTERS), message(fix.passed, RESULT_CHARACTERS)],
        edits=fix.edits,
    )
