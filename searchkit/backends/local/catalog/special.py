"""Which records decide about the ways of a long conversation.

Most of a conversation is a chain: each record hangs off one a few lines before it, and nothing else leads on from
there. Where that is not so, a record is special: it begins something, follows a compaction, leads on in two ways,
hangs off a line that is far away, or another session goes on from it. SQLite looks for these at 1 µs a record.
"""

import json
import sqlite3

from searchkit.backends.local.catalog.fragments import ASSISTANT, IS_ELSEWHERE, Values, is_own, is_turning
from searchkit.backends.local.catalog.schema import BOUNDARY, CALLED_BY_PARENT, KINDS, LINK, SIDECHAIN
from searchkit.types import Kind

# Of 101,000 links of real transcripts, 145 lead further back than so many lines.
NEAR_LINES = 16
# Where so large a share of the records is special, there is nothing to be gained.
MOST_SPECIAL_SHARE = 0.2


def _is_leading(record: str) -> str:
    """Say that a record, or one below it, makes a way of its own."""
    return f"""({is_turning(record)} OR EXISTS (
      WITH RECURSIVE below (id) AS (
        SELECT id FROM records WHERE parent = {record}.id
        UNION SELECT records.id FROM below JOIN records ON records.parent = below.id)
      SELECT 1 FROM below JOIN records AS one ON one.id = below.id WHERE {is_own("one")} AND {is_turning("one")}))
    """


# Records that do not just follow the one before, with the lines of what they follow and of what else follows that. Of
# several that follow one record, only one can have the next number, so that those are looked at that have not.
_SPECIAL = f"""
SELECT one.line, above.line,
  (SELECT other.line FROM records AS other WHERE other.id = one.parent + 1 AND other.parent = one.parent),
  (SELECT logical.line FROM records AS logical WHERE logical.uuid = one.logical_parent AND {is_own("logical")}),
  one.file != :file OR one.line < 0 OR one.flags & {SIDECHAIN} != :sidechain
FROM records AS one LEFT JOIN records AS above ON above.id = one.parent AND {is_own("above")}
WHERE one.session = :session AND one.agent IS :agent AND one.flags & {LINK} AND (
  one.file != :file OR one.line < 0 OR one.flags & {SIDECHAIN} != :sidechain OR one.flags & {BOUNDARY}
  OR above.id IS NULL OR above.line NOT BETWEEN one.line - {NEAR_LINES} AND one.line - 1
  OR (one.parent != one.id - 1
    AND (SELECT count(*) FROM (SELECT 1 FROM records AS other WHERE other.parent = one.parent LIMIT 2)) > 1
    AND {_is_leading("one")}
    AND (SELECT count(*) FROM records AS other
         WHERE other.parent = one.parent AND {is_own("other")} AND {_is_leading("other")}) > 1))
"""
# A response that begins in several places belongs together: other records came between, or a file holds a conversation
# twice, with other ids.
_TORN = f"""
SELECT one.response FROM records AS one JOIN records AS above ON above.id = one.parent
WHERE one.session = :session AND {is_own("one")} AND one.response IS NOT NULL AND above.response IS NOT one.response
GROUP BY one.response HAVING max(one.line) - min(one.line) > {NEAR_LINES}
"""
_OF_RESPONSES = f"""
SELECT one.line FROM records AS one
WHERE one.session = :session AND {is_own("one")} AND one.response IN (SELECT value FROM json_each(:responses))
"""
# A result belongs to its call, wherever it hangs.
_FAR_RESULTS = f"""
SELECT one.line, maker.line FROM records AS one
  JOIN parts AS result ON result.record = one.id AND result.kind = {KINDS.index(Kind.TOOL_RESULT)}
  JOIN parts AS made ON made.call = result.call AND made.kind = {KINDS.index(Kind.TOOL_CALL)}
  JOIN records AS maker ON maker.id = made.record
WHERE one.session = :session AND {is_own("one")} AND one.type IS NOT {ASSISTANT} AND NOT one.flags & {CALLED_BY_PARENT}
  AND {is_own("maker")}
  AND maker.file = :file AND abs(maker.line - one.line) > {NEAR_LINES}
"""
_GOES_ON_ELSEWHERE = f"""
SELECT DISTINCT above.line FROM records AS one JOIN records AS above ON above.id = one.parent
WHERE one.parent BETWEEN (SELECT min(id) FROM records WHERE session = :session)
    AND (SELECT max(id) FROM records WHERE session = :session)
  AND +one.session NOT IN (0, :session) AND {is_own("above")}
"""


def special_lines(connection: sqlite3.Connection, whose: Values) -> list[int] | None:
    """Return the lines of special records, in order."""
    if connection.execute(IS_ELSEWHERE, whose).fetchone()[0]:
        return None
    every, first, last = connection.execute(
        "SELECT count(*), min(line), max(line) FROM records WHERE file = :file", whose
    ).fetchone()
    special = {first, last}
    for *lines, is_strange in connection.execute(_SPECIAL, whose):
        special.update(line for line in lines if line is not None)
        if is_strange or len(special) > every * MOST_SPECIAL_SHARE:
            return None
    if torn := [row[0] for row in connection.execute(_TORN, whose)]:
        several = {**whose, "responses": json.dumps(torn)}
        special.update(row[0] for row in connection.execute(_OF_RESPONSES, several))
    special.update(line for row in connection.execute(_FAR_RESULTS, whose) for line in row)
    special.update(row[0] for row in connection.execute(_GOES_ON_ELSEWHERE, whose))
    return sorted(special) if len(special) <= every * MOST_SPECIAL_SHARE else None
