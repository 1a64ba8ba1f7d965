"""Lines that fit: broken between words or cut, by the columns that a terminal gives them."""

import re
import unicodedata
from collections.abc import Iterator

import click

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
