"""Finds the whole objects in a damaged line, and makes an object that is nested too deeply one that decoders take.

After a crash a line can be the beginning of one object with another joined to it, or hold runs of NUL bytes.
All of it takes time linear in the line's length, whatever the line holds: no byte is looked at more than a few times.
"""

import re
from array import array
from collections.abc import Iterable, Iterator

import msgspec

# Levels that stay as they are where an object has too many. Python's decoder follows 1,000, less those of the
# functions that called it; the deepest record seen has 14.
MOST_LEVELS = 200


class Span(msgspec.Struct, frozen=True, gc=False):
    """Where an object lies in a line.

    It stands apart where nothing but blanks, NUL bytes and other such objects come before it. One that does not may
    be a part of a torn object, which only somebody can tell who knows what a record looks like.
    """

    start: int
    end: int
    is_apart: bool


def whole_objects(line: bytes) -> Iterator[Span]:
    """Yield the complete objects of a line, in order; none lies in another.

    A torn object is read up to what cannot follow in it, and there the search goes on. Where that is the end of
    an object which came as a value, the object itself is yielded: so it looks when a line was cut behind a colon.
    """
    place, is_apart = 0, True
    while True:
        found = _BEGINNING.search(line, place)
        if found is None:
            return
        start = found.start()
        is_apart = is_apart and not line[place:start].strip(_BLANKS)
        scan = _scan(line, start)
        if scan.end:
            yield Span(start, scan.end, is_apart)
            place = scan.end
            continue
        is_apart = False
        if scan.value_start:
            yield Span(scan.value_start, scan.value_end, False)
        place = scan.stop


def gaps(line: bytes, kept: Iterable[Span]) -> Iterator[bytes]:
    """Yield what lies before, between and behind the spans, unless it is blank."""
    place = 0
    for span in (*kept, Span(len(line), len(line), False)):
        gap = line[place : span.start].strip()
        if gap:
            yield gap
        place = span.end


def describe(gap: bytes) -> str:
    """Say how much was lost, and how much of it is NUL bytes, as a file system leaves them after a power failure."""
    nuls, unit = gap.count(0), "byte" if len(gap) == 1 else "bytes"
    if nuls == len(gap):
        return f"{nuls} NUL {unit}"
    return f"{len(gap)} {unit}" + (f", {nuls} of them NUL" if nuls else "")


def flatten(line: bytes) -> bytes | None:
    """Write the object that a line holds with 200 levels at most; None where it does not hold exactly one.

    What lies deeper becomes a list of its strings, so that every text can still be found.
    """
    span = next(whole_objects(line), None) if line.rstrip().endswith(b"}") else None
    if span is None or not span.is_apart or line[: span.start].strip() or line[span.end :].strip():
        return None
    written = bytearray()
    level, place, comma = 0, span.start, b""
    for token in _LEVEL_OR_STRING.finditer(line, span.start, span.end):
        kind = token.group()[0]
        if kind in b"{[":
            level += 1
            if level == MOST_LEVELS + 1:
                written += line[place : token.start()] + b"["
                comma = b""
        elif kind in b"}]":
            if level == MOST_LEVELS + 1:
                written += b"]"
                place = token.end()
            level -= 1
        elif level > MOST_LEVELS and not token.group(1):
            written += comma + token.group()
            comma = b","
    return bytes(written + line[place : span.end])


class _Scan(msgspec.Struct, frozen=True, gc=False):
    """How far an object goes: to its end, or to a stop, with the value that ends just before it if there is one."""

    end: int = 0
    stop: int = 0
    value_start: int = 0
    value_end: int = 0


def _scan(line: bytes, start: int) -> _Scan:
    """Read the object that begins at `start`, with a stack of its own instead of recursion."""
    match = _TOKEN.match
    containers = bytearray(b"{")
    # Where each object that is still open begins; a list of numbers would take five times the memory.
    starts = array("L", [start])
    place, allowed = start + 1, _KEY_OR_END
    last: re.Match[bytes] | None = None
    value_start = 0
    while True:
        token = match(line, place)
        kind = (token.lastindex or 0) if token is not None else 0
        if token is None or not allowed >> kind & 1:
            break
        last, place = token, token.end()
        if kind == _KEY:
            allowed = _ANY_VALUE
        elif kind == _COMMA:
            allowed = _ANY_KEY if containers[-1] == _BRACE else _ANY_VALUE
        elif kind == _OBJECT:
            containers.append(_BRACE)
            starts.append(place - 1)
            allowed = _KEY_OR_END
        elif kind == _LISTS:
            containers += token.group(kind)
            allowed = _VALUE_OR_END
        else:
            if kind in (_OBJECT_END, _LIST_END) and containers.pop() == _BRACE:
                value_start = starts.pop()
            if not containers:
                return _Scan(end=place)
            allowed = _COMMA_OR_BRACE if containers[-1] == _BRACE else _COMMA_OR_BRACKET
    is_value = last is not None and last.lastindex == _OBJECT_END
    return _Scan(
        stop=_stop(line, place, token, last),
        value_start=value_start if is_value else 0,
        value_end=place,
    )


def _stop(line: bytes, place: int, token: re.Match[bytes] | None, last: re.Match[bytes] | None) -> int:
    """Say where the next object can begin, once an object turned out to be torn at `place`.

    A line that was cut within a string takes the first brace and quote of the object joined to it for the string's
    end: `"cut he{"`. In a string that was written whole such a quote is escaped.
    """
    string = token if token is not None and token.start(_STRING) >= 0 else last
    if string is not None and string.lastindex in (_STRING, _KEY):
        begin, end = string.span(_STRING)
        said = line[begin + 1 : end - 1].rstrip(_BLANKS)
        if said.endswith(b"{"):
            return begin + len(said)
        if string is token:
            return end
    # No quote follows that would end this string, and so none that could begin the key of an object.
    return len(line) if token is None and _QUOTE.match(line, place) else place


_BLANKS = b" \t\r\n\0"
_BLANK = rb"[ \t\r\n\0]*+"
_TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NUMBER_OR_NAME = rb"-?(?:\d++(?:\.\d++)?+(?:[eE][+-]?+\d++)?+|Infinity)|true|false|null|NaN"
# What a token is, by the number of its group. A group must not be possessive itself: before Python 3.12.8 that
# can raise a SystemError.
_STRING, _KEY, _OBJECT, _LISTS, _OBJECT_END, _LIST_END, _COMMA, _SCALAR = range(1, 9)
_TOKEN = re.compile(
    rb"%s(?:(%s)(%s:)?|(\{)|(\[++)|(\})|(\])|(,)|(%s))" % (_BLANK, _TEXT, _BLANK, _NUMBER_OR_NAME), re.DOTALL
)
_LEVEL_OR_STRING = re.compile(rb"%s(%s:)?|[][{}]" % (_TEXT, _BLANK), re.DOTALL)
_BEGINNING = re.compile(rb'\{%s["}]' % _BLANK)
_QUOTE = re.compile(rb'%s"' % _BLANK)
# Which tokens may come next, as bits.
_ANY_KEY = 1 << _KEY
_KEY_OR_END = _ANY_KEY | 1 << _OBJECT_END
_ANY_VALUE = 1 << _STRING | 1 << _OBJECT | 1 << _LISTS | 1 << _SCALAR
_VALUE_OR_END = _ANY_VALUE | 1 << _LIST_END
_COMMA_OR_BRACE = 1 << _COMMA | 1 << _OBJECT_END
_COMMA_OR_BRACKET = 1 << _COMMA | 1 << _LIST_END
_BRACE = ord("{")
