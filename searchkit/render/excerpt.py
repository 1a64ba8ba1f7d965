"""What a search shows of a passage: so many lines of it, what was asked for marked."""

import click

from searchkit.render.wrapped import RESET, columns, cut, fitting, wrapped
from searchkit.search.types import Passage
from searchkit.text.sanitize import safe

# Of a line that begins inside a passage, the share that leads up to the first word asked for, and of any line the
# share that is given up at its end so as not to cut a word.
LEAD_SHARE = 0.25
# Of several lines, the share that is filled, as they break between words.
FILLED_SHARE = 0.9
_BEGIN, _END = "… ", " …"


def excerpt(passage: Passage, width: int, most_lines: int) -> list[str]:
    """Break a passage into at most so many lines, with the first word that was asked for in them."""
    if most_lines == 1:
        return [marked(_around(passage, width))]
    whole = _stretch(passage, 0, len(passage.text))
    lines = list(wrapped(marked(whole), width))
    if len(lines) > most_lines and not any("\x1b" in line for line in lines[:most_lines]):
        lines = list(wrapped(marked(_around(whole, int(width * most_lines * FILLED_SHARE))), width))
    if len(lines) > most_lines:
        last = cut(lines[most_lines - 1].rstrip(_END) + _END, width)
        lines = [*lines[: most_lines - 1], last + (RESET if "\x1b" in "".join(lines) else "")]
    return lines


def marked(passage: Passage) -> str:
    """Mark what was asked for, word by word as lines may break between them; what could command the terminal goes."""
    pieces, position = [], 0
    for start, end in passage.highlights:
        words = safe(passage.text[start:end]).split(" ")
        pieces += [safe(passage.text[position:start]), " ".join(map(_mark, words))]
        position = end
    return "".join((*pieces, safe(passage.text[position:])))


def _mark(word: str) -> str:
    return click.style(word, fg="yellow", bold=True) if word else ""


def _around(passage: Passage, room: int) -> Passage:
    """Cut a passage to so many columns around the first of its words that were asked for."""
    text = passage.text
    if columns(text) <= room:
        return _stretch(passage, 0, len(text))
    first, last = passage.highlights[0] if passage.highlights else (0, 0)
    lead, begin = int(room * LEAD_SHARE), 0
    if columns(text[:last] + _END) > room:
        # With more before it where little comes after it, and not in the middle of a word.
        end = len(text) - fitting(text[::-1], room - columns(_BEGIN))
        begin = min(first - fitting(text[:first][::-1], lead), end)
        begin = text.find(" ", max(0, begin - 1), first) + 1 or begin
    room -= columns(_BEGIN) if begin else 0
    if columns(text[begin:]) <= room:
        return _stretch(passage, begin, len(text))
    stop = begin + fitting(text[begin:], room - columns(_END))
    blank = text.rfind(" ", max(last, stop - lead), stop + 1)
    return _stretch(passage, begin, blank if blank >= 0 else stop)


def _stretch(passage: Passage, begin: int, stop: int) -> Passage:
    """Take a part of a passage, with a single ellipsis at each end where something is missing."""
    text = passage.text
    is_begun = begin > 0 or text.startswith(_BEGIN)
    is_cut = stop < len(text) or text.endswith(_END)
    while is_begun and begin < stop and text[begin] in _BEGIN:
        begin += 1
    while is_cut and stop > begin and text[stop - 1] in _END:
        stop -= 1
    before = _BEGIN if is_begun else ""
    moved = len(before) - begin
    highlights = [
        (max(start, begin) + moved, min(end, stop) + moved)
        for start, end in passage.highlights
        if start < stop and end > begin
    ]
    return Passage(text=before + text[begin:stop] + (_END if is_cut else ""), highlights=highlights)
