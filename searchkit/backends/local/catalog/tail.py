"""The end of a session: the records around the one with which it would go on, looked up from the last line."""

import sqlite3

from searchkit.backends.base import FAR_LINES, Sketch
from searchkit.backends.local.catalog import threads
from searchkit.backends.local.catalog.fragments import IN_LINES, IS_ELSEWHERE, is_own, is_turning, is_typed
from searchkit.backends.local.catalog.ids import uuid_text
from searchkit.backends.local.catalog.schema import LINK, SIDECHAIN

# Lines before a turn that are read, too.
MARGIN_LINES = 16
_NO_AGENT = f"NOT one.flags & {SIDECHAIN}"
_FILE = f"SELECT file FROM records WHERE session = ? AND agent IS NULL AND flags & {LINK} ORDER BY id DESC LIMIT 1"
_IS_IN_ANOTHER_FILE = f"""
SELECT EXISTS (SELECT 1 FROM records WHERE session = :session AND file != :file AND agent IS NULL AND flags & {LINK})
  OR EXISTS (SELECT 1 FROM records WHERE file = :file AND line < 0)
"""
_LAST = f"""
SELECT one.line FROM records AS one WHERE one.file = :file AND {is_own("one")} AND {_NO_AGENT} AND {is_turning("one")}
ORDER BY one.line DESC LIMIT 1
"""
# Of several lines that name a record, the last of its kind counts, and a summary more than a last prompt.
_NAMED = f"""
SELECT one.line, one.uuid, facts.line
FROM facts JOIN names ON names.id = facts.name CROSS JOIN records AS one ON one.uuid = leaf
WHERE facts.session = :session AND facts.agent = 0 AND names.name IN ('last-prompt', 'summary')
  AND facts.line > :last AND {is_own("one")} AND one.file = :file AND {_NO_AGENT}
  AND NOT EXISTS (
    SELECT 1 FROM facts AS other JOIN names AS kind ON kind.id = other.name
    WHERE other.leaf = facts.leaf AND other.session = :session AND other.agent = 0
      AND kind.name IN ('last-prompt', 'summary') AND (kind.name, other.line) > (names.name, facts.line))
ORDER BY facts.line DESC LIMIT 1
"""
_TURN_BEGINS = f"SELECT max(one.line) FROM records AS one WHERE {IN_LINES} AND {is_typed('one')}"
_TURN_ENDS = f"SELECT min(one.line) FROM records AS one WHERE {IN_LINES} AND {is_typed('one')}"


def tail(connection: sqlite3.Connection, session: int) -> Sketch | None:
    """Return the turn that a session ends with; None where that cannot be told without all of it.

    That is where it lies in several files, or was in a file that was replaced. Of a long turn, only
    what is near to the last record is read.
    """
    found = connection.execute(_FILE, (session,)).fetchone()
    if found is None:
        return None
    whose = {"file": found[0], "session": session, "agent": None}
    is_elsewhere = any(connection.execute(one, whose).fetchone()[0] for one in (IS_ELSEWHERE, _IS_IN_ANOTHER_FILE))
    last = None if is_elsewhere else connection.execute(_LAST, whose).fetchone()
    if last is None:
        return None
    named = connection.execute(_NAMED, {**whose, "last": last[0]}).fetchone()
    line = named[0] if named else last[0]
    around = {**whose, "after": line - FAR_LINES, "before": line + 1}
    begin = connection.execute(_TURN_BEGINS, around).fetchone()[0]
    end = connection.execute(_TURN_ENDS, {**whose, "after": line, "before": line + FAR_LINES}).fetchone()[0]
    # Lines may be swapped.
    first, beyond = (begin or line - FAR_LINES) - MARGIN_LINES, end or line + FAR_LINES
    return Sketch(
        nodes=threads.on_lines(connection, whose, max(0, first), beyond - 1),
        gaps={},
        leaves={uuid_text(named[1]): named[2]} if named else {},
    )
