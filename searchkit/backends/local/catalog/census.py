"""Counts: how much there is, and what is known of a session."""

import sqlite3
from collections import Counter
from collections.abc import Sequence

import orjson

from searchkit.backends.local.catalog.ids import optional_text
from searchkit.backends.local.catalog.schema import KINDS, LINK
from searchkit.backends.local.catalog.sessions import IS_GONE
from searchkit.types import Counts, Fact


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
