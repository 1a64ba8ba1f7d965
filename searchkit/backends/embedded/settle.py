"""Decides, for the sessions written to since last time, which parts only repeat others."""

import sqlite3
from typing import Any

from searchkit.backends.embedded.erase import erase_parts
from searchkit.backends.embedded.keys import part_id
from searchkit.backends.embedded.writer import KINDS, MOST_VARIABLES
from searchkit.backends.repeats import Candidate, judge
from searchkit.types import Kind, Standing

# Sessions settled in one transaction: enough that its cost vanishes, few enough that none waits.
SESSIONS_AT_ONCE = 200

_SECONDARY = """
SELECT parts.id, uuid, block, variant, digest, parts.standing, time, call, path, abs(line), parts.repeats
FROM parts JOIN records ON records.id = parts.record JOIN files ON files.id = records.file
WHERE parts.session = ? AND parts.standing > 0
"""
_PRIMARY = """
SELECT parts.id, uuid, block, variant, digest, parts.standing, time, call, path, abs(line), parts.repeats
FROM parts JOIN records ON records.id = parts.record JOIN files ON files.id = records.file
WHERE parts.session = ? AND parts.standing = 0 AND digest IN
"""


def unsettled(connection: sqlite3.Connection) -> list[int]:
    """List the sessions to settle, as many as one transaction should take."""
    statement = "SELECT id FROM sessions WHERE is_settled = 0 LIMIT ?"
    return [row[0] for row in connection.execute(statement, (SESSIONS_AT_ONCE,))]


def settle(connection: sqlite3.Connection, session: int) -> None:
    """Mark the repeats of one session and drop its stand-ins that are no longer needed."""
    rows = connection.execute(_SECONDARY, (session,)).fetchall()
    if rows:
        digests = list({row[4] for row in rows})
        for start in range(0, len(digests), MOST_VARIABLES):
            some = digests[start : start + MOST_VARIABLES]
            statement = f"{_PRIMARY} ({','.join('?' * len(some))})"
            rows += connection.execute(statement, (session, *some)).fetchall()
        verdict = judge(map(_candidate, rows), _answered(connection, rows))
        before = {row[0]: row[10] for row in rows}
        changed = [
            (verdict.repeats.get(part), part)
            for part, repeats in before.items()
            if part not in verdict.dropped and repeats != verdict.repeats.get(part)
        ]
        connection.executemany("UPDATE parts SET repeats = ? WHERE id = ?", changed)
        if verdict.dropped:
            erase_parts(connection, verdict.dropped)
    connection.execute("UPDATE sessions SET is_settled = 1 WHERE id = ?", (session,))


def _candidate(row: tuple[Any, ...]) -> Candidate:
    key, uuid, block, variant, digest, standing, time, call, path, line, _ = row
    return Candidate(
        key=key,
        id=part_id(uuid, block, variant),
        digest=digest,
        standing=Standing(standing),
        time=time,
        call=call,
        order=(path, line),
    )


def _answered(connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> list[str]:
    """Find the calls that stand-ins stand in for and whose result has come after all."""
    calls = [row[7] for row in rows if row[5] == Standing.STAND_IN and row[7]]
    answered = []
    for start in range(0, len(calls), MOST_VARIABLES):
        some = calls[start : start + MOST_VARIABLES]
        found = connection.execute(
            f"SELECT DISTINCT call FROM parts WHERE kind = ? AND standing < ? AND call IN ({','.join('?' * len(some))})",
            (KINDS.index(Kind.TOOL_RESULT), int(Standing.STAND_IN), *some),
        )
        answered += [row[0] for row in found]
    return answered
