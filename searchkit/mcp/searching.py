"""The tools that search: what was said about something, and who touched a file."""

from msgspec.structs import replace

from searchkit.backends.base import TYPED, Order
from searchkit.conversation.types import Said
from searchkit.engine import Engine
from searchkit.mcp import answers, arguments, hints
from searchkit.mcp.caller import Caller, left_out, without
from searchkit.mcp.quoting import ASKED_CHARACTERS, TITLE_CHARACTERS, line, message, moment
from searchkit.query.parse import understand
from searchkit.query.types import Mode
from searchkit.search.snippets import PASSAGE_CHARACTERS
from searchkit.search.types import Result, Shown
from searchkit.sources.tools import changing
from searchkit.types import Kind, Role

# Of passages beside the best one: one more per session, and shorter.
MOST_OTHERS = 1
OTHER_CHARACTERS = 120
TOUCH_CHARACTERS = 160
MOST_TOUCHES = 2
# Of a path that nothing has, the last parts are looked for.
MOST_PARTS = 3


def search(engine: Engine, asked: arguments.Search, caller: Caller) -> answers.Search:
    """Find what was said, one result a session."""
    query = understand(asked.query, filters=_filters(asked))
    left = left_out(engine, caller, asked.exclude_session, query.condition)
    found = engine.search(
        without(query, left), asked.offset + asked.limit + 1, order=Order(asked.sort), mode=Mode(asked.mode)
    )
    page = found.results[asked.offset : asked.offset + asked.limit]
    return answers.Search(
        results=[result(one) for one in page],
        matches=found.total,
        next_offset=asked.offset + asked.limit if len(found.results) > asked.offset + asked.limit else None,
        empty_because=hints.reason(found, query, left),
        hints=hints.remarks(found) if page else hints.hints(engine, found, query),
        left_out=left,
    )


def files(engine: Engine, asked: arguments.Files, caller: Caller) -> answers.Files:
    """Find the conversations that touched a file, the latest first."""
    left = left_out(engine, caller, asked.exclude_session)
    for path in _paths(asked.path):
        tools = [("tool", tool) for tool in changing()] if asked.changed_only else []
        filters = [("file", path), ("kind", Kind.TOOL_CALL.value), *tools, *_common(asked)]
        query = understand("", filters=filters)
        found = engine.search(
            without(query, left), asked.offset + asked.limit + 1, order=Order.NEWEST, mode=Mode.KEYWORD
        )
        if found.results:
            break
    page = found.results[asked.offset : asked.offset + asked.limit]
    return answers.Files(
        path=path,
        conversations=[_touched(one) for one in page],
        next_offset=asked.offset + asked.limit if len(found.results) > asked.offset + asked.limit else None,
        empty_because=None if found.results else "no_match",
        hints=[] if page else hints.unknown(engine, query),
        left_out=left,
    )


def result(found: Result) -> answers.Found:
    """Show a result."""
    best, session = found.best, found.session
    stored = best.stored
    home = stored.link.places[0]
    shown = _passage(best)
    return answers.Found(
        uuid=shown.uuid,
        kind=shown.kind,
        role=shown.role,
        tool=shown.tool,
        is_error=shown.is_error,
        time=shown.time,
        text=shown.text,
        session=home.session or "",
        title=line(session.title if session else None, TITLE_CHARACTERS),
        project=line(session.project if session else stored.link.context.cwd, 4 * TITLE_CHARACTERS),
        branch=line(stored.link.context.branch, TITLE_CHARACTERS),
        agent=home.agent or "",
        asked=asked_in(found),
        score=round(best.ranked.score, 3),
        others=[_passage(one, OTHER_CHARACTERS) for one in found.others[:MOST_OTHERS]],
    )


def asked_in(found: Result) -> str:
    """Return what was typed in the turn that a result is from, unless that is the result."""
    typed = (
        entry.stored
        for entry in found.thread
        if isinstance(entry, Said) and entry.stored.part.role is Role.USER and entry.stored.part.kind in TYPED
    )
    first = next(typed, None)
    return "" if first is None or first.id == found.best.stored.id else line(first.part.text, ASKED_CHARACTERS)


def _filters(asked: arguments.Search) -> list[tuple[str, str]]:
    filters = [*_common(asked), *(("kind", kind.value) for kind in asked.kind)]
    filters += [(name, value) for name, value in (("file", asked.file), ("tool", asked.tool)) if value.strip()]
    return [*filters, ("is", "error")] if asked.errors_only else filters


def _common(asked: arguments.Search | arguments.Files) -> list[tuple[str, str]]:
    given = (("project", asked.project), ("after", asked.after), ("before", asked.before))
    return [(name, value) for name, value in given if value.strip()]


def _passage(shown: Shown, most: int = PASSAGE_CHARACTERS) -> answers.Message:
    return replace(message(shown.stored, 0), text=line(shown.passage.text, most), cut=0)


def _touched(found: Result) -> answers.Touched:
    session = found.session
    several = (found.best, *found.others)[:MOST_TOUCHES]
    return answers.Touched(
        session=found.best.stored.link.places[0].session or "",
        title=line(session.title if session else None, TITLE_CHARACTERS),
        project=line(session.project if session else None, 4 * TITLE_CHARACTERS),
        branch=line(found.best.stored.link.context.branch, TITLE_CHARACTERS),
        asked=asked_in(found),
        touches=[
            answers.Message(
                uuid=one.stored.part.uuid,
                tool=line(one.stored.part.tool, TITLE_CHARACTERS),
                time=moment(one.stored.link.time),
                text=line(one.stored.part.text, TOUCH_CHARACTERS),
            )
            for one in several
        ],
    )


def _paths(path: str) -> list[str]:
    """Return what a path may have been called elsewhere: all of it, then its last parts."""
    whole = path.strip().removeprefix("./")
    parts = [part for part in whole.replace("\\", "/").split("/") if part]
    ends = ["/".join(parts[-number:]) for number in range(min(MOST_PARTS, len(parts) - 1), 0, -1)]
    return list(dict.fromkeys([whole, *ends]))
