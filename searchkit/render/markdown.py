"""A document as Markdown: headings and citations of ours, and every text of a transcript inside a fence."""

import re
from collections.abc import Iterator

from searchkit.render.document import Block, Code, Command, Compared, Diff, Document, Message, Note, Output, Piece
from searchkit.render.lines import middle_cut, source_lines
from searchkit.text.format import minute
from searchkit.text.sanitize import longest_run, one_line

# Signs that mean something within a line of Markdown.
_SIGNS = re.compile(r"([\\`*_\[\]<>&~|#$])")
_LANGUAGE = re.compile(r"[a-z0-9+#-]{1,20}")
# Headings of messages begin at the second level and go no deeper than Markdown has.
FIRST_LEVEL = 2
LAST_LEVEL = 6


def lines(document: Document, is_full: bool) -> Iterator[str]:
    """Write a document."""
    yield f"# {escaped(document.title)}"
    yield ""
    yield from (f"- {_noted(note)}" for note in document.about)
    for block in document.blocks:
        yield ""
        yield from _block(block, is_full)


def _block(block: Block, is_full: bool) -> Iterator[str]:
    if isinstance(block, Note):
        yield _noted(block)
    elif isinstance(block, Message):
        yield from _message(block, is_full)
    elif isinstance(block, Compared):
        yield f"## {escaped(block.text)}"
        for message in (*block.failed, *block.passed):
            yield ""
            yield from _message(message, is_full)


def _message(message: Message, is_full: bool) -> Iterator[str]:
    """Write who speaks, where it can be found again, and the text."""
    if not message.is_joined or message.is_hit:
        level = min(FIRST_LEVEL + message.depth, LAST_LEVEL)
        hit = " (asked for)" if message.is_hit else ""
        yield f"{'#' * level} {escaped(message.speaker)}{hit}"
        yield ""
    where = f" · session {code(message.session)}" if message.session else ""
    when = f" · {minute(message.time)}" if message.time is not None else ""
    yield f"uuid {code(message.uuid)}{where}{when}"
    for piece in message.pieces:
        yield ""
        yield from _fenced(piece, message.most_lines, is_full)


def _fenced(piece: Piece, most_lines: int, is_full: bool) -> Iterator[str]:
    """Fence a text with more backticks than any of its runs has, so that nothing in it ends the fence."""
    language, rows = _rows(piece, is_full)
    shown = middle_cut(rows, most_lines, is_full)
    fence = "`" * max(3, longest_run("\n".join(shown)) + 1)
    yield fence + language
    yield from shown
    yield fence


def _rows(piece: Piece, is_full: bool) -> tuple[str, list[str]]:
    """Return the language to name after a fence, and the lines inside it."""
    if isinstance(piece, Diff):
        rows = [f"{row.sign}{line}" for row in piece.rows for line in source_lines(row.text, is_full)]
        path = [f"+++ {one_line(piece.path)}"] if piece.path else []
        return "diff", [*path, *rows]
    rows = list(source_lines(piece.text, is_full))
    if isinstance(piece, Command):
        purpose = [f"# {one_line(piece.purpose)}"] if piece.purpose else []
        return "console", [*purpose, *(f"{'$' if number == 0 else ' '} {row}" for number, row in enumerate(rows))]
    if isinstance(piece, Code) and piece.language and _LANGUAGE.fullmatch(piece.language):
        return piece.language, rows
    return "" if isinstance(piece, Output) else "text", rows


def _noted(note: Note) -> str:
    command = f": {code(note.command)}" if note.command is not None else ""
    return f"*{escaped(note.text)}*{command}"


def escaped(text: str) -> str:
    """Write a text on a line so that nothing in it means anything to Markdown."""
    return _SIGNS.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """Write a text as code within a line."""
    line = one_line(text)
    ticks = "`" * (longest_run(line) + 1)
    blank = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{blank}{line}{blank}{ticks}"
