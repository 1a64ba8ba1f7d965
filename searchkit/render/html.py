"""A document as a page that needs nothing else, with its stylesheet."""

from collections.abc import Iterator, Sequence

from searchkit.render import document as highlight
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
from searchkit.render.lines import middle_cut
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


# How a page looks: one style sheet inside it, light or dark as the reader's system is.

STYLESHEET = """
:root { color-scheme: light dark;
  --ink: #1f2328; --paper: #ffffff; --dim: #656d76; --line: #d0d7de; --box: #f6f8fa; --mark: #fff8c5;
  --red: #a40e26; --green: #116329; --blue: #0550ae; --purple: #6639ba; --added: #dafbe1; --removed: #ffebe9; }
@media (prefers-color-scheme: dark) { :root {
  --ink: #e6edf3; --paper: #0d1117; --dim: #8d96a0; --line: #30363d; --box: #161b22; --mark: #3b2e04;
  --red: #ff7b72; --green: #7ee787; --blue: #79c0ff; --purple: #d2a8ff; --added: #12361f; --removed: #4a1a1d; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.5rem 0 0; }
pre, code { font: 0.85rem/1.45 ui-monospace, monospace; }
pre { margin: 0.4rem 0; padding: 0.6rem 0.8rem; background: var(--box); border-radius: 6px; overflow-x: auto; }
article { margin: 1.2rem 0 0 calc(var(--depth, 0) * 1.5rem); }
article.joined { margin-top: 0; }
article.hit { background: var(--mark); outline: 0.4rem solid var(--mark); border-radius: 2px; }
article:target { outline: 2px solid var(--blue); }
header { color: var(--dim); font-size: 0.85rem; }
header a { color: inherit; text-decoration: none; }
header .who { color: var(--blue); font-weight: 600; }
.error .who { color: var(--red); }
.prose { white-space: pre-wrap; overflow-wrap: anywhere; }
.output { border-left: 3px solid var(--line); border-radius: 0; }
.error .output { border-left-color: var(--red); }
.note { margin: 1rem 0 0 calc(var(--depth, 0) * 1.5rem); color: var(--dim);
  font-size: 0.9rem; overflow-wrap: anywhere; }
.about { margin: 0.1rem 0; }
.gap, .break { text-align: center; border-top: 1px solid var(--line); padding-top: 0.3rem; }
.way, .agent { color: var(--purple); }
details > summary { cursor: pointer; color: var(--dim); font-size: 0.85rem; }
.compared { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 0 1rem; }
.compared > div { min-width: 0; }
.path { font-weight: 600; }
.added, .removed { display: inline-block; min-width: 100%; }
.added { color: var(--green); background: var(--added); }
.removed { color: var(--red); background: var(--removed); }
.skipped, .comment, .purpose { color: var(--dim); }
.keyword { color: var(--red); } .string { color: var(--green); } .number { color: var(--blue); }
.name { color: var(--purple); }
"""
