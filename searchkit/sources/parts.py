"""From a record to its parts: one per searchable thing, with clean text."""

import hashlib

from msgspec.structs import replace

from searchkit.text.language import language_of
from searchkit.text.sanitize import clean
from searchkit.text.secrets import masked
from searchkit.types import Kind, Language, Part, Record

# Texts of these kinds are one text however they were kept: a prompt, the history line of it, and
# the command it turned out to be.
_TYPED = frozenset({Kind.PROMPT, Kind.HISTORY, Kind.COMMAND})
# What people and models write; other texts are what programs say. The kinds above are among them together, so that a
# text is in the same language wherever it is kept.
_PROSE = _TYPED | {Kind.TEXT, Kind.THINKING, Kind.SUMMARY, Kind.TITLE, Kind.PLAN, Kind.MEMORY, Kind.TODO}
_CLASSES = {kind: b"typed" if kind in _TYPED else kind.encode() for kind in Kind}


def split(record: Record, is_masking: bool = False) -> list[Part]:
    """Make the parts of a record, perhaps with their secrets masked; a block that says nothing makes none."""
    parts = []
    for block in record.blocks:
        text, fields = clean(block.text), block.fields
        if is_masking and (found := masked(text)).secrets:
            moved, text = found.moved, found.text
            fields = tuple(replace(one, start=moved(one.start), end=moved(one.end)) for one in fields)
        if text and not text.isspace():
            parts.append(
                Part(
                    uuid=record.uuid,
                    block=block.number,
                    kind=block.kind,
                    role=block.role,
                    text=text,
                    digest=digest(block.kind, text),
                    tool=block.tool,
                    call=block.call,
                    is_error=block.is_error,
                    fields=fields,
                    language=language_in(block.kind, text),
                )
            )
    return parts


def language_in(kind: Kind, text: str) -> Language | None:
    """Tell the language of a text of this kind, where it has one."""
    return language_of(text) if kind in _PROSE else None


def digest(kind: Kind, text: str) -> int:
    """Give equal texts of one class, and only those, equal numbers."""
    hashed = hashlib.blake2b(text.encode(), digest_size=8, person=_CLASSES[kind])
    return int.from_bytes(hashed.digest(), "big", signed=True)
