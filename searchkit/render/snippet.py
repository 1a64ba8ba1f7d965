"""The passage of a text that shows why it was found."""

import re

import msgspec

SNIPPET_CHARACTERS = 280
_WORD = re.compile(r"\w+")


class Snippet(msgspec.Struct, frozen=True, kw_only=True):
    """A passage on one line, and where in it the words are that were asked for."""

    text: str
    highlights: list[tuple[int, int]]


def snippet(text: str, words: str, max_chars: int = SNIPPET_CHARACTERS) -> Snippet:
    """Cut the passage that holds most of the words; it begins and ends with an ellipsis where it was cut."""
    asked = {word.casefold() for word in _WORD.findall(words)}
    matches = [match.span() for match in _WORD.finditer(text) if match.group().casefold() in asked]
    start = _densest(matches, max_chars)
    start = max(0, min(start - max_chars // 4, len(text) - max_chars))
    passage = " ".join(text[start : start + max_chars].split())
    passage = ("… " if start else "") + passage + (" …" if start + max_chars < len(text) else "")
    spans = [match.span() for match in _WORD.finditer(passage) if match.group().casefold() in asked]
    return Snippet(text=passage, highlights=spans)


def _densest(matches: list[tuple[int, int]], max_chars: int) -> int:
    """Return where the window begins that holds most matches, the first of equals."""
    best, best_number, last = 0, 0, 0
    for first, (start, _) in enumerate(matches):
        while last < len(matches) and matches[last][1] <= start + max_chars * 3 // 4:
            last += 1
        if last - first > best_number:
            best, best_number = start, last - first
    return best
