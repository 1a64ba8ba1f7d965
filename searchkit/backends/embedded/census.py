"""Counts and lists: how much there is, sessions by filter, and what is known of them."""

import sqlite3
from collections import Counter
from typing import Any

import orjson

from searchkit.backends.base import Condition
from searchkit.backends.embedded.keys import optional_text, response_text
from searchkit.backends.embedded.schema import KINDS, LINK
from searchkit.backends.embedded.texts import Unpacker
from searchkit.types import Counts, Fact, Kind, Session, Usage

# A first prompt serves as a title where there is no other; this much of it.
TITLE_CHARACTERS = 100

_LATEST = """
(SELECT value FROM facts JOIN names ON names.id = facts.name
 WHERE facts.session = sessions.id AND names.name = '{name}' ORDER BY facts.line DESC, value LIMIT 1)
"""
_HAS = "EXISTS (SELECT 1 FROM facts JOIN names ON names.id = facts.name WHERE facts.session = sessions.id AND {test})"
_SESSIONS = f"""
SELECT sessions.id, sessions.name, {_LATEST.format(name="project")}, {_LATEST.format(name="custom-title")},
  {_LATEST.format(name="ai-title")}, {_LATEST.format(name="summary")}, {_LATEST.format(name="index-title")},
  {_LATEST.format(name="index-summary")},
  {_LATEST.format(name="branch")}, started, ended,
  (SELECT count(*) FROM records WHERE records.session = sessions.id),
  (SELECT count(*) FROM parts JOIN records ON records.id = record WHERE records.session = sessions.id
   AND kind = {KINDS.index(Kind.PROMPT)} AND records.agent IS NULL AND repeats IS NULL),
  (SELECT count(DISTINCT agent) FROM files WHERE files.session = sessions.id AND kind = 'agent'),
  NOT EXISTS (SELECT 1 FROM files WHERE files.session = sessions.id AND NOT is_gone
   AND kind IN ('session', 'agent', 'journal'))
FROM sessions
"""


def sessions(
    connection: sqlite3.Connection, unpacker: Unpacker, condition: Condition, limit: int | None
) -> list[Session]:
    """Return the sessions for which a condition holds, newest first."""
    where, values = _where(condition)
    statement = f"{_SESSIONS} WHERE {where} ORDER BY ended DESC NULLS LAST, sessions.name LIMIT ?"
    rows = connection.execute(statement, (*values, -1 if limit is None else limit)).fetchall()
    return [_session(connection, unpacker, row) for row in rows]


def facts(connection: sqlite3.Connection, session: str) -> list[Fact]:
    """Return what is known of a session and its agents, by name and line."""
    rows = connection.execute(
        "SELECT names.name, value, agents.name, leaf, line FROM facts JOIN names ON names.id = facts.name"
        " LEFT JOIN names AS agents ON agents.id = agent"
        " WHERE session = (SELECT id FROM sessions WHERE name = ?) ORDER BY names.name, line, value, agents.name",
        (session,),
    )
    return [
        Fact(session=session, name=name, value=value, agent=agent, leaf=optional_text(leaf), line=line)
        for name, value, agent, leaf, line in rows
    ]


def responses(connection: sqlite3.Connection) -> dict[str, Usage]:
    """Return what each response cost."""
    rows = connection.execute("SELECT id, input, output, cache_read, cache_write, cost FROM responses")
    return {
        response_text(number): Usage(input=sent, output=got, cache_read=read, cache_write=wrote, cost=cost)
        for number, sent, got, read, wrote, cost in rows
    }


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
        agents=one("SELECT count(*) FROM (SELECT DISTINCT session, agent FROM files WHERE kind = 'agent')"),
        parts={KINDS[kind].value: number for kind, number in by_kind},
        repeats=one("SELECT count(*) FROM parts WHERE repeats IS NOT NULL"),
        noise=dict(sorted(noise.items())),
        responses=one("SELECT count(*) FROM responses"),
        touched=one("SELECT count(*) FROM paths"),
    )


def _where(condition: Condition) -> tuple[str, list[object]]:
    """Turn a condition into SQL; a project is meant by its whole path, its end, or any part of it."""
    tests, values = ["sessions.id > 0"], []  # type: tuple[list[str], list[object]]
    for name in ("project", "branch", "model"):
        wanted = getattr(condition, name)
        if wanted is not None:
            tests.append(_HAS.format(test=f"names.name = '{name}' AND value LIKE ? ESCAPE '\\'"))
            values.append(f"%{_literal(wanted)}%")
    if condition.title is not None:
        titles = "names.name IN ('custom-title', 'ai-title', 'summary', 'index-title', 'index-summary')"
        tests.append(_HAS.format(test=f"{titles} AND value LIKE ? ESCAPE '\\'"))
        values.append(f"%{_literal(condition.title)}%")
    if condition.file is not None:
        tests.append(
            "sessions.id IN (SELECT records.session FROM paths JOIN touches ON touches.path = paths.id"
            " JOIN records ON records.id = record WHERE paths.path LIKE ?1 ESCAPE '\\'"
            " UNION SELECT session FROM facts JOIN names ON names.id = facts.name"
            " WHERE names.name = 'tracked' AND value LIKE ?1 ESCAPE '\\')".replace("?1", "?")
        )
        values += [f"%{_literal(condition.file)}%"] * 2
    if condition.after is not None:
        tests.append("ended >= ?")
        values.append(condition.after)
    if condition.before is not None:
        tests.append("started < ?")
        values.append(condition.before)
    if condition.ids is not None:
        tests.append(f"sessions.name IN ({','.join('?' * len(condition.ids))})")
        values += condition.ids
    return " AND ".join(tests), values


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _session(connection: sqlite3.Connection, unpacker: Unpacker, row: tuple[Any, ...]) -> Session:
    number, name, project, custom, ai, summary, *rest = row
    indexed_title, indexed_summary, branch, started, ended, records, prompts, agents, is_gone = rest
    title = custom or ai or _summary(connection, number) or summary or indexed_title or indexed_summary
    return Session(
        id=name,
        project=project,
        title=title or _first_prompt(connection, unpacker, number),
        branch=branch,
        started=started,
        ended=ended,
        records=records,
        prompts=prompts,
        agents=agents,
        is_gone=bool(is_gone),
    )


def _summary(connection: sqlite3.Connection, session: int) -> str | None:
    """Find a summary line by the record it names: it is often written into another session's file."""
    row = connection.execute(
        "SELECT value FROM facts JOIN names ON names.id = facts.name JOIN records ON records.uuid = leaf"
        " WHERE names.name = 'summary' AND records.session = ? ORDER BY facts.line DESC, value LIMIT 1",
        (session,),
    ).fetchone()
    return row[0] if row else None


def _first_prompt(connection: sqlite3.Connection, unpacker: Unpacker, session: int) -> str | None:
    kinds = (KINDS.index(Kind.PROMPT), KINDS.index(Kind.COMMAND), KINDS.index(Kind.HISTORY))
    row = connection.execute(
        "SELECT chunk, start, length FROM parts JOIN records ON records.id = record JOIN files ON files.id = file"
        f" WHERE records.session = ? AND parts.kind IN {kinds} AND records.agent IS NULL"
        " ORDER BY parts.kind, time, line, path, block, variant != 0, printf('%x', variant) LIMIT 1",
        (session,),
    ).fetchone()
    return " ".join(unpacker.text(*row).split())[:TITLE_CHARACTERS] if row else None
