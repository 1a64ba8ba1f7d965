"""What `search --json` prints: named fields, a promise to the programs that read them."""

from collections.abc import Iterable, Sequence

from searchkit.conversation import resume
from searchkit.conversation.types import Agent, Break, Entry, Folded, Inside, Said
from searchkit.query.parse import filters
from searchkit.render.folded import folded, number
from searchkit.render.no_results import respelled
from searchkit.search.types import Answer, Result, Shown
from searchkit.text.format import stamp
from searchkit.types import Place

# What a thread shows of each part, unless all is wanted: a few thousand characters for a result.
TURN_CHARACTERS = 600
# And so many of the other sessions that hold the same part.
MOST_SESSIONS = 50

Fields = dict[str, object]


def answer(found: Answer, mode: str = "keyword", is_full: bool = False) -> Fields:
    """Show the answer to a search."""
    return {
        "query": {"text": found.query.text, "mode": mode, "filters": filters(found.query.condition)},
        "coverage": {"parts": found.parts, "embedded": found.embedded, "behind": found.pending},
        "total": found.total,
        "took_ms": round(found.seconds * 1000),
        "results": results(found.results, is_full),
        "empty_because": empty_because(found),
        "hidden_by_filters": found.hidden,
        "unseen": found.unseen,
        "missing": list(found.missing),
        "did_you_mean": {word: list(alike) for word, alike in found.suggestions.items()},
        "respelled": dict(found.respelled),
        "notes": [*found.query.notes, *respelled(found)],
        **({"facets": {name: dict(counts) for name, counts in found.facets.items()}} if found.facets else {}),
    }


def results(found: Sequence[Result], is_full: bool = False) -> list[Fields]:
    """Show each result with its thread, cut to a few thousand characters unless all is wanted."""
    return [_result(rank, result, is_full) for rank, result in enumerate(found, 1)]


def empty_because(found: Answer) -> str | None:
    """Say why there is no result: nothing matches, filters keep it away, or it is not indexed yet."""
    if found.results:
        return None
    if found.hidden:
        return "filtered"
    return "not_indexed" if found.pending or not found.parts else "no_match"


def _result(rank: int, result: Result, is_full: bool) -> Fields:
    best, session = result.best, result.session
    stored = best.stored
    home, *others = stored.link.places
    return {
        "rank": rank,
        "score": round(best.ranked.score, 4),
        "channels": _channels(best),
        **_shown(best),
        "session": home.session,
        "agent": home.agent,
        "also_in": _sessions(others, home, is_full),
        "project": session.project if session else stored.link.context.cwd,
        "title": session.title if session else None,
        "agent_app": session.app if session else None,
        "branch": stored.link.context.branch,
        "model": stored.link.context.model,
        "thread": [entry_fields(entry, is_full) for entry in result.thread],
        "others": [_shown(other) for other in result.others],
        "resume": resume.command(session) if session else None,
    }


def _sessions(others: Iterable[Place], home: Place, is_full: bool) -> list[str]:
    """Name the other sessions that hold a part; a listing of the client's is in nearly all of them."""
    sessions = sorted({place.session for place in others if place.session} - {home.session})
    return sessions if is_full else sessions[:MOST_SESSIONS]


def _channels(shown: Shown) -> Fields:
    """Show what each channel that was asked gave."""
    ranked = shown.ranked
    given = {"keyword": ranked.hit.score, "semantic": ranked.meaning, "rerank": ranked.judged}
    return {name: round(value, 4) for name, value in given.items() if value is not None}


def _shown(shown: Shown) -> Fields:
    stored = shown.stored
    return {
        "uuid": stored.part.uuid,
        "part": stored.id,
        "role": stored.part.role.value,
        "kind": stored.part.kind.value,
        "tool": stored.part.tool,
        "language": stored.part.language,
        "is_error": stored.part.is_error,
        "timestamp": stamp(stored.link.time),
        "snippet": shown.passage.text,
        "highlights": [list(span) for span in shown.passage.highlights],
    }


def entry_fields(entry: Entry, is_full: bool) -> Fields:
    """Show one part of a conversation, steps that are folded, a break, or what an agent did."""
    match entry:
        case Said():
            return _said(entry, is_full)
        case Folded():
            return _other(entry.steps[0].uuid, "steps", folded(entry.steps)) | {"steps": number(entry.steps)}
        case Break():
            return _other(entry.record, "break", entry.reason.value, entry.time)
        case Inside():
            within = [entry_fields(one, is_full) for one in entry.entries]
            return _other(entry.agent.caller, "agent", entry.agent.description or "") | {
                "agent": agent_fields(entry.agent),
                "thread": within,
            }


def agent_fields(agent: Agent) -> Fields:
    """Show what is known of an agent."""
    return {
        "agent": agent.name,
        "session": agent.session,
        "type": agent.type,
        "description": agent.description,
        "caller": agent.caller,
    }


def _said(said: Said, is_full: bool) -> Fields:
    part = said.stored.part
    text = part.text if is_full else part.text[:TURN_CHARACTERS]
    return {
        "uuid": part.uuid,
        "role": part.role.value,
        "kind": part.kind.value,
        "tool": part.tool,
        "timestamp": stamp(said.stored.link.time),
        "text": text,
        **({"cut": len(part.text) - len(text)} if len(text) < len(part.text) else {}),
        "hit": said.is_hit,
    }


def _other(uuid: str | None, kind: str, text: str, time: int | None = None) -> Fields:
    """Show what is no part, with the names that a part's values have."""
    role = "assistant" if kind == "steps" else "system"
    return {
        "uuid": uuid,
        "role": role,
        "kind": kind,
        "tool": None,
        "timestamp": stamp(time),
        "text": text,
        "hit": False,
    }
