"""What `--json` prints: named fields, a promise to the programs that read them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from searchkit.errors import SearchkitError
from searchkit.render.plain import stamp
from searchkit.render.snippet import snippet
from searchkit.results import Result, Status
from searchkit.resume import command
from searchkit.types import Counts, Figures, Finding, Grouping, Session

if TYPE_CHECKING:
    from searchkit.ingest import Summary

Fields = dict[str, object]


def error(raised: SearchkitError) -> Fields:
    """Show what went wrong."""
    return {"error": {"kind": raised.kind, "message": raised.message, "hint": raised.hint}}


def search(words: str, results: list[Result], counts: Counts, pending: int, took_ms: float) -> Fields:
    """Show the answer to a search."""
    parts = sum(counts.parts.values())
    return {
        "query": {"text": words, "mode": "keyword", "filters": {}},
        "coverage": {"parts": parts, "embedded": 0, "behind": parts},
        "total": len(results),
        "took_ms": round(took_ms, 1),
        "results": [_result(rank, result, words) for rank, result in enumerate(results, 1)],
        "empty_because": None if results else "no_match" if parts and not pending else "not_indexed",
    }


def sessions(found: list[Session]) -> Fields:
    """Show a list of sessions."""
    return {
        "sessions": [
            {
                "session": session.id,
                "title": session.title,
                "project": session.project,
                "branch": session.branch,
                "started": stamp(session.started),
                "ended": stamp(session.ended),
                "records": session.records,
                "prompts": session.prompts,
                "agents": session.agents,
                "is_gone": session.is_gone,
            }
            for session in found
        ]
    }


def resume(session: Session, has_directory: bool) -> Fields:
    """Show how a session is reopened."""
    return {
        "session": session.id,
        "title": session.title,
        "project": session.project,
        "resume": command(session),
        "has_directory": has_directory,
        "is_gone": session.is_gone,
    }


def stats(total: Figures, groups: Mapping[Grouping, Sequence[tuple[str, Figures]]]) -> Fields:
    """Show figures; what has no label, such as a day, is under null."""
    return {
        "total": _figures(total),
        "groups": {
            by.value: [{"label": label or None, **_figures(figures)} for label, figures in found]
            for by, found in groups.items()
        },
    }


def summary(done: "Summary", seconds: float) -> Fields:
    """Show what an index run did."""
    return {
        "files": done.files,
        "bytes": done.bytes,
        "records": done.records,
        "gone": done.gone,
        "skipped": dict(done.skipped),
        "left_out": dict(done.left_out),
        "failures": list(done.failures),
        "seconds": round(seconds, 2),
    }


def status(found: Status) -> Fields:
    """Show what is indexed and how far."""
    return {
        "index": found.index,
        "roots": list(found.roots),
        "counts": msgspec.to_builtins(found.counts),
        "index_bytes": found.index_bytes,
        "behind": None if found.unreachable else {"files": found.files_behind, "bytes": found.bytes_behind},
        "unreachable": found.unreachable,
    }


def findings(found: list[Finding]) -> Fields:
    """Show everything that is wrong."""
    return {"findings": [msgspec.to_builtins(finding) for finding in found]}


def _figures(figures: Figures) -> Fields:
    return {
        "sessions": figures.sessions,
        "prompts": figures.prompts,
        "responses": figures.responses,
        "calls": figures.calls,
        "failed": figures.failed,
        "tokens": {
            "input": figures.input,
            "output": figures.output,
            "cache_read": figures.cache_read,
            "cache_write": figures.cache_write,
        },
        "cost": figures.cost,
    }


def _result(rank: int, result: Result, words: str) -> Fields:
    stored, session = result.hit.stored, result.session
    home, *others = stored.link.places
    passage = snippet(stored.part.text, words)
    return {
        "rank": rank,
        "score": round(result.hit.score, 4),
        "channels": {"keyword": round(result.hit.score, 4)},
        "uuid": stored.part.uuid,
        "part": stored.id,
        "session": home.session,
        "agent": home.agent,
        "also_in": sorted({place.session for place in others if place.session} - {home.session}),
        "project": session.project if session else stored.link.context.cwd,
        "title": session.title if session else None,
        "branch": stored.link.context.branch,
        "model": stored.link.context.model,
        "role": stored.part.role.value,
        "kind": stored.part.kind.value,
        "tool": stored.part.tool,
        "is_error": stored.part.is_error,
        "timestamp": stamp(stored.link.time),
        "snippet": passage.text,
        "highlights": [list(span) for span in passage.highlights],
    }
