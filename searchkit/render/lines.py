"""Text in columns of a terminal: widths, wrapping, cutting, padding, and bars."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil

import click

from searchkit.text.format import count
from searchkit.text.sanitize import one_line, safe

# A colour code counts as a character without width.
_CHARACTERS = re.compile("\x1b\\[[0-9;]*m|.", re.DOTALL)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
RESET = "\x1b[0m"


def columns(text: str) -> int:
    """Count the columns of a text; Chinese, Japanese and Korean characters take two, accents none."""
    plain = click.unstyle(text) if "\x1b" in text else text
    return len(plain) + sum(_columns(character) - 1 for character in _NOT_ASCII.findall(plain))


def fitting(text: str, width: int) -> int:
    """Count the characters at the beginning of a text that fit in so many columns; there are no colour codes in it."""
    if text.isascii():
        return min(len(text), max(0, width))
    used = 0
    for number, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return number
    return len(text)


def wrapped(text: str, width: int) -> Iterator[str]:
    """Break a text that may hold colour codes into lines of at most `width` columns."""
    line, used = "", 0
    for word in text.split(" "):
        for piece in _pieces(word, width):
            length = columns(piece)
            if used and used + 1 + length > width:
                yield line
                line, used = piece, length
            else:
                line, used = (f"{line} {piece}", used + 1 + length) if line else (piece, length)
    if line:
        yield line


def cut(text: str, width: int) -> str:
    """Cut a text that may hold colour codes to so many columns, with an ellipsis where it was cut."""
    if columns(text) <= width:
        return text
    room = max(1, width - 1)
    written = _coloured(text, room) if "\x1b" in text else text[: fitting(text, room)]
    if written.rstrip().endswith("…"):
        # The text has one of its own where it is cut.
        written = written.rstrip(" …") + " "
    return written + "…" + (RESET if "\x1b" in text else "")


def _coloured(text: str, width: int) -> str:
    """Return the beginning of a text with colour codes that fits in so many columns."""
    used, kept = 0, []
    for character in _CHARACTERS.findall(text):
        used += _columns(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept)


def _pieces(word: str, width: int) -> Iterator[str]:
    """Break a word that no line can hold."""
    if columns(word) <= width:
        yield word
        return
    piece, used = "", 0
    for character in _CHARACTERS.findall(word):
        wide = _columns(character)
        if used + wide > width:
            yield piece
            piece, used = "", 0
        piece, used = piece + character, used + wide
    yield piece


def _columns(character: str) -> int:
    if character.isascii():
        return 1 if len(character) == 1 else 0
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


# Texts as rows of a terminal or of a page: broken to a width, and cut in the middle where they are long.

# Fewer rows than this are shown: saying that they are left out would take up most of their room.
LEAST_LEFT_OUT = 4
# Of what is shown of a long text, the share that is its end.
TAIL_SHARE = 1 / 3
# A single line longer than this, such as minified JSON, is cut in its middle, too.
MOST_CHARACTERS = 2_000
TAB_WIDTH = 4
# Words that are broken hang below their own indentation, up to this share of the width.
MOST_INDENT_SHARE = 0.5
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


# Small plots of block characters: bars for labelled numbers, and a line of little columns.

# Of a line, at most this share is for the label, and the bars have at least so many columns.
LABEL_SHARE = 0.45
LEAST_BAR = 6
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def bars(
    numbers: Mapping[str, float], width: int, shown: Callable[[float], str] = lambda number: f"{number:,.0f}"
) -> Iterator[str]:
    """Yield a line for each label: the label, its number as `shown` writes it, and a bar in what is left of `width`."""
    written = [shown(number) for number in numbers.values()]
    labels = [fitted(label, int(width * LABEL_SHARE)) for label in map(one_line, numbers)]
    label_width = max(map(columns, labels), default=0)
    number_width = max(map(len, written), default=0)
    bar_width = max(LEAST_BAR, width - label_width - number_width - 4)
    most = max(numbers.values(), default=0)
    for label, number, figure in zip(labels, numbers.values(), written, strict=True):
        yield f"{padded(label, label_width)}  {figure:>{number_width}}  {bar(number, most, bar_width)}".rstrip()


def bar(number: float, most: float, width: int) -> str:
    """Draw one bar, to the eighth of a column; what is more than nothing is seen."""
    if number <= 0 or most <= 0:
        return ""
    eighths = max(1, round(8 * width * number / most))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def sparkline(numbers: Sequence[float], width: int) -> str:
    """Draw numbers as columns side by side; where there are more than `width`, neighbours are added up."""
    together = max(1, ceil(len(numbers) / width))
    sums = [sum(numbers[start : start + together]) for start in range(0, len(numbers), together)]
    most = max(sums, default=0)
    return "".join(_HEIGHTS[ceil(number * len(_HEIGHTS) / most) - 1] if number > 0 else " " for number in sums)


def fitted(text: str, width: int) -> str:
    """Cut a text to so many columns; of a path the end stays, which tells more."""
    if columns(text) <= width:
        return text
    is_path = "/" in text or "\\" in text
    while text and columns(text) >= width:
        text = text[1:] if is_path else text[:-1]
    return f"…{text}" if is_path else f"{text}…"


def padded(text: str, width: int) -> str:
    """Fill a text up to so many columns."""
    return text + " " * (width - columns(text))
