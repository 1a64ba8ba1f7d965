"""Finds what is damaged in the catalog and corrects it, and applies what a newer reader knows."""

import random
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import zstandard

from searchkit.backends.local.catalog import schema
from searchkit.backends.local.catalog.checksums import broken, reseal, span
from searchkit.backends.local.catalog.delete import erase_file, erase_orphans, erase_parts
from searchkit.backends.local.catalog.ids import rows_in, uuid_text
from searchkit.backends.local.catalog.schema import CALLED_BY_PARENT, KINDS, LANGUAGES, LINK, ROLES
from searchkit.backends.local.catalog.texts import Unpacker, compress, unpack, unpack_unchecked
from searchkit.sources.parts import digest, language_in
from searchkit.types import Finding, Kind, Reading, Role, Standing

# Finds what is damaged in the catalog, and puts right what a reading of all transcripts does not.
#
# Reading everything again replaces, file by file, whatever the transcripts still have. What only the catalog
# has cannot be read again: its texts are kept as far as they can be read, and named in `losses`.

_IN_CHUNK = "SELECT id, kind, digest, start, length FROM parts WHERE chunk = ? AND id BETWEEN ? AND ?"

# Sessions that nothing is in: their name was another before it was damaged.
_EMPTY_SESSIONS = """
id > 0 AND has_transcript AND id NOT IN (SELECT session FROM records) AND id NOT IN (SELECT session FROM files)
AND id NOT IN (SELECT session FROM places)
"""

# Files that are gone, and whose records all lie in another file that is not: their path was another.
_GHOSTS = """
SELECT id FROM files AS ghosts WHERE id BETWEEN ? AND ? AND is_gone AND NOT EXISTS (
  SELECT 1 FROM records WHERE records.file = ghosts.id AND NOT EXISTS (
    SELECT 1 FROM places JOIN files ON files.id = places.file WHERE record = records.id AND NOT is_gone))
"""

# Whether the transcripts have all that the catalog ever had, which it knows where it knows all their files.
_ALL_WAS_READ = """
SELECT NOT EXISTS (SELECT 1 FROM files WHERE is_gone)
  AND NOT EXISTS (SELECT 1 FROM losses WHERE detail LIKE '%rows of files%' OR detail LIKE '%rows of every table%')
"""

# What refers to rows that could not be read goes with them; what a record cannot do without is given again.
_DANGLING = """
DELETE FROM parts WHERE [parts];
DELETE FROM records WHERE [records];
DELETE FROM parts WHERE record NOT IN (SELECT id FROM records);
DELETE FROM records WHERE file NOT IN (SELECT id FROM files) AND NOT flags & 32;
DELETE FROM parts WHERE record NOT IN (SELECT id FROM records);
UPDATE parts SET repeats = NULL WHERE repeats NOT IN (SELECT id FROM parts);
DELETE FROM places WHERE record NOT IN (SELECT id FROM records) OR file NOT IN (SELECT id FROM files);
DELETE FROM tellings WHERE part NOT IN (SELECT id FROM parts);
DELETE FROM touches WHERE record NOT IN (SELECT id FROM records) OR path NOT IN (SELECT id FROM paths);
UPDATE records SET parent = NULL WHERE parent NOT IN (SELECT id FROM records);
INSERT OR IGNORE INTO names SELECT DISTINCT type, 'lost-' || type FROM records WHERE type NOT IN (SELECT id FROM names);
INSERT OR IGNORE INTO contexts (id)
  SELECT DISTINCT context FROM records WHERE context NOT IN (SELECT id FROM contexts);
INSERT OR IGNORE INTO contexts (id) SELECT DISTINCT context FROM places WHERE context NOT IN (SELECT id FROM contexts);
INSERT OR IGNORE INTO sessions (id, name)
  SELECT DISTINCT session, 'lost-' || session FROM records WHERE session NOT IN (SELECT id FROM sessions);
INSERT OR IGNORE INTO chunks SELECT chunk, min(id), max(id), x'' FROM parts
  WHERE chunk NOT IN (SELECT id FROM chunks) GROUP BY chunk;
UPDATE sessions SET is_settled = 0 WHERE id > 0
"""

# Columns that hold numbers: a row with anything else there is of no use.
_NUMBERS = {
    "parts": ("record", "chunk", "start", "length", "kind", "role", "session", "digest"),
    "records": ("type", "context", "session", "file", "line", "flags", "standing"),
}

_CALL, _RESULT = KINDS.index(Kind.TOOL_CALL), KINDS.index(Kind.TOOL_RESULT)

_AT = "JOIN files ON files.id = records.file WHERE records.line > 0"

# Of each table so many blocks of rows, and so many chunks of text, where not all is asked for: well below a second.
SAMPLED_BLOCKS = 16

SAMPLED_CHUNKS = 200

# Records are written by several tasks at once, and many are some seconds older than the line before: nothing is amiss.
TOLERATED_MILLISECONDS = 10 * 60_000

MEND = "run searchkit index --rebuild"

# Each query yields path, line and detail.
_QUERIES = {
    "not JSON lines": """
        SELECT path, 0, 'none of its ' || lines || ' lines is a record' FROM files WHERE lines > 0 AND torn = lines""",
    "invalid uuid": f"""
        SELECT path, line, substr(uuid, 1, 60) FROM records {_AT} AND typeof(uuid) = 'text' AND flags & {LINK}""",
    "duplicate uuid": f"""
        SELECT path, places.line AS line, uuid FROM places JOIN records ON records.id = places.record
          JOIN files ON files.id = places.file
        WHERE places.file = records.file AND places.line != records.line AND records.line > 0
          AND records.flags & {LINK}""",
    "missing parent": f"""
        SELECT path, line, missing_parent FROM records {_AT} AND missing_parent IS NOT NULL""",
    "time running backwards": f"""
        SELECT path, line, ((before - time) / 60000) || ' min earlier than the line before' FROM (
          SELECT path, line, time, lag(time) OVER (PARTITION BY file ORDER BY line) AS before
          FROM records {_AT} AND time IS NOT NULL AND flags & {LINK})
        WHERE time < before - {TOLERATED_MILLISECONDS}""",
    "call without result": f"""
        SELECT path, line, ifnull(names.name, '?') || ' ' || call FROM parts JOIN records ON records.id = record
          LEFT JOIN names ON names.id = tool {_AT} AND parts.kind = {_CALL} AND call IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM parts AS results WHERE results.call = parts.call AND results.kind = {_RESULT})
          AND NOT EXISTS (SELECT 1 FROM records AS results WHERE results.parent = records.id
            AND results.flags & {CALLED_BY_PARENT})""",
    "result without call": f"""
        SELECT path, line, call FROM parts JOIN records ON records.id = record {_AT}
          AND parts.kind = {_RESULT} AND call IS NOT NULL AND records.standing = 0
          AND NOT EXISTS (SELECT 1 FROM parts AS calls WHERE calls.call = parts.call AND calls.kind = {_CALL})""",
}

# Edges that do not point back to an earlier line of the same file: every cycle has one.
_FORWARD = """
SELECT records.id FROM records JOIN records AS parents ON parents.id = records.parent
WHERE parents.file != records.file OR parents.line >= records.line
"""

_HEALTH = {
    "part without record": "SELECT count(*) FROM parts WHERE record NOT IN (SELECT id FROM records)",
    "part without text": "SELECT count(*) FROM parts WHERE chunk NOT IN (SELECT id FROM chunks)",
    "repeat of nothing": "SELECT count(*) FROM parts WHERE repeats NOT IN (SELECT id FROM parts)",
    "place without record": "SELECT count(*) FROM places WHERE record NOT IN (SELECT id FROM records)",
    "unsettled session": "SELECT count(*) FROM sessions WHERE NOT is_settled AND has_transcript",
}


def drop_dangling(connection: sqlite3.Connection) -> None:
    """Take out what refers to rows that are not there."""
    statements = _DANGLING
    for table, columns in _NUMBERS.items():
        statements = statements.replace(f"[{table}]", " OR ".join(f"typeof({one}) != 'integer'" for one in columns))
    for statement in statements.split(";"):
        connection.execute(statement)


def damaged_texts(connection: sqlite3.Connection, most: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the part and the chunk of every text that is not the one that was written; of so many chunks."""
    known = {row[0] for row in connection.execute("SELECT part FROM losses WHERE part IS NOT NULL")}
    decompressor = zstandard.ZstdDecompressor()
    for chunk, first, last, packed in _chunks(connection, most):
        is_packed_well = True
        try:
            texts = unpack(packed, decompressor)
        except zstandard.ZstdError:
            is_packed_well, texts = False, unpack_unchecked(packed, decompressor)
        parts = connection.execute(_IN_CHUNK, (chunk, first, last)).fetchall()
        bad = [row[0] for row in parts if not _is_whole(texts, *row[1:])]
        if not is_packed_well and not bad:
            # The checksum itself, or what no part has.
            yield 0, chunk
        for part in bad:
            if part not in known:
                yield part, chunk


def mend_indexes(connection: sqlite3.Connection) -> bool:
    """Make the indexes of the tables again where they do not fit; say whether all is well after that."""
    if _is_sound(connection):
        return _is_as_defined(connection)
    try:
        connection.execute("REINDEX")
    except sqlite3.DatabaseError:
        return False
    return _is_sound(connection) and _is_as_defined(connection)


def note_losses(connection: sqlite3.Connection) -> None:
    """Take what is still damaged as it is, and note it: no transcript has it any more."""
    execute = connection.execute
    now = int(time.time() * 1000)
    for table, block in list(broken(connection)):
        bounds = span(table, block)
        if table == "files" and bounds is not None:
            for (file,) in execute(_GHOSTS, bounds[1:]).fetchall():
                erase_file(connection, file)
                execute("DELETE FROM files WHERE id = ?", (file,))
        if bounds is not None and _is_about_gone(connection, table, bounds):
            key, first, last = bounds
            detail = f"what is in {table} with {key} {first} to {last} may not be as it was written"
            execute("INSERT INTO losses (time, detail) VALUES (?, ?)", (now, detail))
    if execute(_ALL_WAS_READ).fetchone()[0]:
        execute("DELETE FROM losses")
    drop_dangling(connection)
    execute("UPDATE parts SET kind = ? WHERE kind NOT BETWEEN 0 AND ?", (KINDS.index(Kind.TEXT), len(KINDS) - 1))
    execute("UPDATE parts SET role = ? WHERE role NOT BETWEEN 0 AND ?", (ROLES.index(Role.SYSTEM), len(ROLES) - 1))
    execute("UPDATE parts SET language = 0 WHERE language NOT BETWEEN 0 AND ?", (len(LANGUAGES) - 1,))
    execute("UPDATE records SET standing = 0 WHERE standing NOT BETWEEN 0 AND ?", (max(Standing),))
    execute("UPDATE parts SET standing = 0 WHERE standing NOT BETWEEN 0 AND ?", (max(Standing),))
    execute(f"DELETE FROM facts WHERE session IN (SELECT id FROM sessions WHERE {_EMPTY_SESSIONS})")
    execute(f"DELETE FROM sessions WHERE {_EMPTY_SESSIONS}")
    erase_orphans(connection)
    _note_texts(connection, now)
    for table, block in list(broken(connection)):
        reseal(connection, table, block)


def _note_texts(connection: sqlite3.Connection, now: int) -> None:
    decompressor = zstandard.ZstdDecompressor()
    damaged = list(damaged_texts(connection))
    for part, _ in damaged:
        if part:
            where = connection.execute(
                "SELECT path FROM parts JOIN records ON records.id = record JOIN files ON files.id = file"
                " WHERE parts.id = ?",
                (part,),
            ).fetchone()
            detail = f"a text of {where[0] if where else 'an unknown file'}, which is gone"
            connection.execute("INSERT INTO losses (time, part, detail) VALUES (?, ?, ?)", (now, part, detail))
    for chunk in {chunk for _, chunk in damaged}:
        (packed,) = connection.execute("SELECT data FROM chunks WHERE id = ?", (chunk,)).fetchone()
        texts = unpack_unchecked(packed, decompressor) if isinstance(packed, bytes) else b""
        connection.execute("UPDATE chunks SET data = ? WHERE id = ?", (compress(texts), chunk))


def _chunks(connection: sqlite3.Connection, most: int | None) -> Iterator[tuple[int, int, int, bytes]]:
    numbers = [row[0] for row in connection.execute("SELECT id FROM chunks")]
    if most is not None and len(numbers) > most:
        numbers = sorted(random.sample(numbers, most))
    for number in numbers:
        first, last, packed = connection.execute(
            "SELECT first_part, last_part, data FROM chunks WHERE id = ?", (number,)
        ).fetchone()
        yield number, first, last, packed if isinstance(packed, bytes) else b""


def _is_whole(texts: bytes, kind: int, expected: int, start: int, length: int) -> bool:
    encoded = texts[start : start + length]
    if len(encoded) != length or not 0 <= kind < len(KINDS):
        return False
    try:
        return digest(KINDS[kind], encoded.decode()) == expected
    except UnicodeDecodeError:
        return False


def _is_sound(connection: sqlite3.Connection) -> bool:
    try:
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False


def _is_as_defined(connection: sqlite3.Connection) -> bool:
    return not list(wrong_definitions(connection))


def wrong_definitions(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the tables, indexes and triggers whose definition is not that of this format."""
    statement = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    expected = sqlite3.connect(":memory:", isolation_level=None)
    try:
        expected.create_function("row_sum", -1, lambda *values: 0, deterministic=True)
        expected.executescript(schema.new_catalog())
        for late in schema.LATE_INDEXES:
            expected.execute(late)
        right = dict(expected.execute(statement))
    finally:
        expected.close()
    try:
        found = dict(connection.execute(statement))
    except sqlite3.DatabaseError:
        # One of them is no UTF-8.
        yield "sqlite_master"
        return
    for name in sorted({*right, *found}):
        is_late = any(f" {name} ON" in late for late in schema.LATE_INDEXES)
        if right.get(name) != found.get(name) and not (is_late and name not in found):
            yield name


def _is_about_gone(connection: sqlite3.Connection, table: str, bounds: tuple[str, int, int]) -> bool:
    """Say whether some of these rows are about files that no longer are: of others all was read again."""
    key, first, last = bounds
    has_gone = "SELECT EXISTS (SELECT 1 FROM files WHERE is_gone)"
    of_records = f"""
        SELECT EXISTS (SELECT 1 FROM {table} AS damaged JOIN records ON records.id = %s
          JOIN files ON files.id = records.file WHERE damaged.{key} BETWEEN ? AND ? AND is_gone)"""
    if table in ("records", "places", "touches", "parts"):
        column = {"records": "damaged.id"}.get(table, "damaged.record")
        return bool(connection.execute(of_records % column, (first, last)).fetchone()[0])
    if table == "tellings":
        statement = """
            SELECT EXISTS (SELECT 1 FROM tellings JOIN parts ON parts.id = part JOIN records ON records.id = record
              JOIN files ON files.id = records.file WHERE part BETWEEN ? AND ? AND is_gone)"""
        return bool(connection.execute(statement, (first, last)).fetchone()[0])
    return table != "losses" and bool(connection.execute(has_gone).fetchone()[0])


# Applies to what the catalog holds what a newer version of a source knows of it, without the transcripts.

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


def findings(connection: sqlite3.Connection, path: Path, is_deep: bool = False) -> Iterator[Finding]:
    """Yield everything that is wrong, grouped by what it is; of the texts and the rows themselves a sample, or all."""
    rows = connection.execute(
        "SELECT problems.kind, path, line, detail FROM problems JOIN files ON files.id = problems.file"
        " ORDER BY problems.kind, path, line"
    )
    for kind, file, line, detail in rows:
        yield Finding(kind=kind, file=file, line=line, detail=detail)
    for kind, query in _QUERIES.items():
        for file, line, detail in connection.execute(f"SELECT * FROM ({query}) ORDER BY 1, 2"):
            yield Finding(kind=kind, file=file, line=line, detail=_shown(detail))
    yield from _cycles(connection)
    yield from _health(connection, path, is_deep)
    yield from _damage(connection, path, is_deep)


def _cycles(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Walk up from every edge that points forward, and report each cycle once."""
    settled: set[int] = set()
    step = """
        SELECT parents.id FROM records JOIN records AS parents ON parents.id = records.parent WHERE records.id = ?"""
    for (start,) in connection.execute(_FORWARD).fetchall():
        path: dict[int, None] = {}
        current: int | None = start
        while current is not None and current not in settled and current not in path:
            path[current] = None
            row = connection.execute(step, (current,)).fetchone()
            current = row[0] if row else None
        if current is not None and current in path:
            length = len(path) - list(path).index(current)
            file, line = connection.execute(
                "SELECT path, line FROM records JOIN files ON files.id = file WHERE records.id = ?",
                (current,),
            ).fetchone()
            yield Finding(kind="cycle", file=file, line=line, detail=f"{length} records are their own ancestors")
        settled.update(path)


def _damage(connection: sqlite3.Connection, path: Path, is_deep: bool) -> Iterator[Finding]:
    """Yield the rows and texts that are not as they were written, and those that are known to be lost."""

    def found(kind: str, detail: str) -> Finding:
        return Finding(kind=f"index: {kind}", file=str(path), line=0, detail=detail)

    for name in wrong_definitions(connection):
        yield found("damaged definition", f"{name}: {MEND}")
    for table, block in broken(connection, None if is_deep else SAMPLED_BLOCKS):
        bounds = span(table, block)
        where = "all rows" if bounds is None else "rows with {} {} to {}".format(*bounds)
        yield found("damaged rows", f"{table}, {where}: {MEND}")
    for part, chunk in damaged_texts(connection, None if is_deep else SAMPLED_CHUNKS):
        what = f"the text of part {part}" if part else "a checksum"
        yield found("damaged text", f"{what} in chunk {chunk}: {MEND}")
    for (detail,) in connection.execute("SELECT detail FROM losses ORDER BY id"):
        yield found("lost", detail)


def _health(connection: sqlite3.Connection, path: Path, is_deep: bool) -> Iterator[Finding]:
    for (said,) in connection.execute(f"PRAGMA {'integrity_check' if is_deep else 'quick_check'}(20)").fetchall():
        if said != "ok":
            yield Finding(kind="index: damaged", file=str(path), line=0, detail=said)
    for kind, query in _HEALTH.items():
        number = connection.execute(query).fetchone()[0]
        if number:
            yield Finding(kind=f"index: {kind}", file=str(path), line=0, detail=f"{number} of them")
    for file in (path, *path.parent.glob(path.name + "-*")):
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & 0o077:
            yield Finding(kind="index: readable by others", file=str(file), line=0, detail=f"mode {mode:o}")


def _shown(detail: object) -> str:
    # A damaged row may hold anything.
    return uuid_text(detail) if isinstance(detail, bytes) else str(detail)
