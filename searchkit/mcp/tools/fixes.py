"""The tool `fixes`: takes the text of an error and returns how such errors were fixed before."""

import math
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from searchkit.backends.base import Backend, Stored
from searchkit.conversation.mending import FLOOR, Likeness, Mended, Telling, key_lines, mended, telling
from searchkit.engine import Engine
from searchkit.mcp import quoting
from searchkit.mcp.caller import Caller, LeftOut, left_out, without
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
from searchkit.query.types import Clause, Group, Match, Mode, Query, Term
from searchkit.search import types as searches
from searchkit.sources.tools import is_refusal
from searchkit.types import Kind

# What is compared with the error, of each search; and of what tells of the same error, what is looked at for a fix.
CANDIDATES = 30
MOST_SEEN = 15
# Where the error itself was seen, what is only like it is another one.
MARGIN = 0.1
# The rarest words of an error are looked for by themselves: in a long error they drown.
RAREST_WORDS = 8
MAX_SEEN = 3
CALL_CHARACTERS = 200
RESULT_CHARACTERS = 300
CHANGE_CHARACTERS = 400
# The last ones, for what was changed last made it pass.
MAX_CHANGES = 2
# What is said where nothing is found, by the reason.
_SAID = {
    "not_known": [
        "This error is not known: nothing that failed, and no prompt, says it. `search` finds what is like it."
    ],
    "filtered": ["This error is known elsewhere: only the filters keep it away."],
    "left_out": ["This error is known only in the session that asks."],
}


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


class _Seen(NamedTuple):
    """A result or a prompt that tells of the same error, how much of it, and where in its text."""

    result: searches.Result
    likeness: Likeness

    @property
    def stored(self) -> Stored:
        return self.result.best.stored


def run(engine: Engine, asked: FixesArguments, caller: Caller) -> FixesAnswer:
    """Find where this error was seen before, and of what passed later, what was changed between."""
    filters = given_filters(asked)
    left = left_out(engine, caller, asked.exclude_session)
    error = engine.ask(partial(_telling, asked.error))
    searched = list(_searched(engine, key_lines(asked.error), error, filters, left))
    same = _same(searched, error)
    fixed = list(_fixes(engine, same, error, asked.limit))
    of_fixes = {one.uuid for fix in fixed for one in fix.failed}
    seen = [passage(one.result) for one in same if one.stored.part.uuid not in of_fixes]
    because = None if same else _reason(engine, asked, error, searched[0], left)
    return FixesAnswer(
        fixes=fixed,
        seen=[] if len(fixed) >= asked.limit else seen[:MAX_SEEN],
        empty_because=because,
        hints=[] if same else [*_SAID.get(because or "", ()), *_more(engine, searched[0])],
        left_out=left,
    )


def _reason(
    engine: Engine, asked: FixesArguments, error: Telling, found: searches.Answer, left: Sequence[LeftOut]
) -> quoting.Reason:
    """Say why nothing tells of an error; it is only not known where nothing was kept away that does."""
    filters = given_filters(asked)
    # That only errors are looked at is no filter of the caller's.
    unfiltered = Query(text=found.query.text, condition=understand("", filters=filters).condition)
    if quoting.reason(found, unfiltered, left) == "not_indexed":
        return "not_indexed"
    if (left or filters) and _same(list(_searched(engine, key_lines(asked.error), error, [], [])), error):
        return "filtered" if filters else "left_out"
    return "not_known"


def _more(engine: Engine, found: searches.Answer) -> list[str]:
    return [] if found.results else quoting.hints(engine, found, found.query)


def _telling(error: str, backend: Backend) -> Telling:
    parts = backend.words.reach().searchable

    @cache
    def rarity(word: str) -> float:
        # As it is written: `shapely` is no form of "shape" here, and a name such as `read_all.py` counts as a whole.
        term = Term(text=word, match=Match.PHRASE)
        held = backend.words.search(Query(text=word, clauses=(Clause(terms=(term,)),)), 1).total
        return math.log(1 + (max(parts - held, 0) + 0.5) / (held + 0.5))

    return telling(error, rarity)


def _searched(
    engine: Engine, text: str, error: Telling, filters: Sequence[tuple[str, str]], left: Sequence[LeftOut]
) -> Iterator[searches.Answer]:
    """Look for the error among what failed, as it is and by its rarest words; and by these in what people typed."""
    rarest = " ".join(error.rarest[:RAREST_WORDS])
    asked = [
        (text, ("is", "error"), Mode.HYBRID),
        (rarest, ("is", "error"), Mode.KEYWORD),
        (rarest, ("kind", Kind.PROMPT.value), Mode.KEYWORD),
    ]
    for words, kept, mode in asked:
        # What was printed has minus signs, quotation marks and colons of its own.
        query = understand(words, filters=[kept, *filters], is_pasted=True)
        yield engine.search(without(query, left), CANDIDATES, mode=mode, group=Group.NONE)


def _same(searched: Sequence[searches.Answer], error: Telling) -> list[_Seen]:
    """Return what tells of the same error, what holds most of it first; what the client said itself is left out."""
    results = {one.best.stored.id: one for answer in searched for one in answer.results}
    seen = [
        _Seen(one, error.likeness(one.best.stored.part.text))
        for one in results.values()
        if not is_refusal(one.best.stored.part.text)
    ]
    floor = max([FLOOR, *(one.likeness.share - MARGIN for one in seen)])
    known = [one for one in seen if one.likeness.share >= floor]
    return sorted(known, key=lambda one: -round(one.likeness.share, 2))[:MOST_SEEN]


def _fixes(engine: Engine, same: Sequence[_Seen], error: Telling, limit: int) -> Iterator[Fix]:
    passed: set[tuple[str, ...]] = set()
    for one in same:
        fix = engine.ask(partial(_mended, one.stored, error))
        # A command that failed several times is mended once.
        ends = tuple(stored.id for stored in fix.passed) if fix else ()
        if fix and ends not in passed:
            passed.add(ends)
            yield _fix(one, fix)
            if len(passed) == limit:
                return


def _mended(seen: Stored, error: Telling, backend: Backend) -> Mended | None:
    return mended(backend.catalog, seen, error)


def _fix(seen: _Seen, fix: Mended) -> Fix:
    session = seen.result.session
    *calls, failed = fix.failed
    # A long output is quoted where it tells of the error.
    begin = seen.likeness.place if seen.likeness.place > RESULT_CHARACTERS // 2 else 0
    *passed_calls, passed = fix.passed
    return Fix(
        session=session.id if session else "",
        title=line(session.title if session else None, TITLE_CHARACTERS),
        project=line(session.project if session else None, PROJECT_CHARACTERS),
        failed=[*(message(one, CALL_CHARACTERS) for one in calls), message(failed, RESULT_CHARACTERS, begin)],
        changes=[message(one, CHANGE_CHARACTERS) for one in fix.changes[-MAX_CHANGES:]],
        passed=[*(message(one, CALL_CHARACTERS) for one in passed_calls), message(passed, RESULT_CHARACTERS)],
        edits=fix.edits,
    )


TOOL = Tool(
    name="fixes",
    title="How an error was fixed before",
    description="Give the text of an error and get how such an error was fixed before: the command that failed, the "
    "edits, and the same command passing later; and where it was merely seen; or that it is not known. Use it before "
    "debugging.",
    arguments=FixesArguments,
    answer=FixesAnswer,
    run=run,
)
