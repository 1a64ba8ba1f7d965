"""What `context --json` prints: named fields, a promise to the programs that read them."""

from searchkit.context.types import Excerpt, Pack, Place, Quotation
from searchkit.conversation.types import Folded
from searchkit.render.answer_json import empty_because
from searchkit.render.context import done
from searchkit.text import tokens
from searchkit.text.format import stamp
from searchkit.text.sanitize import safe

Fields = dict[str, object]


def pack(found: Pack) -> Fields:
    """Show a pack; its tokens are those of the same pack as Markdown."""
    return {
        "query": found.answer.query.text,
        "tokens": found.tokens,
        "max_tokens": found.max_tokens,
        "tokenizer": tokens.name(),
        "excerpts": [_excerpt(one) for one in found.excerpts],
        "empty_because": empty_because(found.answer),
        "respelled": dict(found.answer.respelled),
    }


def _excerpt(one: Excerpt) -> Fields:
    stored, session = one.shown.stored, one.session
    home = stored.link.places[0]
    return {
        "number": one.number,
        "session": home.session,
        "agent": home.agent,
        "file": home.file,
        "uuid": stored.part.uuid,
        "part": stored.id,
        "kind": stored.part.kind.value,
        "role": stored.part.role.value,
        "tool": stored.part.tool,
        "is_error": stored.part.is_error,
        "timestamp": stamp(stored.link.time),
        "project": session.project if session else stored.link.context.cwd,
        "branch": stored.link.context.branch,
        "title": session.title if session else None,
        "agent_app": session.app if session else None,
        "files": list(one.files),
        "question": _quoted(one, Place.QUESTION),
        "passage": _quoted(one, Place.PASSAGE),
        "beside": [
            _beside(entry) for entry in one.entries if isinstance(entry, Quotation) and entry.place is Place.BESIDE
        ],
        "steps": [line for entry in one.entries if isinstance(entry, Folded) and (line := done(entry))],
        "outcome": _quoted(one, Place.OUTCOME),
        "score": round(one.shown.ranked.score, 4),
        "is_gone": session.is_gone if session else False,
    }


def _quoted(one: Excerpt, place: Place) -> str | None:
    text = one.quoted(place)
    return None if text is None else safe(text)


def _beside(quotation: Quotation) -> Fields:
    part = quotation.stored.part
    return {
        "uuid": part.uuid,
        "kind": part.kind.value,
        "tool": part.tool,
        "is_error": part.is_error,
        "text": safe(quotation.text),
    }
