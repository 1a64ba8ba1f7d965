"""Words and numbers as people read them, safe for a terminal."""

import re
from datetime import UTC, datetime

# Control characters, and those that turn the direction of writing: transcripts are hostile text.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_UNITS = ("B", "kB", "MB", "GB", "TB")
_AGES = ((31_536_000, "y"), (2_592_000, "mo"), (86_400, "d"), (3_600, "h"), (60, "min"))


def safe(text: str) -> str:
    """Leave out what could command the terminal; line ends and tabs stay."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """Fold all white space, so that a text fits on a line."""
    return " ".join(safe(text).split())


def size(number: float) -> str:
    """Write a number of bytes with a unit."""
    for unit in _UNITS:
        if number < 1000 or unit == _UNITS[-1]:
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"


def amount(number: float) -> str:
    """Write a large number with as few digits as tell its size."""
    for unit in ("", "k", "M"):
        if number < 1000:
            return f"{number:.0f}{unit}" if not unit or number >= 100 else f"{number:.1f}{unit}"
        number /= 1000
    return f"{number:,.1f}G"


def count(number: int, thing: str, things: str | None = None) -> str:
    """Write a number with what it counts."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def stamp(milliseconds: int | None) -> str | None:
    """Write a point in time as transcripts do."""
    if milliseconds is None:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def day(milliseconds: int | None) -> str:
    """Write a day in the user's time zone."""
    return datetime.fromtimestamp(milliseconds / 1000).strftime("%Y-%m-%d") if milliseconds else "no date"


def age(milliseconds: int | None, now: float) -> str:
    """Write how long ago something was."""
    if milliseconds is None:
        return ""
    seconds = now - milliseconds / 1000
    for length, unit in _AGES:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit} ago"
    return "just now"
