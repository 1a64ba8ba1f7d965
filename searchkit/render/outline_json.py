"""What `show SESSION --json` and `tree --json` print: a session with named fields, all of its ways side by side.

Ways are a flat list, each with the turn that it leaves from: programs need not follow them down,
and however deep they are nested, there is a limit to what JSON can nest.
"""

from searchkit.backends.base import Stored
from searchkit.conversation import resume
from searchkit.conversation.types import Outline, Said, Turn
from searchkit.render.answer_json import Fields, agent_fields, entry_fields
from searchkit.render.folded import folded, number
from searchkit.render.json import work
from searchkit.render.ways import Way, ways
from searchkit.text.format import stamp


def fields(found: Outline, is_full: bool) -> Fields:
    """Show a session, all of its turns; texts are cut unless all is wanted."""
    session, figures = found.session, found.figures
    return {
        "session": session.id,
        "title": session.title,
        "project": session.project,
        "branch": session.branch,
        "started": stamp(session.started),
        "ended": stamp(session.ended),
        "is_gone": session.is_gone,
        "resume": resume.command(session),
        "prompts": session.prompts,
        "records": session.records,
        **work(figures),
        "turns_ms": found.turns_ms,
        "models": list(found.models),
        "files": [{"path": touch.path, "action": touch.action} for touch in found.files],
        "facts": dict(found.facts),
        "ways": [_way(way, is_full) for way in ways(found)],
    }


def _way(way: Way, is_full: bool) -> Fields:
    strand = way.strand
    return {
        "at": way.at,
        "depth": way.depth,
        "agent": agent_fields(way.agent) if way.agent else None,
        "session": strand.session,
        "abandoned": strand.is_abandoned,
        "broken": strand.ending.value if strand.ending else None,
        "turns": [_turn(turn, is_full) for turn in strand.turns],
    }


def _turn(turn: Turn, is_full: bool) -> Fields:
    return {
        "uuid": turn.record,
        "timestamp": stamp(turn.time),
        "duration_ms": turn.duration_ms,
        "left_out": turn.left_out,
        "compacted": turn.is_compacted,
        "asked": _said(turn.asked, is_full),
        "steps": number(turn.steps),
        "did": folded(turn.steps),
        "outcome": _said(turn.outcome, is_full),
    }


def _said(stored: Stored | None, is_full: bool) -> Fields | None:
    return entry_fields(Said(stored=stored), is_full) if stored else None
