"""Makes foreign text fit to be searched: no colour codes, no base64."""

import re

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # window titles and hyperlinks
    r"|[PX^_][^\x1b]*\x1b\\"  # device control strings
    r"|[ -/]*[0-~])"
)
# How base64 of PNG, JPEG, PDF, GIF, WebP and ZIP begins, and data URLs.
_BASE64_OPENINGS = ("iVBORw0KGgo", "/9j/4AA", "JVBERi0", "R0lGOD", "UklGR", "UEsDBBQ", "base64,")
_BASE64 = re.compile(rf"(?:{'|'.join(_BASE64_OPENINGS)})[A-Za-z0-9+/=_-]{{200,}}")


def clean(text: str) -> str:
    """Strip what is not text; words stay as they are, and so does white space."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if len(text) > 200 and any(opening in text for opening in _BASE64_OPENINGS):
        text = _BASE64.sub(lambda match: f"[base64, {len(match.group())} characters]", text)
    return text
