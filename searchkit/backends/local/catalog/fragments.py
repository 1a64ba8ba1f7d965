"""Conditions on the records of one conversation, in SQL, that several questions share.

A conversation is named by the values `:file`, `:session` and `:agent`.
"""

from collections.abc import Mapping

from searchkit.backends.base import TYPED
from searchkit.backends.local.catalog.schema import KINDS, LINK, ROLES
from searchkit.types import Role

Values = Mapping[str, object]

PROGRESS = "(SELECT id FROM names WHERE name = 'progress')"
ASSISTANT = "(SELECT id FROM names WHERE name = 'assistant')"
_USER = "(SELECT id FROM names WHERE name = 'user')"
IS_TYPED_PART = f"""
parts.role = {ROLES.index(Role.USER)} AND parts.kind IN ({",".join(str(KINDS.index(kind)) for kind in sorted(TYPED))})
"""


def is_own(record: str) -> str:
    """Say that a record is of the conversation; the sign keeps SQLite from the index over sessions."""
    return f"+{record}.session = :session AND +{record}.agent IS :agent AND {record}.flags & {LINK}"


def is_typed(record: str) -> str:
    """Say that a turn begins with a record, because somebody typed it."""
    return f"""
    EXISTS (SELECT 1 FROM parts WHERE parts.record = {record}.id AND {IS_TYPED_PART}
      AND (parts.repeats IS NULL OR {record}.type IS NOT {PROGRESS}))
    """


def is_turning(record: str) -> str:
    """Say that a record makes a way of its own, as in `graph.py`."""
    return f"({record}.type = {ASSISTANT} OR ({record}.type = {_USER} AND {is_typed(record)}))"


IN_LINES = f"one.file = :file AND one.line > :after AND one.line < :before AND {is_own('one')}"
# A record that lies in several places of a conversation is told at the first of them.
IS_ELSEWHERE = f"""
SELECT EXISTS (
  SELECT 1 FROM places JOIN records AS one ON one.id = places.record
  WHERE places.session = :session AND places.agent IS :agent AND one.flags & {LINK}
    AND NOT ({is_own("one")} AND one.file = :file AND places.file = :file AND one.line <= abs(places.line)))
"""
