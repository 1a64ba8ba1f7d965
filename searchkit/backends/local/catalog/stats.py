"""Figures and counts: what was asked, answered, done and spent, by session, day, model, tool and file."""

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson

from searchkit.backends.costs import Counted, Key, Spent, decode, priced, spent, tally
from searchkit.backends.costs import costs as add_up
from searchkit.backends.costs import counted as of_shares
from searchkit.backends.local.catalog import sessions
from searchkit.backends.local.catalog import sessions as telling
from searchkit.backends.local.catalog.ids import rows_in
from searchkit.backends.local.catalog.schema import IS_TYPED, KINDS, LINK
from searchkit.backends.local.catalog.sessions import IS_GONE
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.backends.prices import LIST, LONG_PROMPT, Price
from searchkit.query.filters import is_met, is_then
from searchkit.query.types import Condition, Filter, Period
from searchkit.types import COST_STATE, Cost, Counts, Figures, Grouping, Kind, Standing


def counts(connection: sqlite3.Connection) -> Counts:
    """Count what the catalog holds."""

    def one(statement: str) -> int:
        return int(connection.execute(statement).fetchone()[0])

    noise: Counter[str] = Counter()
    for (counted,) in connection.execute("SELECT noise FROM files WHERE noise != '{}'"):
        noise.update(orjson.loads(counted))
    growing = "kind IN ('session', 'agent', 'journal', 'history')"
    lines, torn = connection.execute(f"SELECT total(lines), total(torn) FROM files WHERE {growing}").fetchone()
    by_kind = connection.execute("SELECT kind, count(*) FROM parts WHERE repeats IS NULL GROUP BY kind")
    return Counts(
        files=one("SELECT count(*) FROM files WHERE kind IN ('session', 'agent', 'journal')"),
        bytes=one("SELECT ifnull(sum(bytes), 0) FROM files"),
        lines=int(lines),
        torn=int(torn),
        records=int(lines - torn),
        links=one(f"SELECT count(*) FROM records WHERE flags & {LINK}"),
        sessions=one("SELECT count(*) FROM sessions WHERE has_transcript"),
        sessions_without_transcript=one("SELECT count(*) FROM sessions WHERE id > 0 AND NOT has_transcript"),
        gone=one(f"SELECT count(*) FROM sessions WHERE has_transcript AND {IS_GONE}"),
        agents=one("SELECT count(*) FROM (SELECT DISTINCT session, agent FROM files WHERE kind = 'agent')"),
        parts={KINDS[kind].value: number for kind, number in by_kind},
        repeats=one("SELECT count(*) FROM parts WHERE repeats IS NOT NULL"),
        noise=dict(sorted(noise.items())),
        responses=one("SELECT count(*) FROM responses"),
        touched=one("SELECT count(*) FROM paths"),
    )


# Figures about what was asked, answered and done, counted in SQL by session, day, model, tool and file.

_DAY = "date(records.time / 1000, 'unixepoch', 'localtime')"
# Each begins with session, day, model, tool and file, then comes what is counted, and it ends in its WHERE.
# A state such as the last prompt, or a side file, only tells again what was typed, and often not all of it.
_PROMPTS = f"""
SELECT parts.session, {_DAY}, NULL, NULL, NULL, count(*) AS prompts
FROM parts JOIN records ON records.id = record
WHERE parts.{IS_TYPED} AND parts.kind = {KINDS.index(Kind.PROMPT)} AND repeats IS NULL AND records.agent IS NULL
  AND parts.standing < {int(Standing.STATE)}
"""
_CALLS = f"""
SELECT parts.session, {_DAY}, model, tools.name, NULL, count(*) AS calls, sum(EXISTS (
  SELECT 1 FROM parts AS results WHERE results.call = parts.call AND results.is_error
    AND results.kind = {KINDS.index(Kind.TOOL_RESULT)})) AS failed
FROM parts JOIN records ON records.id = record JOIN contexts ON contexts.id = context
  LEFT JOIN names AS tools ON tools.id = tool
WHERE parts.kind = {KINDS.index(Kind.TOOL_CALL)} AND repeats IS NULL
"""
_IS_LONG = f"input + cache_read + cache_write > {LONG_PROMPT}"
_RESPONSES = f"""
SELECT records.session, {_DAY}, model, NULL, NULL, count(*) AS responses, sum(input) AS input,
  sum(output) AS output, sum(cache_read) AS cache_read, sum(cache_write) AS cache_write, sum(cost) AS cost,
  sum(cache_write_1h) AS cache_write_1h, {_IS_LONG} AS is_long
FROM records CROSS JOIN responses ON responses.id = records.response AND responses.record = records.uuid
  JOIN contexts ON contexts.id = context
WHERE 1
"""
_TOUCHES = f"""
SELECT records.session, {_DAY}, model, NULL, paths.path, count(DISTINCT records.id) AS calls
FROM touches JOIN records ON records.id = touches.record JOIN contexts ON contexts.id = context
  JOIN paths ON paths.id = touches.path
WHERE 1
"""
# Prices are for a response, so those of one price are counted together.
_GROUPED = {_RESPONSES: f", {_IS_LONG}, cost IS NULL"}
_TOLD = """
SELECT session, sessions.name, line, leaf, value FROM facts JOIN sessions ON sessions.id = session
WHERE facts.name = (SELECT id FROM names WHERE name = ?)
"""
_HOLDERS = """
SELECT session FROM records WHERE uuid = :uuid
UNION SELECT session FROM places WHERE record = (SELECT id FROM records WHERE uuid = :uuid)
"""
# So many sessions are named to SQLite, which then looks at nothing else: of one among 551 sessions (400 MB) the
# figures take 12 ms instead of 280. Of more, all are counted.
MOST_NAMED = 100


def figures(
    connection: sqlite3.Connection,
    unpacker: Unpacker,
    condition: Condition,
    groupings: Sequence[Grouping],
    prices: Mapping[str, Price] | None,
) -> dict[Grouping, dict[str, Figures]]:
    """Return figures by label, for each of these groupings."""
    statements = [_PROMPTS, _CALLS, _RESPONSES, *([_TOUCHES] if Grouping.FILE in groupings else [])]
    meant = None if condition.periods else len(sessions.select_sessions(connection, unpacker, condition))
    chosen = set(sessions.select_sessions(connection, unpacker, Condition(filters=condition.filters)))
    if not condition.filters:
        # What belongs to no session counts, too, unless sessions are chosen.
        chosen.add(0)
    told = _told(connection)
    projects = telling.projects(connection)
    counted = priced(
        _counted(connection, condition, statements, chosen, projects), told, LIST if prices is None else prices
    )
    return tally(chain(counted, _shares(condition, told, chosen, projects)), groupings, meant)


def costs(connection: sqlite3.Connection, ids: Sequence[str], prices: Mapping[str, Price] | None) -> dict[str, Cost]:
    """Return what sessions cost."""
    names = dict(rows_in(connection, "SELECT id, name FROM sessions WHERE id > 0 AND name IN", [*ids]))
    told = _told(connection)
    everything = Condition()
    counted = priced(
        _counted(connection, everything, [_RESPONSES], names, {}), told, LIST if prices is None else prices
    )
    found = add_up(chain(counted, _shares(everything, told, names, {})), told)
    return {names[int(session)]: cost for session, cost in found.items()}


def _told(connection: sqlite3.Connection) -> dict[Key, Spent]:
    """Return what sessions cost as the client counted it."""

    def holders(uuid: object) -> set[Key]:
        return {row[0] for row in connection.execute(_HOLDERS, {"uuid": uuid})}

    said = [decode(*row) for row in connection.execute(_TOLD, (COST_STATE,))]
    return spent([one for one in said if one is not None], holders)


def _shares(
    condition: Condition, told: Mapping[Key, Spent], chosen: Collection[int], projects: Mapping[int, str]
) -> Iterator[Counted]:
    for session, one in told.items():
        if session in chosen:
            shares = [share for share in one.shares if is_then(condition, share.time)]
            for row in of_shares(session, projects.get(int(session)), shares):
                if _is_wanted(condition.filters, _RESPONSES, row.model, None):
                    yield row


def _counted(
    connection: sqlite3.Connection,
    condition: Condition,
    statements: Sequence[str],
    chosen: Collection[int],
    projects: Mapping[int, str],
) -> Iterator[Counted]:
    test, values = _during(condition.periods)
    for statement in statements:
        table = "records" if statement in (_RESPONSES, _TOUCHES) else "parts"
        among = f"{table}.session IN ({', '.join(map(str, chosen))})" if len(chosen) <= MOST_NAMED else "1"
        grouped = f"GROUP BY 1, 2, 3, 4, 5{_GROUPED.get(statement, '')}"
        cursor = connection.execute(f"{statement} AND {test} AND {among} {grouped}", values)
        names = [column[0] for column in cursor.description[5:]]
        for session, day, model, tool, file, *counted in cursor:
            if session in chosen and _is_wanted(condition.filters, statement, model, tool):
                numbers = {name: number for name, number in zip(names, counted, strict=True) if number is not None}
                is_long = bool(numbers.pop("is_long", 0))
                yield Counted(
                    numbers=numbers,
                    session=session,
                    day=day,
                    project=projects.get(session),
                    model=model,
                    tool=tool,
                    file=file,
                    is_long=is_long,
                )


def _during(periods: Sequence[Period]) -> tuple[str, list[Any]]:
    """Turn periods into SQL; what has no time lies in none."""
    tests, values = ["1"], []  # type: tuple[list[str], list[Any]]
    for period in periods:
        spans = ["0"]
        for span in period.spans:
            spans.append(
                "records.time IS NOT NULL AND records.time >= ifnull(?, records.time)"
                " AND records.time < ifnull(?, records.time + 1)"
            )
            values += [span.start, span.end]
        tests.append(f"{'NOT ' if period.is_excluded else ''}({' OR '.join(spans)})")
    return " AND ".join(tests), values


def _is_wanted(filters: Sequence[Filter], statement: str, model: str | None, tool: str | None) -> bool:
    """Say whether what a model or a tool did is wanted."""
    for filter in filters:
        if filter.name == "model" and statement is not _PROMPTS and not is_met(filter, [model] if model else []):
            return False
        if filter.name == "tool" and statement is _CALLS and not is_met(filter, [tool] if tool else []):
            return False
    return True
