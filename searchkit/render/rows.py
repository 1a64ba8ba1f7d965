"""Texts as rows of a terminal or of a page: broken to a width, and cut in the middle where they are long."""

import re
from collections.abc import Iterator, Sequence

from searchkit.render.wrapped import RESET, columns, wrapped
from searchkit.text.format import count
from searchkit.text.sanitize import safe

# Fewer rows than this are shown: saying that they are left out would take up most of their room.
LEAST_LEFT_OUT = 4
# Of what is shown of a long text, the share that is its end.
TAIL_SHARE = 1 / 3
# A single line longer than this, such as minified JSON, is cut in its middle, too.
MOST_CHARACTERS = 2_000
TAB_WIDTH = 4
# Words that are broken hang below their own indentation, up to this share of the width.
MOST_INDENT_SHARE = 0.5
_CHARACTERS = re.compile("\x1b\\[[0-9;]*m|.", re.DOTALL)
_INDENT = re.compile(r" *(?:(?:[-*+•]|\d{1,3}[.)]) +)?")


def source_lines(text: str, is_full: bool) -> Iterator[str]:
    """Yield the lines of a text without anything that could command a terminal, tabs as blanks."""
    for line in safe(text).split("\n"):
        yield (line if is_full else _shortened(line)).expandtabs(TAB_WIDTH).rstrip()


def broken(line: str, width: int) -> Iterator[str]:
    """Break words between rows; what is below an indentation or the sign of a list stays below it."""
    if len(line) <= width and line.isascii():
        yield line
        return
    lead = _INDENT.match(line)
    indent = lead[0] if lead and len(lead[0]) <= width * MOST_INDENT_SHARE else ""
    rows = iter(wrapped(line[len(indent) :].lstrip(), width - columns(indent)))
    yield indent + next(rows, "")
    yield from (" " * columns(indent) + row for row in rows)


def sliced(line: str, width: int) -> Iterator[str]:
    """Break a line of code, which may hold colour codes, wherever a row is full; each row ends its colour."""
    if line.isascii() and "\x1b" not in line:
        yield from (line[start : start + width] for start in range(0, max(1, len(line)), width))
        return
    row, used, colour = "", 0, ""
    for character in _CHARACTERS.findall(line):
        if character.startswith("\x1b["):
            row, colour = row + character, "" if character == RESET else colour + character
            continue
        wide = columns(character)
        if used + wide > width:
            yield row + (RESET if colour else "")
            row, used = colour, 0
        row, used = row + character, used + wide
    yield row


def middle_cut(rows: Sequence[str], most: int, is_full: bool) -> list[str]:
    """Show the beginning and the end of what has more than so many rows, and say between them how many are left out."""
    left = len(rows) - most
    if is_full or left < LEAST_LEFT_OUT:
        return list(rows)
    tail = int(most * TAIL_SHARE)
    return [*rows[: most - tail], left_out(left), *rows[len(rows) - tail :]]


def left_out(number: int) -> str:
    """Say how many lines are left out, and how to see them."""
    return f"... {count(number, 'line')} more (--full) ..."


def _shortened(line: str) -> str:
    if len(line) <= MOST_CHARACTERS:
        return line
    tail = int(MOST_CHARACTERS * TAIL_SHARE)
    left = len(line) - MOST_CHARACTERS
    return f"{line[: MOST_CHARACTERS - tail]} [... {left:,} characters more (--full) ...] {line[-tail:]}"
