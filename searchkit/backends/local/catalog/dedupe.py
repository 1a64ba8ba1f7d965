"""Decides, for the sessions written to since last time, which parts only repeat others."""

import sqlite3
from typing import Any

from searchkit.backends.duplicates import Candidate, judge
from searchkit.backends.local.catalog.delete import erase_parts
from searchkit.backends.local.catalog.ids import part_id, rows_in
from searchkit.backends.local.catalog.schema import KINDS
from searchkit.types import ANSWERED, Kind, Standing

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
