"""Compares the record types and field names that a client writes with those that were known when it was last looked at.

The inventory holds names only, never values. Names that a client made up for its values (ids, paths, names of models)
are not fields: the objects that have them are listed in `BY_VALUE`.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

COMMITTED = Path(__file__).with_name("inventory.json")
# Objects whose keys are values: paths, ids, names of models, and inputs and results of tools.
BY_VALUE = ("trackedFileBackups", "modelUsage", "input", "toolUseResult", "structuredContent", "snapshot", "params")
# Deeper objects hold what tools and hooks return.
MAX_DEPTH = 3

Inventory = dict[str, list[str]]


def collect(records: Iterable[Mapping[str, Any]]) -> Inventory:
    """Return the fields of each type of record; attachments and system records are told apart by their own type."""
    found: dict[str, set[str]] = {}
    for record in records:
        name = str(record.get("type"))
        attachment = record.get("attachment")
        if isinstance(attachment, Mapping):
            found.setdefault(f"{name}/{attachment.get('type')}", set()).update(_fields(attachment, "", MAX_DEPTH))
            record = {key: value for key, value in record.items() if key != "attachment"}
        elif name == "system":
            name = f"{name}/{record.get('subtype')}"
        found.setdefault(name, set()).update(_fields(record, "", MAX_DEPTH))
    return {name: sorted(fields) for name, fields in sorted(found.items())}


def news(seen: Inventory, known: Inventory) -> list[str]:
    """Say what was seen that is not known, a line for each type of record."""
    lines = []
    for name, fields in seen.items():
        if name not in known:
            lines.append(f"new type {name}: {', '.join(fields)}")
        elif fresh := sorted(set(fields) - set(known[name])):
            lines.append(f"new fields of {name}: {', '.join(fresh)}")
    return lines


def merged(one: Inventory, other: Inventory) -> Inventory:
    """Return all that either has."""
    return {name: sorted({*one.get(name, ()), *other.get(name, ())}) for name in sorted({*one, *other})}


def load(path: Path = COMMITTED) -> Inventory:
    """Read an inventory; nothing is known where there is none."""
    return dict(json.loads(path.read_text())) if path.exists() else {}


def save(inventory: Inventory, path: Path = COMMITTED) -> None:
    """Write an inventory."""
    path.write_text(json.dumps(inventory, indent=1) + "\n")


def _fields(value: Mapping[str, Any], prefix: str, depth: int) -> set[str]:
    found: set[str] = set()
    for name, inner in value.items():
        found.add(prefix + name)
        if name in BY_VALUE or depth <= 1:
            continue
        for one in inner if isinstance(inner, list) else [inner]:
            if isinstance(one, Mapping):
                found |= _fields(one, f"{prefix}{name}.", depth - 1)
    return found
