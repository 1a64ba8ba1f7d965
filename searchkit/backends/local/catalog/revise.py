"""Applies to what the catalog holds what a newer version of a source knows of it, without the transcripts."""

import sqlite3

from searchkit.backends.local.catalog.asking import rows_in
from searchkit.backends.local.catalog.delete import erase_parts
from searchkit.backends.local.catalog.schema import KINDS, LANGUAGES, ROLES
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.sources.parts import digest, language_in
from searchkit.types import Kind, Reading, Role

_OF_TYPES = "record IN (SELECT id FROM records WHERE type IN (SELECT id FROM names WHERE name IN ({marks})))"

_TYPED = f"{KINDS.index(Kind.PROMPT)}, {KINDS.index(Kind.COMMAND)}"


def revise(connection: sqlite3.Connection, reading: Reading) -> None:
    """Take out parts of records that make none any more, and correct the kinds of others."""
    silent = sorted(reading.silent)
    of_types = _OF_TYPES.format(marks=_marks(silent))
    erase_parts(connection, [row[0] for row in connection.execute(f"SELECT id FROM parts WHERE {of_types}", silent)])
    for record_type, kind in reading.kinds.items():
        of_type = f"{_OF_TYPES.format(marks='?')} AND kind != ?"
        parameters = [record_type, KINDS.index(kind)]
        parts = [row[0] for row in connection.execute(f"SELECT id FROM parts WHERE {of_type}", parameters)]
        _correct(connection, parts, kind)
    if not reading.typing:
        return
    typing = sorted(reading.typing)
    not_typed = f"kind IN ({_TYPED}) AND NOT {_OF_TYPES.format(marks=_marks(typing))}"
    parts = [row[0] for row in connection.execute(f"SELECT id FROM parts WHERE {not_typed}", typing)]
    _correct(connection, parts, Kind.SYSTEM, Role.SYSTEM)


def _correct(connection: sqlite3.Connection, parts: list[int], kind: Kind, role: Role | None = None) -> None:
    numbers = KINDS.index(kind), None if role is None else ROLES.index(role)
    unpacker = Unpacker(connection)
    for part, *place in list(rows_in(connection, "SELECT id, chunk, start, length FROM parts WHERE id IN", parts)):
        # Both depend on the kind.
        text = unpacker.text(*place)
        connection.execute(
            "UPDATE parts SET digest = ?, language = ? WHERE id = ?",
            (digest(kind, text), LANGUAGES.index(language_in(kind, text)), part),
        )
    for table, key in (("parts", "id"), ("tellings", "part")):
        connection.executemany(
            f"UPDATE {table} SET kind = ?, role = ifnull(?, role) WHERE {key} = ?",
            [(*numbers, part) for part in parts],
        )
    connection.executemany(
        "UPDATE sessions SET is_settled = 0 WHERE id = (SELECT session FROM parts WHERE id = ?)",
        [(part,) for part in parts],
    )


def _marks(values: list[str]) -> str:
    return ", ".join("?" * len(values))
