"""Takes things out of the catalog so that nothing of them remains but what other places hold."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from searchkit.backends.duplicates import Candidate, judge
from searchkit.backends.local.catalog.ids import keep_last_number, last_number, part_id, rows_in
from searchkit.backends.local.catalog.merge import choose_home
from searchkit.backends.local.catalog.schema import KINDS, LINK, SHARED
from searchkit.backends.local.catalog.texts import Packer, Unpacker
from searchkit.sources.parts import digest
from searchkit.text.secrets import Masked, find, mark, mask, masked
from searchkit.types import ANSWERED, Kind, SecretPlace, Standing

_FORGET_TELLINGS = """
DELETE FROM tellings WHERE part IN (SELECT id FROM parts WHERE record = ?1) AND NOT EXISTS
  (SELECT 1 FROM places WHERE record = ?1 AND places.file = tellings.file AND places.line = tellings.line)
"""

_UNTOLD = "SELECT id FROM parts WHERE record = ? AND NOT EXISTS (SELECT 1 FROM tellings WHERE part = parts.id)"

_ORPHANS = """
DELETE FROM responses WHERE id NOT IN (SELECT response FROM records WHERE response IS NOT NULL);
UPDATE responses SET record = first FROM
  (SELECT response, min(uuid) AS first FROM records WHERE response IS NOT NULL GROUP BY response) AS told
  WHERE told.response = responses.id;
DELETE FROM paths WHERE id NOT IN (SELECT path FROM touches);
DELETE FROM problems WHERE file NOT IN (SELECT id FROM files);
DELETE FROM contexts WHERE id NOT IN (SELECT context FROM records UNION SELECT context FROM places);
DELETE FROM names WHERE id NOT IN (
  SELECT type FROM records UNION SELECT ifnull(agent, 0) FROM records UNION SELECT ifnull(tool, 0) FROM parts
  UNION SELECT type FROM places UNION SELECT ifnull(agent, 0) FROM places UNION SELECT ifnull(tool, 0) FROM tellings
  UNION SELECT name FROM facts UNION SELECT agent FROM facts UNION SELECT action FROM touches
  UNION SELECT ifnull(agent, 0) FROM files);
"""

_IS_DOOMED = "IN (SELECT id FROM temp.doomed)"

# Sessions settled in one transaction: enough that its cost vanishes, few enough that none waits.
SESSIONS_AT_ONCE = 200

_IS_CONCERNED = "SELECT EXISTS (SELECT 1 FROM parts WHERE session = ? AND (standing > 0 OR repeats IS NOT NULL))"

_DIGESTS = """
SELECT id, digest, standing, call, kind, repeats FROM parts WHERE session = ?1
UNION SELECT id, digest, standing, call, kind, repeats FROM parts
  WHERE record IN (SELECT record FROM places WHERE session = ?1)
"""

_PARTS = """
SELECT parts.id, uuid, block, variant, digest, parts.standing, time, call, path, abs(line), parts.repeats, parts.session
FROM parts JOIN records ON records.id = parts.record JOIN files ON files.id = records.file WHERE parts.id IN
"""

_ANSWERED = "SELECT value FROM facts WHERE session = ? AND name = (SELECT id FROM names WHERE name = ?)"

_FIND_PARENTS = """
UPDATE records SET missing_parent = NULL,
  parent = (SELECT id FROM records AS parents WHERE parents.uuid = records.missing_parent)
WHERE missing_parent IS NOT NULL
  AND EXISTS (SELECT 1 FROM records AS parents WHERE parents.uuid = records.missing_parent)
"""


def erase_file(connection: sqlite3.Connection, file: int) -> None:
    """Take a file's records out; one that lies in other places too lives on there."""
    _erase_places(connection, "file = ?", file)


def erase_session(connection: sqlite3.Connection, session: int) -> None:
    """Take a session out: its records unless another session has them too, its facts, its name."""
    execute = connection.execute
    _erase_places(connection, "session = ?", session)
    execute("DELETE FROM facts WHERE session = ?", (session,))
    execute(
        "DELETE FROM files WHERE session = ? AND is_gone AND NOT EXISTS (SELECT 1 FROM records WHERE file = files.id)"
        " AND NOT EXISTS (SELECT 1 FROM places WHERE places.file = files.id)",
        (session,),
    )
    execute("UPDATE files SET session = 0 WHERE session = ?", (session,))
    execute("DELETE FROM sessions WHERE id = ?", (session,))


def erase_orphans(connection: sqlite3.Connection) -> None:
    """Take out what nothing refers to any more: names, paths, contexts, and what responses cost."""
    for statement in _ORPHANS.split(";"):
        connection.execute(statement)


def erase_parts(connection: sqlite3.Connection, parts: Sequence[int]) -> None:
    """Take parts out, and records without a uuid of their own that say nothing without them."""
    if not parts:
        return
    records = {row[0] for row in rows_in(connection, "SELECT record FROM parts WHERE id IN", parts)}
    _doom(connection, parts)
    _forget_texts(connection, f"id {_IS_DOOMED}")
    _doom(connection, records)
    connection.execute(
        f"DELETE FROM temp.doomed WHERE EXISTS (SELECT 1 FROM records WHERE records.id = doomed.id AND flags & {LINK})"
        " OR EXISTS (SELECT 1 FROM parts WHERE record = doomed.id)"
    )
    _erase_doomed(connection)


def _erase_places(connection: sqlite3.Connection, condition: str, value: int) -> None:
    execute = connection.execute
    execute(f"UPDATE sessions SET is_settled = 0 WHERE id IN (SELECT session FROM records WHERE {condition})", (value,))
    alone = execute(f"SELECT id FROM records WHERE {condition} AND NOT flags & {SHARED}", (value,)).fetchall()
    shared = [row[0] for row in execute(f"SELECT DISTINCT record FROM places WHERE {condition}", (value,))]
    if not alone and not shared:
        return
    execute(f"DELETE FROM places WHERE {condition}", (value,))
    left = {row[0] for row in rows_in(connection, "SELECT record FROM places WHERE record IN", shared)}
    untold: list[int] = []
    for record in left:
        execute(_FORGET_TELLINGS, (record,))
        untold += [row[0] for row in execute(_UNTOLD, (record,))]
    _doom(connection, {row[0] for row in alone} | (set(shared) - left))
    _erase_doomed(connection)
    erase_parts(connection, untold)
    for record in left:
        choose_home(connection, record)


def _doom(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Put the numbers of what is to go into a table that statements can refer to."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS doomed (id INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM temp.doomed")
    connection.executemany("INSERT OR IGNORE INTO temp.doomed VALUES (?)", [(number,) for number in numbers])


def _erase_doomed(connection: sqlite3.Connection) -> None:
    """Take out the records that are doomed, with all that refers to them."""
    _forget_texts(connection, f"record {_IS_DOOMED}")
    connection.execute(f"DELETE FROM touches WHERE record {_IS_DOOMED}")
    connection.execute(f"DELETE FROM places WHERE record {_IS_DOOMED}")
    connection.execute(
        "UPDATE records SET parent = NULL, missing_parent = (SELECT uuid FROM records AS parents"
        f" WHERE parents.id = records.parent) WHERE parent {_IS_DOOMED} AND id NOT {_IS_DOOMED}"
    )
    connection.execute(f"DELETE FROM records WHERE id {_IS_DOOMED}")


def _forget_texts(connection: sqlite3.Connection, condition: str) -> None:
    """Delete parts and write the chunks that held their texts again, without them and under new numbers."""
    execute = connection.execute
    chunks = execute(
        f"SELECT id, first_part, last_part FROM chunks WHERE id IN (SELECT DISTINCT chunk FROM parts WHERE {condition})"
    ).fetchall()
    execute(f"DELETE FROM tellings WHERE part IN (SELECT id FROM parts WHERE {condition})")
    execute(f"UPDATE parts SET repeats = NULL WHERE repeats IN (SELECT id FROM parts WHERE {condition})")
    execute(f"DELETE FROM parts WHERE {condition}")
    unpacker = Unpacker(connection)
    for chunk, first, last in chunks:
        kept = execute(
            "SELECT id, start, length FROM parts WHERE id BETWEEN ? AND ? AND chunk = ? ORDER BY id",
            (first, last, chunk),
        ).fetchall()
        packer = Packer(last_number(connection, "chunks") + 1)
        moved = [(*packer.add(part, unpacker.encoded(chunk, start, length)), part) for part, start, length in kept]
        keep_last_number(connection, "chunks", packer.last_chunk)
        execute("DELETE FROM chunks WHERE id = ?", (chunk,))
        connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?)", packer.chunks())
        connection.executemany("UPDATE parts SET chunk = ?, start = ?, length = ? WHERE id = ?", moved)


def unsettled(connection: sqlite3.Connection) -> list[int]:
    """List the sessions to settle, as many as one transaction should take."""
    statement = "SELECT id FROM sessions WHERE is_settled = 0 LIMIT ?"
    return [row[0] for row in connection.execute(statement, (SESSIONS_AT_ONCE,))]


def find_parents(connection: sqlite3.Connection) -> None:
    """Give records whose parent came after them its number."""
    connection.execute(_FIND_PARENTS)


def settle(connection: sqlite3.Connection, session: int) -> None:
    """Mark the repeats of one session and drop its stand-ins that are no longer needed."""
    if connection.execute(_IS_CONCERNED, (session,)).fetchone()[0]:
        rows = connection.execute(_DIGESTS, (session,)).fetchall()
        secondary = {digest for _, digest, standing, _, _, repeats in rows if standing or repeats is not None}
        result = KINDS.index(Kind.TOOL_RESULT)
        answered = [call for _, _, standing, call, kind, _ in rows if kind == result and standing < Standing.STAND_IN]
        answered += [row[0] for row in connection.execute(_ANSWERED, (session, ANSWERED))]
        concerned = [part for part, digest, *_ in rows if digest in secondary]
        _decide(connection, session, concerned, [call for call in answered if call])
    connection.execute("UPDATE sessions SET is_settled = 1 WHERE id = ?", (session,))


def _decide(connection: sqlite3.Connection, session: int, parts: list[int], answered: list[str]) -> None:
    """Judge the parts that a session holds; of one that lives in another session only that one decides."""
    rows = list(rows_in(connection, _PARTS, parts))
    verdict = judge(map(_candidate, rows), answered)
    own = {row[0]: row[10] for row in rows if row[11] == session}
    changed = [
        (verdict.repeats.get(part), part)
        for part, repeats in own.items()
        if part not in verdict.dropped and repeats != verdict.repeats.get(part)
    ]
    connection.executemany("UPDATE parts SET repeats = ? WHERE id = ?", changed)
    dropped = [part for part in own if part in verdict.dropped]
    if dropped:
        erase_parts(connection, dropped)


def _candidate(row: tuple[Any, ...]) -> Candidate:
    key, uuid, block, variant, digest, standing, time, call, path, line, *_ = row
    return Candidate(
        key=key,
        id=part_id(uuid, block, variant),
        digest=digest,
        standing=Standing(standing),
        time=time,
        call=call,
        order=(path, line),
    )


# Takes secrets out of what stays.

_TEXTS = """
SELECT parts.id, chunk, start, length, kind, fields, block, variant, uuid, sessions.name
FROM parts JOIN records ON records.id = parts.record JOIN sessions ON sessions.id = parts.session
ORDER BY chunk, parts.id
"""
# Texts beside those of parts. Where another row has the masked value, this one goes.
_VALUES = {"facts": ("value",), "contexts": ("cwd", "branch", "model"), "problems": ("detail",)}


def secrets(connection: sqlite3.Connection) -> Iterator[SecretPlace]:
    """Yield the secrets that the texts of parts hold."""
    unpacker = Unpacker(connection)
    for _, chunk, start, length, _, _, block, variant, uuid, session in connection.execute(_TEXTS):
        text = unpacker.text(chunk, start, length)
        for one in find(text):
            shown = mark(text[one.start : one.end], one)
            yield SecretPlace(session=session or None, part=part_id(uuid, block, variant), kind=one.kind, mark=shown)


def mask_secrets(connection: sqlite3.Connection) -> int:
    """Put masks in the place of secrets, in texts and beside them, and return how many texts had any."""
    unpacker = Unpacker(connection)
    changed: dict[int, dict[int, Masked]] = {}
    kinds: dict[int, int] = {}
    for part, chunk, start, length, kind, *_ in connection.execute(_TEXTS):
        found = masked(unpacker.text(chunk, start, length))
        # What cannot be read is left as it is, for the doctor.
        if found.secrets and chunk not in unpacker.damaged:
            changed.setdefault(chunk, {})[part] = found
            kinds[part] = kind
    for chunk, several in changed.items():
        _rewrite(connection, unpacker, chunk, several, kinds)
    for table, column in ((table, column) for table, columns in _VALUES.items() for column in columns):
        values = connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL").fetchall()
        for (value,) in values:
            if (shown := mask(value)) != value:
                connection.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} = ?", (shown, value))
    for path, value in connection.execute("SELECT id, path FROM paths").fetchall():
        if (shown := mask(value)) != value:
            _rename_path(connection, path, shown)
    return len(kinds)


def _rewrite(
    connection: sqlite3.Connection,
    unpacker: Unpacker,
    chunk: int,
    changed: Mapping[int, Masked],
    kinds: Mapping[int, int],
) -> None:
    """Write a chunk again under a new number, with other texts for some of its parts."""
    execute = connection.execute
    kept = execute("SELECT id, start, length FROM parts WHERE chunk = ? ORDER BY id", (chunk,)).fetchall()
    packer = Packer(last_number(connection, "chunks") + 1)
    moved = []
    for part, start, length in kept:
        text = changed[part].text.encode() if part in changed else unpacker.encoded(chunk, start, length)
        moved.append((*packer.add(part, text), part))
    keep_last_number(connection, "chunks", packer.last_chunk)
    execute("DELETE FROM chunks WHERE id = ?", (chunk,))
    connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?)", packer.chunks())
    connection.executemany("UPDATE parts SET chunk = ?, start = ?, length = ? WHERE id = ?", moved)
    for part, found in changed.items():
        number = digest(KINDS[kinds[part]], found.text)
        execute("UPDATE parts SET digest = ? WHERE id = ?", (number, part))
        for table, column in (("parts", "id"), ("tellings", "part")):
            for (fields,) in execute(f"SELECT DISTINCT fields FROM {table} WHERE {column} = ?", (part,)).fetchall():
                if fields:
                    places = [(name, found.moved(start), found.moved(end)) for name, start, end in orjson.loads(fields)]
                    written = orjson.dumps(places).decode()
                    statement = f"UPDATE {table} SET fields = ? WHERE {column} = ? AND fields = ?"
                    execute(statement, (written, part, fields))
        execute("INSERT OR IGNORE INTO stale VALUES (?)", (part,))


def _rename_path(connection: sqlite3.Connection, path: int, name: str) -> None:
    other = connection.execute("SELECT id FROM paths WHERE path = ?", (name,)).fetchone()
    if other is None:
        connection.execute("UPDATE paths SET path = ? WHERE id = ?", (name, path))
        return
    connection.execute("UPDATE OR IGNORE touches SET path = ? WHERE path = ?", (other[0], path))
    connection.execute("DELETE FROM touches WHERE path = ?", (path,))
    connection.execute("DELETE FROM paths WHERE id = ?", (path,))
