"""Where a record that has several places lives, and how it reads: as the best of its places shows it.

Nothing depends on which place was seen first: a live line before one that was replaced, an
original before a copy, what was not forked before what was, then the path, then the line.
"""

import sqlite3
from collections.abc import Iterable

from searchkit.backends.local.catalog.ids import variant_of
from searchkit.backends.local.catalog.schema import FORKED, SHARED

# Orders the places of a record, the home first; the files must be joined.
BEST = f"places.line < 0, is_copy, (places.flags & {FORKED}) != 0, path, abs(places.line), is_by_file"

_SHARE = f"""
INSERT OR IGNORE INTO places
SELECT id, file, line, 0, session, agent,
  ifnull((SELECT uuid FROM records AS parents WHERE parents.id = records.parent), missing_parent),
  logical_parent, source_call, type, time, context, response, standing, flags & ~{SHARED}
FROM records WHERE id = ?
"""
_SHARE_TELLINGS = """
INSERT OR IGNORE INTO tellings
SELECT parts.id, file, line, kind, role, tool, call, is_error, fields
FROM parts JOIN records ON records.id = record WHERE record = ?
"""
_MOVE_HOME = f"""
UPDATE records SET
  parent = (SELECT id FROM records AS parents WHERE parents.uuid = best.parent),
  missing_parent = iif(EXISTS (SELECT 1 FROM records AS parents WHERE parents.uuid = best.parent), NULL, best.parent),
  logical_parent = best.logical_parent, source_call = best.source_call, type = best.type, session = best.session,
  agent = best.agent, file = best.file, line = best.line, time = best.time, context = best.context,
  response = best.response, flags = best.flags | {SHARED},
  standing = (SELECT min(standing) FROM places WHERE record = ?1)
FROM (SELECT places.* FROM places JOIN files ON files.id = places.file
      WHERE record = ?1 ORDER BY {BEST} LIMIT 1) AS best
WHERE records.id = ?1
"""
_RETELL = f"""
UPDATE parts SET kind = best.kind, role = best.role, tool = best.tool, call = best.call, is_error = best.is_error,
  fields = best.fields
FROM (SELECT part, tellings.kind, tellings.role, tellings.tool, tellings.call, tellings.is_error, tellings.fields,
        row_number() OVER (PARTITION BY part ORDER BY {BEST}) AS number
      FROM tellings JOIN parts AS told ON told.id = part
        JOIN places ON places.record = told.record AND places.file = tellings.file AND places.line = tellings.line
        JOIN files ON files.id = places.file
      WHERE told.record = ?1) AS best
WHERE parts.id = best.part AND best.number = 1
"""
# Parts belong to the session of their record's home, and stand as high as it does.
FOLLOW_RECORD = """
UPDATE parts SET (session, standing) = (SELECT session, standing FROM records WHERE id = ?1) WHERE record = ?1
"""
_UNSETTLE = """
UPDATE sessions SET is_settled = 0 WHERE id IN
  (SELECT session FROM records WHERE id = ?1 UNION SELECT session FROM places WHERE record = ?1)
"""


def share(connection: sqlite3.Connection, record: int) -> None:
    """Begin to keep the places of a record apart; until now it had one."""
    connection.execute(_SHARE, (record,))
    connection.execute(_SHARE_TELLINGS, (record,))
    connection.execute(f"UPDATE records SET flags = flags | {SHARED} WHERE id = ?", (record,))


def choose_home(connection: sqlite3.Connection, record: int) -> None:
    """Let a shared record and its parts read as the best of its places shows them."""
    connection.execute(_UNSETTLE, (record,))
    connection.execute(_MOVE_HOME, (record,))
    connection.execute(_RETELL, (record,))
    connection.execute(FOLLOW_RECORD, (record,))
    number_variants(connection, [record])


def number_variants(connection: sqlite3.Connection, records: Iterable[int]) -> None:
    """Give the text with the smallest digest of each block the plain id, and the others their own."""
    for record in records:
        smallest: dict[int, int] = {}
        rows = connection.execute(
            "SELECT id, block, digest, variant FROM parts WHERE record = ? ORDER BY digest", (record,)
        ).fetchall()
        for part, block, digest, variant in rows:
            wanted = 0 if smallest.setdefault(block, digest) == digest else variant_of(digest)
            if wanted != variant:
                connection.execute("UPDATE parts SET variant = ? WHERE id = ?", (wanted, part))
