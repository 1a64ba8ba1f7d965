"""The tool `fixes`: takes the text of an error and returns how such errors were fixed before."""

import re
from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from searchkit.conversation import types as conversations
from searchkit.engine import Engine
from searchkit.mcp import hints
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.mcp.quoting import (
    PROJECT_CHARACTERS,
    TITLE_CHARACTERS,
    Message,
    Passage,
    join,
    line,
    message,
    message_lines,
    passage,
    passage_lines,
)
from searchkit.mcp.tools.base import Answer, Arguments, ExcludeSession, Project, Tool, given_filters
from searchkit.query.parse import understand
from searchkit.query.types import Group, Query
from searchkit.search import types as searches

# Lines that say what went wrong; of a long error they are what can be found again.
_KEY_LINE = re.compile(r"error|exception|fail|fatal|cannot|can't|denied|refused|not found|undefined|panic|assert", re.I)
MAX_LINES = 4
MAX_CHARACTERS = 400
# Errors whose conversations are looked through for a fix.
CANDIDATES = 15
MAX_SEEN = 3
CALL_CHARACTERS = 200
RESULT_CHARACTERS = 300
CHANGE_CHARACTERS = 400
# The last ones, for what was changed last made it pass.
MAX_CHANGES = 2


class FixesArguments(Arguments, frozen=True, kw_only=True):
    """What `fixes` takes."""

    error: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=20_000,
            description="The text of the error, as it was printed.",
            examples=["sqlite3.OperationalError: database is locked"],
        ),
    ]
    project: Project = ""
    limit: Annotated[int, Meta(ge=1, le=10, description="How many fixes.")] = 3
    exclude_session: ExcludeSession = ""


class Fix(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What failed, what was changed, and the same thing passing later."""

    session: str
    title: str = ""
    project: str = ""
    failed: list[Message] = []
    changes: list[Message] = []
    passed: list[Message] = []
    edits: Annotated[int, Meta(description="How many edits lie between; of many, not all are shown.")] = 0


class FixesAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """Past fixes of such an error; and where it was seen, without a later run that passed, what was said of it."""

    fixes: list[Fix] = []
    seen: list[Passage] = []

    def lines(self) -> Iterator[str]:
        """Write what failed, what was changed and what passed; then where the error was only seen."""
        for fix in self.fixes:
            yield join(fix.project, fix.title, f"session {fix.session}", f"{fix.edits} edits")
            for name, several in (("failed", fix.failed), ("changed", fix.changes), ("passed", fix.passed)):
                yield f"{name}:"
                yield from (row for one in several for row in message_lines(one))
        for found in self.seen:
            yield from passage_lines(found)


def run(engine: Engine, asked: FixesArguments, caller: Caller) -> FixesAnswer:
    """Find errors like this one, and of those that passed later, what was changed between."""
    filters = given_filters(asked)
    # What was printed has minus signs, quotation marks and colons of its own.
    query = understand(key_lines(asked.error), filters=[("is", "error"), *filters], is_pasted=True)
    left = left_out(engine, caller, asked.exclude_session)
    found = engine.search(without(query, left), CANDIDATES, group=Group.NONE)
    fixed = list(_fixes(engine, found, asked.limit))
    of_fixes = {one.uuid for fix in fixed for one in fix.failed}
    seen = [passage(one) for one in found.results if one.best.stored.part.uuid not in of_fixes]
    # That only errors are looked at is no filter of the caller's.
    unfiltered = Query(text=query.text, condition=understand("", filters=filters).condition)
    return FixesAnswer(
        fixes=fixed,
        seen=[] if len(fixed) >= asked.limit else seen[:MAX_SEEN],
        empty_because=hints.reason(found, unfiltered, left),
        hints=hints.respelled(found) if found.results else hints.hints(engine, found, query),
        left_out=left,
    )


def key_lines(error: str) -> str:
    """Return the lines of an error that say what went wrong: the last of them, for a traceback ends in it."""
    lines = [one.strip() for one in error.splitlines() if one.strip()]
    chosen = [one for one in lines if _KEY_LINE.search(one)] or lines
    return "\n".join(chosen[-MAX_LINES:])[-MAX_CHARACTERS:] if len(error) > MAX_CHARACTERS or len(lines) > 1 else error


def _fixes(engine: Engine, found: searches.Answer, limit: int) -> Iterator[Fix]:
    seen: set[tuple[str, str]] = set()
    for one in found.results:
        conversation = engine.show(one.best.stored.part.uuid, 0, 0)
        for fix in conversation.fixes:
            pair = (fix.failed.id, fix.passed.id)
            if fix.failed.part.uuid == one.best.stored.part.uuid and pair not in seen:
                seen.add(pair)
                yield _fix(conversation, fix)
                if len(seen) == limit:
                    return


def _fix(conversation: conversations.Conversation, fix: conversations.Fix) -> Fix:
    session = conversation.session
    return Fix(
        session=session.id if session else "",
        title=line(session.title if session else None, TITLE_CHARACTERS),
        project=line(session.project if session else None, PROJECT_CHARACTERS),
        failed=[message(fix.failed_call, CALL_CHARACTERS), message(fix.failed, RESULT_CHARACTERS)],
        changes=[message(one, CHANGE_CHARACTERS) for one in fix.changes[-MAX_CHANGES:]],
        passed=[message(fix.passed_call, CALL_CHARACTERS), message(fix.passed, RESULT_CHARACTERS)],
        edits=fix.edits,
    )


TOOL = Tool(
    name="fixes",
    title="How an error was fixed before",
    description="Give the text of an error and get how such an error was fixed before: the command that failed, the "
    "edits, and the same command passing later; and where it was merely seen. Use it before debugging.",
    arguments=FixesArguments,
    answer=FixesAnswer,
    run=run,
)
