"""Turn the wrapped, indented strings of the story files into the text a transcript holds."""

import hashlib
import re
import textwrap

_KEEPS_ITS_LINE = re.compile(r"^\s*([-*] |[|#>]|\d+\. |\s{4})")
_WRITTEN_WITHOUT_SPACES = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


def block(text: str) -> str:
    """Return tool output or code: dedented, without the newline after the opening quotes."""
    return textwrap.dedent(text.removeprefix("\n")).rstrip("\n ")


def prose(text: str) -> str:
    """Return what a person or the assistant wrote: paragraphs on one line, lists and fences kept."""
    lines: list[str] = []
    fenced = joins = False
    for line in block(text).split("\n"):
        fence = line.lstrip().startswith("```")
        if joins and not fenced and not fence and line.strip() and not _KEEPS_ITS_LINE.match(line):
            lines[-1] += _glue(lines[-1], line.strip()) + line.strip()
        else:
            lines.append(line)
        if fence:
            fenced = not fenced
        joins = bool(line.strip()) and not fence and not line.lstrip().startswith(("|", "#"))
    return "\n".join(lines)


def hexes(*seed: object, length: int) -> str:
    """Return hexadecimal digits that depend on the seed only."""
    return hashlib.sha256("/".join(map(str, seed)).encode()).hexdigest()[:length]


def uuid(*seed: object) -> str:
    """Return an identifier in the form of a random UUID that depends on the seed only."""
    digits = hexes(*seed, length=32)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _glue(before: str, after: str) -> str:
    """Return what joins two wrapped lines: nothing between Chinese characters, else a space."""
    unspaced = _WRITTEN_WITHOUT_SPACES.match(after[0]) or _WRITTEN_WITHOUT_SPACES.match(before[-1])
    return "" if unspaced else " "
