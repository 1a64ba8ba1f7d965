"""Where in a text code begins and ends: fenced blocks, as Markdown has them."""

import re

from searchkit.render.document import Code, Piece, Prose

# Models indent fences below the items of a list, deeper than Markdown allows.
_OPENING = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\n]*)$")


def pieces(text: str) -> list[Piece]:
    """Split a text into words and code; a fence that is never closed holds all that follows it."""
    found: list[Piece] = []
    prose: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        opening = _OPENING.match(line)
        if opening is None:
            prose.append(line)
            continue
        indent, fence, info = opening.groups()
        closing = re.compile(rf"[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
        code = []
        for inner in lines:
            if closing.match(inner):
                break
            code.append(inner.removeprefix(indent))
        found += [*_prose(prose), Code(text="\n".join(code), language=_language(info))]
        prose = []
    return found + _prose(prose)


def _prose(lines: list[str]) -> list[Piece]:
    """Leave out the blank lines around words, and words that are nothing but those."""
    text = "\n".join(lines).strip("\n").rstrip()
    return [Prose(text=text)] if text else []


def _language(info: str) -> str | None:
    """Name the language, the first word after a fence: `python title="a.py"`."""
    words = info.split()
    return words[0].lower() if words else None
