"""Cuts a long text to a stretch of whole lines, and says in it how much was left out."""

from collections.abc import Sequence

from searchkit.search.snippets import densest

# Less than this is not left out: to say so would take as much room.
LEAST_LEFT_OUT = 60
# Of what is shown of a long text, at most this share is its last paragraph.
ENDING_SHARE = 0.4


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


def stretch_and_end(text: str, marks: Sequence[tuple[int, int]], max_chars: int) -> str:
    """Cut the lines around what is marked, and add the last paragraph, where a report says what comes of it."""
    text = text.rstrip()
    last = text.rfind("\n\n") + 2
    room = max_chars - (len(text) - last)
    begun = stretch(text, marks, max_chars)
    if last < 2 or room < max_chars * (1 - ENDING_SHARE) or begun.endswith(text[last:]):
        return begun
    return stretch(text[:last].rstrip(), [mark for mark in marks if mark[1] <= last], room) + "\n\n" + text[last:]


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
