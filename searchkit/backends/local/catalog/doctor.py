"""What is wrong: in the transcripts, as the catalog shows them, and in the catalog itself."""

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

from searchkit.backends.local.catalog.checksums import broken, span
from searchkit.backends.local.catalog.ids import uuid_text
from searchkit.backends.local.catalog.repair import damaged_texts, wrong_definitions
from searchkit.backends.local.catalog.schema import CALLED_BY_PARENT, KINDS, LINK
from searchkit.types import Finding, Kind

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
