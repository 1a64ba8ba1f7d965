"""A document as one HTML page: nothing in it is loaded from elsewhere, nothing runs, and every text is escaped."""

from collections.abc import Iterator, Sequence

from searchkit.render import code as highlight
from searchkit.render.document import (
    Block,
    Code,
    Command,
    Compared,
    Diff,
    Document,
    Message,
    Note,
    Output,
    Piece,
    Prose,
)
from searchkit.render.rows import middle_cut
from searchkit.render.stylesheet import STYLESHEET
from searchkit.text.format import clock, count, minute, stamp
from searchkit.text.sanitize import attribute, markup, one_line, safe, url

# Lines of code or output that are shown before the others are folded away.
MOST_OPEN = 20
# Lines that the page holds of one text, unless all are wanted: an output may have a million.
MOST_LINES = 2_000
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_SIGNS = {"+": "added", "-": "removed", " ": "", "@": "skipped"}


def lines(document: Document, is_full: bool) -> Iterator[str]:
    """Write a page; each record that is shown has an anchor, its uuid."""
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{attribute(document.title)}</title>"
    yield f"<style>{STYLESHEET}</style></head>"
    yield f"<body><main><h1>{attribute(document.title)}</h1>"
    yield from map(_note, document.about)
    anchors: set[str] = set()
    for block in document.blocks:
        yield from _block(block, anchors, is_full)
    yield "</main></body></html>"


def _block(block: Block, anchors: set[str], is_full: bool) -> Iterator[str]:
    if isinstance(block, Note):
        yield _note(block)
    elif isinstance(block, Message):
        yield from _message(block, anchors, is_full)
    else:
        yield from _compared(block, anchors, is_full)


def _note(note: Note) -> str:
    command = f": <code>{attribute(note.command)}</code>" if note.command is not None else ""
    return f'<p class="note {note.tone.value}"{_depth(note.depth)}>{attribute(note.text)}{command}</p>'


def _message(message: Message, anchors: set[str], is_full: bool) -> Iterator[str]:
    states = {"hit": message.is_hit, "error": message.is_error, "joined": message.is_joined}
    classes = " ".join(["message", *(name for name, is_so in states.items() if is_so)])
    # A record may say several things; its anchor is the first of them.
    uuid = one_line(message.uuid)
    anchor = "" if uuid in anchors else f' id="{attribute(uuid)}"'
    anchors.add(uuid)
    yield f'<article class="{classes}"{anchor}{_depth(message.depth)}>'
    if not message.is_joined or message.is_hit:
        yield _header(message)
    for piece in message.pieces:
        yield from _piece(piece, is_full)
    yield "</article>"


def _header(message: Message) -> str:
    link = f'<a href="#{url(one_line(message.uuid))}">'
    when = ""
    if message.time is not None:
        shown = minute(message.time) if message.is_dated else clock(message.time)
        when = f' <time datetime="{stamp(message.time) or ""}">{shown}</time>'
    return f'<header>{link}<span class="who">{attribute(message.speaker)}</span>{when}</a></header>'


def _compared(compared: Compared, anchors: set[str], is_full: bool) -> Iterator[str]:
    yield f'<h2>{attribute(compared.text)}</h2><div class="compared">'
    for side in (compared.failed, compared.passed):
        yield "<div>"
        for message in side:
            yield from _message(message, anchors, is_full)
        yield "</div>"
    yield "</div>"


def _piece(piece: Piece, is_full: bool) -> Iterator[str]:
    if isinstance(piece, Prose):
        rows = middle_cut(markup(piece.text).split("\n"), MOST_LINES, is_full)
        yield '<div class="prose">' + "\n".join(rows) + "</div>"
        return
    if isinstance(piece, Diff) and piece.path:
        yield f'<div class="path">{attribute(piece.path)}</div>'
    if isinstance(piece, Command) and piece.purpose:
        yield f'<div class="purpose">{attribute(piece.purpose)}</div>'
    kind = "output" if isinstance(piece, Output) else "code"
    rows = middle_cut(_rows(piece), MOST_LINES, is_full)
    yield _preformatted(kind, rows[:MOST_OPEN])
    if len(rows) > MOST_OPEN:
        more = f"<summary>{count(len(rows) - MOST_OPEN, 'line')} more</summary>"
        yield f"<details>{more}{_preformatted(kind, rows[MOST_OPEN:])}</details>"


def _preformatted(kind: str, rows: Sequence[str]) -> str:
    # The line end after the tag is not part of what is inside it.
    return f'<pre class="{kind}">\n' + "\n".join(rows) + "</pre>"


def _rows(piece: Piece) -> list[str]:
    """Escape a text line by line, each line complete in itself."""
    if isinstance(piece, Diff):
        return [_span(_SIGNS[row.sign], f"{row.sign} {row.text}") for row in piece.rows]
    if isinstance(piece, Code):
        code = Code(text=safe(piece.text), language=piece.language)
        return ["".join(_span(role, text) for role, text in line if text) for line in highlight.spans(code)]
    first = "$ " if isinstance(piece, Command) else ""
    return (first + markup(piece.text)).split("\n")


def _span(role: str, text: str) -> str:
    return f'<span class="{role}">{markup(text)}</span>' if role else markup(text)


def _depth(depth: int) -> str:
    return f' style="--depth: {depth}"' if depth else ""
