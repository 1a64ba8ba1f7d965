"""Which parts of a long conversation are read: what is special, its surroundings, and the end."""

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from msgspec.structs import replace

from searchkit.backends.base import FAR_LINES, Extent, Gap, Node, Sketch
from searchkit.backends.local.catalog import threads
from searchkit.backends.local.catalog.ids import rows_in, uuid_text
from searchkit.backends.local.catalog.schema import BOUNDARY, CALLED_BY_PARENT, IS_TYPED, KINDS, LINK, SIDECHAIN
from searchkit.backends.local.catalog.threads import (
    ASSISTANT,
    IN_LINES,
    IS_ELSEWHERE,
    IS_TYPED_PART,
    PROGRESS,
    Values,
    is_own,
    is_turning,
    is_typed,
)
from searchkit.types import Kind

# Which records decide about the ways of a long conversation.
#
# Most of a conversation is a chain: each record hangs off one a few lines before it, and nothing else leads on from
# there. Where that is not so, a record is special: it begins something, follows a compaction, leads on in two ways,
# hangs off a line that is far away, or another session goes on from it. SQLite looks for these at 1 µs a record.

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


# The end of a session: the records around the one with which it would go on, looked up from the last line.

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


# Which parts of a long conversation are read: what is special, and around it up to where gaps begin and end.
#
# A gap lies between two records that no link, response or call leads past, so that all of it descends from the first
# and leads to the last. There the conversation has one way, whatever is in it.

# Below this, reading everything takes no longer than looking for what matters.
FEW_RECORDS = 1_000
# Between lines that are no further apart there is no gap: it would leave out less than it takes to look for it.
LEAST_GAP = 24
# Of a gap that is read, so much at once: some megabytes.
PIECE_LINES = 2_000
# Conversations of which it is remembered what is special in them: some 100 kB for a million records.
MOST_KNOWN = 16
# More lines than a transcript has.
_END = 1 << 40


# The record that is named last with a leaf is the one that counts, as in `thread.py`.
_LEAVES = f"""
SELECT one.line, one.uuid, facts.line
FROM facts JOIN names ON names.id = facts.name CROSS JOIN records AS one ON one.uuid = leaf
WHERE facts.session = :session AND facts.agent = 0 AND leaf IS NOT NULL AND names.name IN ('last-prompt', 'summary')
  AND {is_own("one")} AND one.file = :file
ORDER BY one.line, names.name, facts.line, value
"""
_NEXT = f"later.file = :file AND later.line <= one.line + {NEAR_LINES} AND {is_own('later')}"
_BEFORE = f"earlier.file = :file AND earlier.line < one.line AND earlier.line >= later.line - {NEAR_LINES}"
# Something leads past a record from what comes after it to what comes before: a link, a response, or a call.
_IS_CROSSED = f"""(
  EXISTS (SELECT 1 FROM records AS later JOIN records AS earlier ON earlier.id = later.parent
    WHERE later.line > one.line AND {_NEXT} AND {_BEFORE})
  OR EXISTS (SELECT 1 FROM records AS later JOIN records AS earlier ON +earlier.response = later.response
    WHERE later.line >= one.line AND {_NEXT} AND {_BEFORE} AND {is_own("earlier")})
  OR EXISTS (SELECT 1 FROM records AS later JOIN parts AS mine ON mine.record = later.id
    JOIN parts AS other ON other.call = mine.call JOIN records AS earlier ON earlier.id = other.record
    WHERE later.line > one.line AND {_NEXT} AND {_BEFORE} AND {is_own("earlier")}))
"""
# A gap begins after what is no part of a response, and ends before what makes a way of its own. Neither may be told
# elsewhere, for a response or a call that is beyond the special line which this is about.
_GAP_BEGINS = f"""
SELECT one.line FROM records AS one JOIN records AS above ON above.id = one.parent
WHERE {IN_LINES} AND one.response IS NULL AND NOT {_IS_CROSSED}
  AND NOT EXISTS (SELECT 1 FROM records AS earlier
    WHERE earlier.file = :file AND earlier.line < one.line AND earlier.line >= above.line - {NEAR_LINES}
      AND earlier.response = above.response AND (earlier.line <= :after OR earlier.id NOT IN (
        WITH RECURSIVE up (id, parent) AS (
          SELECT above.id, above.parent
          UNION SELECT records.id, records.parent FROM up JOIN records ON records.id = up.parent
          WHERE records.file = :file AND records.response = above.response)
        SELECT id FROM up)))
  AND NOT EXISTS (SELECT 1 FROM parts AS result JOIN parts AS made ON made.call = result.call
    WHERE result.record = one.id AND made.record NOT IN (one.id, above.id))
ORDER BY one.line LIMIT 1
"""
_GAP_ENDS = f"""
SELECT one.line FROM records AS one WHERE {IN_LINES} AND {is_turning("one")} AND NOT {_IS_CROSSED}
  AND NOT EXISTS (SELECT 1 FROM records AS later
    WHERE later.file = :file AND later.line >= :before AND later.line <= one.line + {NEAR_LINES}
      AND later.response = one.response)
ORDER BY one.line DESC LIMIT 1
"""
_PROMPTS = f"SELECT count(*) FROM records AS one WHERE {IN_LINES} AND {is_typed('one')}"
_ALL_PROMPTS = f"""
SELECT count(DISTINCT one.id) FROM parts JOIN records AS one ON one.id = parts.record
WHERE parts.session = :session AND parts.{IS_TYPED} AND {IS_TYPED_PART}
  AND (parts.repeats IS NULL OR one.type IS NOT {PROGRESS}) AND {is_own("one")} AND +one.file = :file
  AND one.line > :after AND one.line < :before
"""
_EXTENT = f"SELECT count(*), max(nullif(one.time, 0)) FROM records AS one WHERE {IN_LINES}"
_TURNS_BEFORE = (
    f"SELECT one.line FROM records AS one WHERE {IN_LINES} AND {is_typed('one')} ORDER BY one.line DESC LIMIT :most"
)
_TURNS_AFTER = (
    f"SELECT one.line FROM records AS one WHERE {IN_LINES} AND {is_typed('one')} ORDER BY one.line LIMIT :most"
)
_OF_CALLS = (
    "SELECT one.line, one.file, one.session, one.agent FROM parts JOIN records AS one ON one.id = record WHERE call IN"
)

_Reading = Callable[[], AbstractContextManager[None]]


def survey(connection: sqlite3.Connection, reading: _Reading, key: int, known: "Known") -> "Survey | None":
    """Look for what is special in the conversation of a record; None where all of it has to be read.

    It has where it is short, lies in several files or was in a file that was replaced, where agents speak in
    it, or where too much is special. What is known of other conversations already is not looked for again.
    """
    row = connection.execute("SELECT file, session, agent, flags, line FROM records WHERE id = ?", (key,)).fetchone()
    file, session, agent, flags, line = row
    is_long = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM records WHERE file = ? LIMIT ?)", (file, FEW_RECORDS)
    ).fetchone()[0]
    is_inline = flags & SIDECHAIN and agent is None
    if is_long < FEW_RECORDS or not session or not flags & LINK or is_inline:
        return None
    place = (file, session, agent, flags & SIDECHAIN)
    if place not in known:
        whose = dict(zip(("file", "session", "agent", "sidechain"), place, strict=True))
        while len(known) >= MOST_KNOWN:
            known.pop(next(iter(known)))
        known[place] = _mapped(connection, whose)
    found = known[place]
    return Survey(connection, reading, found, line) if found else None


class Map(NamedTuple):
    """What of a conversation is kept, by lines, and the records that it was said to go on with."""

    whose: Values
    kept: Sequence[Gap]
    leaves: Mapping[str, int]


Known = dict[tuple[int, ...], Map | None]


class Survey:
    """A conversation, as it is mapped, around a line."""

    def __init__(self, connection: sqlite3.Connection, reading: _Reading, map: Map, line: int) -> None:
        """Read nothing yet."""
        self._connection, self._reading, self._line = connection, reading, line
        self._whose, self._kept, self._leaves = map
        self._read: dict[Gap, list[Node]] = {}

    def turns(self, before: int, after: int, line: int | None = None) -> Gap:
        """Return the lines of the turn that a line, or else the record, is in, and of so many before and after it."""
        line = self._line if line is None else line
        with self._reading():
            earlier = self._lines(_TURNS_BEFORE, -1, line + 1, before + 1)
            later = self._lines(_TURNS_AFTER, line, _END, after + 1)
        first = earlier[-1] if len(earlier) > before else 0
        return Gap(first=first, last=later[-1] if len(later) > after else _END)

    def sketch(self, spans: Sequence[Gap]) -> Sketch:
        """Return the conversation without its gaps, but with all that lies on these lines."""
        with self._reading():
            widened = (_widened(self._connection, self._whose, self._kept, span) for span in spans)
            kept = _joined((*self._kept, *widened))
            several = [self._nodes(span) for span in kept]
        gaps = {
            one[0].key: Gap(first=before.last, last=after.first)
            for (before, after), one in zip(pairwise(kept), several[1:], strict=True)
        }
        linked = list(several[0])
        for before, following in pairwise(several):
            # What is left out descends from the record before it, and the next one descends from that.
            linked += (replace(following[0], parent=before[-1].key, missing=None), *following[1:])
        return Sketch(nodes=linked, gaps=gaps, leaves=self._leaves)

    def pieces(self, gap: Gap) -> Iterator[list[Node]]:
        """Yield what was left out, some of it at a time; each piece begins with the record that the last ended with."""
        first = gap.first
        while first < gap.last:
            last, lines = gap.last, PIECE_LINES
            with self._reading():
                while first + lines < gap.last:
                    found = self._lines(_GAP_ENDS, first, first + lines)
                    if found:
                        last = found[0]
                        break
                    lines *= 2
                piece = self._load(Gap(first=first, last=last))
            yield piece
            first = last

    def prompts(self, gaps: Sequence[Gap]) -> int:
        """Count the records in gaps with which turns begin."""
        ordered = sorted(gaps, key=lambda gap: gap.first)
        between = [Gap(first=one.last - 1, last=other.first + 1) for one, other in pairwise(ordered)]
        left_out, kept = (sum(gap.last - gap.first for gap in several) for several in (ordered, between))
        with self._reading():
            # There is an index over all that was typed, but none over where.
            if left_out <= max(kept, PIECE_LINES):
                return self._counted(ordered)
            every = self._one(_ALL_PROMPTS, ordered[0].first, ordered[-1].last)[0]
            return every - self._counted(between)

    def extent(self, gaps: Sequence[Gap]) -> Extent:
        """Count the records in gaps, and say when the last of them was written."""
        with self._reading():
            rows = [self._one(_EXTENT, gap.first, gap.last) for gap in gaps]
        return Extent(records=sum(row[0] for row in rows), ended=max((row[1] for row in rows if row[1]), default=None))

    def lines(self, calls: Sequence[str]) -> list[int]:
        """Return the lines on which calls are made or answered."""
        place = tuple(self._whose[name] for name in ("file", "session", "agent"))
        with self._reading():
            rows = list(rows_in(self._connection, _OF_CALLS, calls))
        return sorted({line for line, *where in rows if tuple(where) == place})

    def _nodes(self, span: Gap) -> list[Node]:
        if span not in self._read:
            self._read[span] = self._load(span)
        return self._read[span]

    def _load(self, span: Gap) -> list[Node]:
        return threads.on_lines(self._connection, self._whose, span.first, span.last)

    def _counted(self, gaps: Sequence[Gap]) -> int:
        return sum(self._one(_PROMPTS, gap.first, gap.last)[0] for gap in gaps)

    def _one(self, statement: str, after: int, before: int) -> tuple[int, ...]:
        row: tuple[int, ...] = self._connection.execute(
            statement, {**self._whose, "after": after, "before": before}
        ).fetchone()
        return row

    def _lines(self, statement: str, after: int, before: int, most: int = 1) -> list[int]:
        return _lines(self._connection, self._whose, statement, after, before, most)


def _mapped(connection: sqlite3.Connection, whose: Values) -> Map | None:
    """Find what is kept of a conversation: what is special, and around it up to where gaps begin and end."""
    special = special_lines(connection, whose)
    if special is None:
        return None
    around = (-1, *special, _END)
    kept = _joined(
        Gap(first=_ends(connection, whose, before, one), last=_begins(connection, whose, one, after))
        for before, one, after in zip(around, around[1:], around[2:], strict=False)
    )
    leaves: dict[str, int] = {}
    far: list[Gap] = []
    if whose["agent"] is None:
        for line, several in groupby(connection.execute(_LEAVES, whose), key=itemgetter(0)):
            *_, (_, uuid, named) = several
            gap = _next_gap(kept, line)
            if gap is not None and named >= gap.last:
                # Nothing was said after that, so that the way ends there.
                first = _ends(connection, whose, gap.first, line) if line > gap.first else line
                far.append(Gap(first=first, last=_begins(connection, whose, line, gap.last)))
            if gap is None or named >= gap.last or line <= gap.first:
                leaves[uuid_text(uuid)] = named
    return Map(whose, _joined((*kept, *far)), leaves)


def _widened(connection: sqlite3.Connection, whose: Values, kept: Sequence[Gap], span: Gap) -> Gap:
    """Return lines with those around them, up to where a gap can end and begin."""
    before, after = _gap(kept, span.first), _gap(kept, span.last)
    return Gap(
        first=_ends(connection, whose, before.first, span.first) if before else span.first,
        last=_begins(connection, whose, span.last, after.last) if after else span.last,
    )


def _gap(kept: Sequence[Gap], line: int) -> Gap | None:
    """Return the gap that a line lies in, or that comes right after it."""
    gap = _next_gap(kept, line)
    return gap if gap is not None and gap.first <= line else None


def _next_gap(kept: Sequence[Gap], line: int) -> Gap | None:
    """Return the gap that a line lies in, or the one after what is kept there."""
    number = bisect_left(kept, line, key=lambda span: span.last)
    if number == len(kept):
        return None
    if kept[number].first > line:
        return Gap(first=kept[number - 1].last, last=kept[number].first) if number else None
    return Gap(first=kept[number].last, last=kept[number + 1].first) if number + 1 < len(kept) else None


def _ends(connection: sqlite3.Connection, whose: Values, after: int, line: int) -> int:
    """Return the last line at which a gap can end between two."""
    found = _lines(connection, whose, _GAP_ENDS, after, line) if line - after > LEAST_GAP else ()
    return found[0] if found else after


def _begins(connection: sqlite3.Connection, whose: Values, line: int, before: int) -> int:
    """Return the first line at which a gap can begin between two."""
    found = _lines(connection, whose, _GAP_BEGINS, line, before) if before - line > LEAST_GAP else ()
    return found[0] if found else before


def _lines(
    connection: sqlite3.Connection, whose: Values, statement: str, after: int, before: int, most: int = 1
) -> list[int]:
    values = {**whose, "after": after, "before": before, "most": most}
    return [row[0] for row in connection.execute(statement, values)]


def _joined(spans: Iterable[Gap]) -> list[Gap]:
    """Join what overlaps or touches."""
    joined: list[Gap] = []
    for span in sorted(spans, key=lambda span: (span.first, span.last)):
        if joined and span.first <= joined[-1].last:
            joined[-1] = Gap(first=joined[-1].first, last=max(joined[-1].last, span.last))
        else:
            joined.append(span)
    return joined
