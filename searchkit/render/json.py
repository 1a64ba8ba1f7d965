"""What `--json` prints: named fields, a promise to the programs that read them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from searchkit.conversation.resume import Resumption, command
from searchkit.errors import SearchkitError
from searchkit.render.health import retention_json
from searchkit.search.types import Status
from searchkit.text.format import stamp
from searchkit.types import Cost, Figures, Grouping, Session

if TYPE_CHECKING:
    from searchkit.indexing.ingest import Summary

Fields = dict[str, object]


def error(raised: SearchkitError) -> Fields:
    """Show what went wrong."""
    return {"error": {"kind": raised.kind, "message": raised.message, "hint": raised.hint}}


def sessions(found: Sequence[Session], costs: Mapping[str, Cost]) -> Fields:
    """Show a list of sessions, and what each cost."""
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
                "cost": cost(spent := costs.get(session.id)),
                "api_ms": spent.api_ms or None if spent else None,
                "output_per_second": spent.output_per_second if spent else None,
            }
            for session in found
        ]
    }


def resume(found: Resumption) -> Fields:
    """Show how a session is reopened."""
    return {
        "session": found.session.id,
        "title": found.session.title,
        "project": found.session.project,
        "resume": command(found.session),
        "has_directory": found.has_directory,
        "is_gone": found.session.is_gone,
        "is_interrupted": found.is_interrupted,
        "forked_from": found.forked_from,
        "worktree": found.worktree,
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
        "embedded": done.embedded,
        "outdated": done.is_outdated,
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
        "meaning": {"embedded": found.embedded, "to_embed": found.to_embed},
        "unreachable": found.unreachable,
        "damage": found.damage,
        "retention": None if found.retention is None else retention_json(found.retention),
    }


def work(figures: Figures) -> Fields:
    """Show what was answered and done, and what it cost."""
    return {
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
        "estimated": figures.estimated,
        "unpriced": figures.unpriced,
        "api_ms": figures.api_ms or None,
        "output_per_second": figures.output_per_second,
    }


def cost(found: Cost | None) -> Fields | None:
    """Show what a session cost."""
    if found is None:
        return None
    return {"usd": found.usd, "is_estimate": found.is_estimate, "inherited": found.inherited}


def _figures(figures: Figures) -> Fields:
    return {"sessions": figures.sessions, "prompts": figures.prompts, **work(figures)}
