"""Sessions: which ones a condition selects, and the title, project, times and counts of each."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from searchkit.backends.local.catalog.ids import optional_text, rows_in
from searchkit.backends.local.catalog.schema import IS_TYPED, KINDS, NUMBERED, SIDECHAIN
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.query.filters import BY_NAME, holds, is_time_met
from searchkit.query.types import Condition, Filter
from searchkit.sources.apps import DEFAULT
from searchkit.types import Fact, Heading, Kind, Session

# The best first. A summary that names a record of the session comes before one that does not.
_GIVEN = ("custom-title", "ai-title")

_MADE = ("summary", "index-title", "index-summary")

# A session is gone with the last of its own files. One that never had any lies in files of other names.
_TRANSCRIPT = "files.kind IN ('session', 'agent', 'journal')"

_OWN = f"SELECT 1 FROM files WHERE files.session = sessions.id AND {_TRANSCRIPT}"

IS_GONE = f"""
iif(EXISTS ({_OWN}), NOT EXISTS ({_OWN} AND NOT is_gone), NOT EXISTS (
  SELECT 1 FROM records JOIN files ON files.id = file
  WHERE records.session = sessions.id AND {_TRANSCRIPT} AND NOT is_gone))
"""

_HEADINGS = f"SELECT id, name, ended, {IS_GONE} FROM sessions WHERE id IN"

# An agent of which nothing is kept only warmed a cache, or guessed at the next prompt; all of a copy may be elsewhere.
_IS_WARMUP = f"""
EXISTS (SELECT 1 FROM records WHERE file = files.id) AND NOT EXISTS (SELECT 1 FROM records
  JOIN parts ON parts.record = records.id WHERE file = files.id AND parts.kind != {KINDS.index(Kind.TITLE)})
"""

_COUNTS = f"""
SELECT id, started,
  (SELECT count(*) FROM records WHERE records.session = sessions.id),
  (SELECT count(*) FROM parts JOIN records ON records.id = record WHERE parts.session = sessions.id AND parts.{IS_TYPED}
   AND parts.kind = {KINDS.index(Kind.PROMPT)} AND records.agent IS NULL AND repeats IS NULL),
  (SELECT count(DISTINCT agent) FROM files WHERE files.session = sessions.id AND kind = 'agent' AND NOT ({_IS_WARMUP}))
FROM sessions WHERE id IN
"""

_NAMES = f"SELECT id FROM names WHERE name IN {('project', 'branch', 'app', *_GIVEN, *_MADE)}"

_FACTS = f"""
SELECT session, (SELECT names.name FROM names WHERE names.id = facts.name), value, line FROM facts
WHERE facts.name IN ({_NAMES}) AND session IN
"""

# The last row of a session is the one that is kept.
_LATEST = """
SELECT session, value FROM facts WHERE name = (SELECT id FROM names WHERE name = ?) ORDER BY line, value DESC
"""

# From the few summaries to their records, which SQLite would otherwise begin with.
_SUMMARIES = """
SELECT records.session, value FROM facts CROSS JOIN records ON records.uuid = leaf
WHERE leaf IS NOT NULL AND facts.name = (SELECT id FROM names WHERE name = 'summary') ORDER BY facts.line, value DESC
"""

# So many of the first things that were typed are looked at.
MOST_TYPED = 32

# What a person typed first; the tasks of agents only where no person typed anything.
_TYPED = f"""
SELECT chunk, start, length FROM parts JOIN records ON records.id = record JOIN files ON files.id = file
WHERE parts.session = ? AND parts.{IS_TYPED}
ORDER BY records.agent IS NOT NULL, parts.kind, time IS NULL, time, line, path, block, variant != 0,
  printf('%x', variant)
LIMIT {MOST_TYPED}
"""

# So much of a prompt serves as a title.
TITLE_CHARACTERS = 100

# A text of so many characters tells something, one of several words with fewer ("fix login"), and Chinese, Japanese
# and Korean with fewer still.
_MIN_CHARACTERS, _MIN_CHARACTERS_OF_WORDS, _MIN_WIDE_CHARACTERS = 12, 8, 4

# Commands of the client that say nothing about the work, with or without arguments.
_HOUSEKEEPING = (
    " /clear /compact /config /context /cost /doctor /effort /exit /export /fast /help /hooks /ide /login /logout /mcp"
    " /memory /model /permissions /plugin /plugins /privacy-settings /quit /release-notes /reload /rename /resume"
    " /rewind /settings /status /statusline /terminal-setup /theme /upgrade /usage /vim "
)

_WARMUP = "Warmup"


def sessions(connection: sqlite3.Connection, unpacker: Unpacker, numbers: Sequence[int]) -> list[Session]:
    """Return the sessions with these numbers, in this order."""
    known = headings(connection, unpacker, numbers, summaries_of(connection) if numbers else {})
    counted = {number: counts for number, *counts in rows_in(connection, _COUNTS, numbers)}
    return [_session(known[number], *counted[number]) for number in numbers]


def headings(
    connection: sqlite3.Connection, unpacker: Unpacker, numbers: Sequence[int], summaries: Mapping[int, str]
) -> dict[int, Heading]:
    """Return what sessions are known by, which takes a fraction of the time of all that there is to tell."""
    known = _known(connection, numbers)
    return {
        number: Heading(
            id=name,
            project=known[number].get("project"),
            title=_title(connection, unpacker, number, known[number], summaries),
            branch=known[number].get("branch"),
            ended=ended,
            is_gone=bool(is_gone),
            app=known[number].get("app", DEFAULT),
        )
        for number, name, ended, is_gone in rows_in(connection, _HEADINGS, numbers)
    }


def projects(connection: sqlite3.Connection) -> dict[int, str]:
    """Return the project of every session that has one."""
    return latest(connection, "project")


def latest(connection: sqlite3.Connection, fact: str) -> dict[int, str]:
    """Return a fact of every session that has it: that of its last line, of several there the first by value."""
    return dict(connection.execute(_LATEST, (fact,)).fetchall())


def ids(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, str]:
    """Return the ids of sessions."""
    return dict(rows_in(connection, "SELECT id, name FROM sessions WHERE id IN", numbers))


def titles(connection: sqlite3.Connection, unpacker: Unpacker) -> Iterator[tuple[int, str]]:
    """Yield the number of every session with each title that it was given or is shown with."""
    yield from connection.execute(
        f"SELECT session, value FROM facts JOIN names ON names.id = facts.name WHERE names.name IN {(*_GIVEN, *_MADE)}"
    ).fetchall()
    numbers = [row[0] for row in connection.execute("SELECT id FROM sessions WHERE id > 0")]
    known, summaries = _known(connection, numbers), summaries_of(connection)
    for number in numbers:
        title = _title(connection, unpacker, number, known[number], summaries)
        if title:
            yield number, title


def _session(heading: Heading, started: int | None, records: int, prompts: int, agents: int) -> Session:
    known = msgspec.structs.asdict(heading)
    return Session(**known, started=started, records=records, prompts=prompts, agents=agents)


def _known(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, dict[str, str]]:
    """Return the latest facts of each session by name."""
    facts: dict[int, dict[str, str]] = {number: {} for number in numbers}
    rows = list(rows_in(connection, _FACTS, numbers))
    # The last line holds; of several on one line the first by value.
    for session, name, value, _ in sorted(rows, key=lambda row: (-row[3], row[2])):
        facts[session].setdefault(name, value)
    return facts


def summaries_of(connection: sqlite3.Connection) -> dict[int, str]:
    """Return summary lines by the record they name: they are often written into another session's file."""
    return dict(connection.execute(_SUMMARIES).fetchall())


def _title(
    connection: sqlite3.Connection,
    unpacker: Unpacker,
    session: int,
    known: Mapping[str, str],
    summaries: Mapping[int, str],
) -> str | None:
    given = [known.get(name) for name in _GIVEN]
    made = [known.get(name) for name in _MADE]
    best = next((title for title in (*given, summaries.get(session), *made) if title), None)
    return best or title_from(unpacker.text(*row) for row in connection.execute(_TYPED, (session,)))


# Chooses sessions: those with certain ids, or those for which a condition holds.
#
# Of what a filter asks for there are few different values, so they are compared here and not in
# SQL: one definition of what a filter means serves every backend.

# A session holds the parts that are at home in it and those of records that have another place in it.
_OF_PARTS = """
SELECT DISTINCT session, {value} FROM parts WHERE repeats IS NULL AND {test}
UNION SELECT places.session, {value} FROM places JOIN parts ON parts.record = places.record
  WHERE repeats IS NULL AND {test}
"""


def _of_facts(filter: str) -> str:
    spec = BY_NAME[filter]
    named = f"SELECT id FROM names WHERE name = '{spec.fact}'"
    facts = f"SELECT DISTINCT session, value FROM facts WHERE name = ({named})"
    if not spec.absent:
        return facts
    # What is of no session, number 0, counts as one that has no such fact.
    without = f"SELECT id, '{spec.absent}' FROM sessions WHERE id NOT IN (SELECT session FROM ({facts}))"
    return f"{facts} UNION {without}"


_IS_SIDECHAIN = f"parts.record IN (SELECT id FROM records WHERE flags & {SIDECHAIN})"


# Each yields sessions and the values they have of a filter. Of all others these are the facts that it names.
_HELD = {
    "session": "SELECT id, name FROM sessions WHERE id > 0",
    "agent": f"""
        SELECT session, name FROM (SELECT DISTINCT session, agent FROM records WHERE agent IS NOT NULL
          UNION SELECT session, agent FROM places WHERE agent IS NOT NULL) JOIN names ON names.id = agent
        UNION {_of_facts("agent")}""",
    "tool": f"""
        SELECT session, name FROM ({_OF_PARTS.format(value="tool", test="tool IS NOT NULL")})
        JOIN names ON names.id = tool""",
    "kind": _OF_PARTS.format(value="parts.kind", test="1"),
    "role": _OF_PARTS.format(value="parts.role", test="1"),
    "language": _OF_PARTS.format(value="parts.language", test="parts.language > 0"),
    "is": " UNION ".join(
        (
            _OF_PARTS.format(value="'error'", test="is_error"),
            _OF_PARTS.format(value="'sidechain'", test=_IS_SIDECHAIN),
            _OF_PARTS.format(value="'summary'", test=f"parts.kind = {KINDS.index(Kind.SUMMARY)}"),
        )
    ),
}


_TOUCHING = "SELECT DISTINCT records.session, touches.path FROM touches JOIN records ON records.id = record"


_TOUCHING_ELSEWHERE = """
SELECT DISTINCT places.session, touches.path FROM touches JOIN places ON places.record = touches.record
"""


_HELD["file"] = f"""
SELECT session, paths.path FROM ({_TOUCHING} UNION {_TOUCHING_ELSEWHERE}) AS touching
  JOIN paths ON paths.id = touching.path
UNION {_of_facts("file")}
"""


def named(connection: sqlite3.Connection, ids: Sequence[str]) -> list[int]:
    """Return the numbers of the sessions with these ids; session 0, which is none, has no id."""
    return [row[0] for row in rows_in(connection, "SELECT id FROM sessions WHERE id > 0 AND name IN", ids)]


def select_sessions(connection: sqlite3.Connection, unpacker: Unpacker, condition: Condition) -> list[int]:
    """Return the numbers of the sessions for which a condition holds, newest first."""
    rows = connection.execute(
        "SELECT id, started, ended FROM sessions WHERE id > 0 ORDER BY ended DESC NULLS LAST, name"
    ).fetchall()
    filters = dict.fromkeys(condition.filters)
    # Every word of a question is a filter of titles, which are read once for all.
    times = Counter(filter.name for filter in filters)
    held = {name: list(_held(connection, unpacker, name)) for name in times if times[name] > 1 and name != "file"}
    left = {number for number, _, _ in rows}
    for filter in filters:
        found = matching(filter, held[filter.name]) if filter.name in held else meant(connection, unpacker, filter)
        left = left - found if filter.is_excluded else left & found
        if not left:
            break
    return [
        number
        for number, started, ended in rows
        if number in left and all(is_time_met(period, started, ended) for period in condition.periods)
    ]


def values(connection: sqlite3.Connection, unpacker: Unpacker, name: str) -> list[str]:
    """Return the values there are of a filter, those that most sessions have first."""
    counted = Counter(value for _, value in set(_held(connection, unpacker, name)))
    return sorted(counted, key=lambda value: (-counted[value], value))


def _held(connection: sqlite3.Connection, unpacker: Unpacker, name: str) -> Iterable[tuple[int, str]]:
    """Yield sessions with the values they have of a filter."""
    if name == "title":
        return titles(connection, unpacker)
    rows: Iterable[tuple[int, str]] = connection.execute(_HELD.get(name) or _of_facts(name))
    if name in NUMBERED:
        return ((session, NUMBERED[name][int(number)]) for session, number in rows)
    return rows


def meant(connection: sqlite3.Connection, unpacker: Unpacker, filter: Filter) -> set[int]:
    """Return the sessions that a filter selects."""
    if filter.name == "file":
        return _touching(connection, filter)
    return matching(filter, _held(connection, unpacker, filter.name))


def _touching(connection: sqlite3.Connection, filter: Filter) -> set[int]:
    """Return the sessions that touched what is meant: first the paths, which are fewer than who touched them."""
    paths = sorted(matching(filter, connection.execute("SELECT id, path FROM paths")))
    found = matching(filter, connection.execute(_of_facts("file")))
    for statement in (_TOUCHING, _TOUCHING_ELSEWHERE):
        found.update(row[0] for row in rows_in(connection, f"{statement} WHERE touches.path IN", paths))
    return found


def matching(filter: Filter, rows: Iterable[tuple[int, str]]) -> set[int]:
    """Return the numbers that come with a value that is meant; each value is looked at once."""
    verdicts: dict[str, bool] = {}
    found = set()
    for number, value in rows:
        if value not in verdicts:
            verdicts[value] = any(holds(filter.name, value, wanted) for wanted in filter.values)
        if verdicts[value]:
            found.add(number)
    return found


def title_from(texts: Iterable[str]) -> str | None:
    """Choose a title among what was typed, in the order in which it should be preferred."""
    first = None
    for text in texts:
        title = " ".join(text.split())
        if len(title) < 2 or title == _WARMUP or f" {title.partition(' ')[0]} " in _HOUSEKEEPING:
            continue
        if _is_substantial(title):
            return title[:TITLE_CHARACTERS]
        first = first or title
    return first


def _is_substantial(title: str) -> bool:
    return (
        len(title) >= _MIN_CHARACTERS
        or (" " in title and len(title) >= _MIN_CHARACTERS_OF_WORDS)
        or sum(map(_is_wide, title)) >= _MIN_WIDE_CHARACTERS
    )


def _is_wide(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af"


def facts(connection: sqlite3.Connection, session: str, wanted: Sequence[str] = ()) -> list[Fact]:
    """Return what is known of a session and its agents, by name and line; of all names, unless some are given."""
    named = f" AND names.name IN ({','.join('?' * len(wanted))})" if wanted else ""
    rows = connection.execute(
        "SELECT names.name, value, agents.name, leaf, line FROM facts JOIN names ON names.id = facts.name"
        " LEFT JOIN names AS agents ON agents.id = agent"
        f" WHERE session = (SELECT id FROM sessions WHERE name = ?){named}"
        " ORDER BY names.name, line, value, agents.name",
        (session, *wanted),
    )
    return [
        Fact(session=session, name=name, value=value, agent=agent, leaf=optional_text(leaf), line=line)
        for name, value, agent, leaf, line in rows
    ]
