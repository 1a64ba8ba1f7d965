"""Picking from foreign JSON without trusting it: a wrong type is as good as nothing."""

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime

from searchkit.text.sanitize import clean
from searchkit.types import Field

# Counts beyond this are damage, and SQLite could not hold them.
LARGEST_COUNT = 1 << 53
# Dollars beyond this are damage: one such line would hide all that other sessions cost.
LARGEST_AMOUNT = 1e6
# A day before the end of the year 9999, beyond which no time can be written down in some time zones.
LATEST_MILLISECONDS = 253_402_214_399_999
# Characters of an id. Sessions and agents have files named after them, whose names are no longer anywhere.
MOST_ID = 255
# Characters of a path that are repeated for everything below it: without a limit, a key of a megabyte above a thousand
# numbers would make a gigabyte of text.
MOST_PATH = 1000
# Leaves that identify rather than say something, left out where all strings of a value are gathered.
MUTE_KEYS = frozenset(
    {
        "type",
        "uuid",
        "id",
        "toolUseID",
        "parentToolUseID",
        "sessionId",
        "taskId",
        "timestamp",
        "signature",
        "data",
    }
    | {"source_uuid", "media_type", "hookEvent", "commandMode", "subtype", "level", "agentId", "key"}
)


def text(value: object) -> str | None:
    """Return a string that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def identity(value: object) -> str | None:
    """Return an id, or None; instead of one that is too long to be one, another that stands for it wherever it occurs.

    It is shown, linked and looked up in many places, none of which is to take in a book.
    """
    id = text(value)
    return synthetic_uuid(id) if id is not None and len(id) > MOST_ID else id


def mapping(value: object) -> dict[str, object]:
    """Return an object's fields, or none."""
    return value if isinstance(value, dict) else {}


def count(value: object) -> int:
    """Return a plausible count, or 0."""
    # bool is an int to isinstance, and `true` is no count.
    return value if type(value) is int and 0 <= value < LARGEST_COUNT else 0


def amount(value: object) -> float | None:
    """Return a plausible amount of dollars, or None."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < LARGEST_AMOUNT else None  # type: ignore[arg-type,operator]  # bool is no number


def milliseconds(value: object) -> int | None:
    """Return a point in time in milliseconds since 1970, from ISO 8601 or from a number."""
    if isinstance(value, str):
        try:
            number = int(datetime.fromisoformat(value).timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            return None
    else:
        number = count(value)
    return number if 0 < number <= LATEST_MILLISECONDS else None


def synthetic_uuid(*identity: str | None) -> str:
    """Name a record that has no uuid by what it says, so that its copies are the same record."""
    digest = hashlib.blake2b("\0".join(part or "" for part in identity).encode(), digest_size=16).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def leaves(value: object) -> Iterator[tuple[str, object]]:
    """Yield the path and value of everything that is no container, in order, at any depth; long paths are cut."""
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, dict):
            prefix = path[:MOST_PATH] + "." if path else ""
            stack.extend((prefix + key, inner) for key, inner in reversed(item.items()))
        elif isinstance(item, list):
            prefix = path[:MOST_PATH] + "." if path else ""
            stack.extend((f"{prefix}{i}", item[i]) for i in range(len(item) - 1, -1, -1))
        else:
            yield path, item


def strings(value: object) -> str:
    """Gather what a value of unknown shape says: its strings, one a line."""
    if isinstance(value, str):
        return value
    return "\n".join(
        leaf
        for path, leaf in leaves(value)
        if isinstance(leaf, str) and leaf and path.rpartition(".")[2] not in MUTE_KEYS
    )


def written_out(value: object) -> tuple[str, tuple[Field, ...]]:
    """Write a tool's input as `name: value` lines, decoded, and say where each value lies."""
    if not isinstance(value, dict):
        return (value if isinstance(value, str) else strings(value)), ()
    lines: list[str] = []
    fields: list[Field] = []
    position = 0
    is_flat = not any(isinstance(leaf, (dict, list)) for leaf in value.values())
    for path, leaf in value.items() if is_flat else leaves(value):
        # orjson refuses integers of more than 64 bits, which the decoders let through.
        shown = clean(leaf) if isinstance(leaf, str) else json.dumps(leaf)
        start = position + len(path) + 2
        fields.append(Field(name=path, start=start, end=start + len(shown)))
        lines.append(f"{path}: {shown}")
        position = start + len(shown) + 1
    return "\n".join(lines), tuple(fields)
