"""The passage of a text that shows why it was found, and cutting a text to whole lines."""

import re
from collections.abc import Sequence

from searchkit.search.types import Passage

PASSAGE_CHARACTERS = 280
_BLANKS = re.compile(r"\s+")


def cut(text: str, marks: Sequence[tuple[int, int]], max_chars: int = PASSAGE_CHARACTERS) -> Passage:
    """Cut the stretch that holds most different marked words, onto one line, with an ellipsis where it was cut."""
    start = densest(text, marks, max_chars)
    start = max(0, min(start - max_chars // 4, len(text) - max_chars))
    if start:
        # Not in the middle of a word, where one begins soon.
        blank = _BLANKS.search(text, start, start + max_chars // 8)
        start = blank.end() if blank else start
    end = min(len(text), start + max_chars)
    written, highlights = "… " if start else "", []
    at = start
    for first, last in marks:
        if last <= start or first >= end:
            continue
        written = _joined(written, text[at : max(first, start)])
        before, written = len(written), _joined(written, text[max(first, start) : min(last, end)])
        highlights.append((before, len(written)))
        at = min(last, end)
    written = _joined(written, text[at:end]).rstrip()
    return Passage(text=written + (" …" if end < len(text) else ""), highlights=highlights)


def densest(text: str, marks: Sequence[tuple[int, int]], max_chars: int) -> int:
    """Return where the window begins that holds most different words, the first of equals."""
    best, most = (marks[0][0] if marks else 0), 0
    last = 0
    words = [text[start:end].casefold() for start, end in marks]
    for first, (start, _) in enumerate(marks):
        while last < len(marks) and marks[last][1] <= start + max_chars * 3 // 4:
            last += 1
        different = len(set(words[first:last]))
        if different > most:
            best, most = start, different
    return best


def _joined(written: str, more: str) -> str:
    """Add a piece with its white space folded, also where it meets what was written."""
    folded = _BLANKS.sub(" ", more)
    return written + (folded.lstrip() if not written or written[-1] == " " else folded)


# Cuts a long text to a stretch of whole lines, and says in it how much was left out.


# Less than this is not left out: to say so would take as much room.
LEAST_LEFT_OUT = 60


def stretch(text: str, marks: Sequence[tuple[int, int]], max_chars: int) -> str:
    """Cut the lines around what is marked, or the first ones; where lines are long, between words."""
    if len(text) <= max_chars + LEAST_LEFT_OUT:
        return text
    wanted = densest(text, marks, max_chars) if marks else 0
    first = max(0, min(wanted - max_chars // 4, len(text) - max_chars))
    first = _after_break(text, first, wanted) if first > LEAST_LEFT_OUT else 0
    end = min(len(text), first + max_chars)
    end = _before_break(text, max(first, end - max_chars // 4), end) if end < len(text) - LEAST_LEFT_OUT else len(text)
    before = f"{_left_out(first)}\n" if first else ""
    after = f"\n{_left_out(len(text) - end)}" if end < len(text) else ""
    return before + text[first:end] + after


def _after_break(text: str, first: int, last: int) -> int:
    """Return where the first line, else the first word, begins between two places, else the first place."""
    for sign in ("\n", " "):
        found = text.find(sign, first, last)
        if found >= 0:
            return found + 1
    return first


def _before_break(text: str, first: int, last: int) -> int:
    """Return where the last line, else the last word, ends between two places, else the last place."""
    for sign in ("\n", " "):
        found = text.rfind(sign, first, last + 1)
        if found > first:
            return found
    return last


def _left_out(characters: int) -> str:
    return f"[... {characters:,} characters left out ...]"
