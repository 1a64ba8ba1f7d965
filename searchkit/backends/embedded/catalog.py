"""The catalog: every record's links and every part's text, in SQLite, independent of the transcripts.

What writes and what checks is imported where it is used: a search should not wait for it.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from searchkit.backends.base import Batch, Holding, Node, Prepared, Step, Stored
from searchkit.backends.embedded import census, choosing, layout, nodes, reading, turns
from searchkit.backends.embedded import sessions as telling
from searchkit.backends.embedded.keys import parse_part_id, uuid_key
from searchkit.backends.embedded.names import Names, last_number
from searchkit.backends.embedded.texts import Unpacker
from searchkit.errors import IndexDamaged, IndexMissing, IndexUnwritable
from searchkit.questions import Condition, Filter
from searchkit.types import Counts, Fact, Figures, Finding, Grouping, Heading, Link, Session, Usage

# Chunks of 20 to 30 kB lie better in large pages, and a commit writes a third fewer of them than of 4 kB.
PAGE_BYTES = 16 << 10
# Pages kept in memory: 16 MB hold the inner pages of a catalog of gigabytes; the operating system keeps
# the rest at hand, and a larger cache would make memory grow with the corpus. In pages, because SQLite
# turns kilobytes into pages of the size it has at that moment.
CACHE_PAGES = 1 << 10
# Pages that may wait in the write-ahead log: 64 MB. Moved into the catalog in few large steps, a page
# that many batches touch is written once.
WAL_PAGES = 4 << 10
# Of the catalog, so much is mapped into the memory of a reader, who then copies no pages: what is around ten
# hits is there in three quarters of the time. A writer maps nothing: what it maps would count as its own.
MAPPED_BYTES = 1 << 30
# How long a reader waits for the moment in which a commit is made visible.
BUSY_MILLISECONDS = 10_000
# What SQLite reports when the trouble is around the catalog and not in it. The lowest byte is the
# kind, whatever the rest says.
_OUTSIDE = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
    | {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
)


class Kept:
    """What many searches ask for, good until somebody writes."""

    def __init__(self, version: int) -> None:
        """Begin with nothing, at a version of the database."""
        self.version = version
        self.headings: dict[str, Heading] = {}
        self.summaries: dict[int, str] | None = None
        self.meant: dict[Filter, frozenset[int]] = {}


class Catalog:
    """An open catalog. Writing wants the index's lock, which the caller holds; reading wants nothing."""

    preparation = "searchkit.backends.embedded.rows:prepare"

    def __init__(self, directory: Path, is_writable: bool = False) -> None:
        """Open the catalog in `directory`, making it where it is to be written and is not there."""
        if is_writable:
            layout.prepare(directory)
        else:
            layout.check(directory)
        self._path = directory / layout.CATALOG
        with _mapped(self._path):
            self._connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(is_writable)
            except BaseException:
                self._connection.close()
                raise
        self._names = Names(self._connection)
        self._unpacker = Unpacker(self._connection)
        self._keeping = Kept(0)

    def checkpoints(self) -> Mapping[str, bytes]:
        """Return the checkpoint of every file that was read."""
        with _mapped(self._path):
            return dict(self._connection.execute("SELECT path, checkpoint FROM files WHERE checkpoint IS NOT NULL"))

    def write(self, batch: Batch, /) -> None:
        """Keep a batch and its checkpoints, all or nothing."""
        from searchkit.backends.embedded.rows import decode, prepare
        from searchkit.backends.embedded.writer import Writer

        rows = decode(batch.prepared) if isinstance(batch, Prepared) else prepare(batch)
        with self._transaction():
            Writer(self._connection, self._names, rows).write(batch)

    def settle(self) -> None:
        """Decide, for the sessions written to, which parts only repeat others."""
        from searchkit.backends.embedded.settle import find_parents, settle, unsettled

        with _mapped(self._path):
            self._complete_indexes()
        with self._transaction():
            find_parents(self._connection)
        while sessions := unsettled(self._connection):
            with self._transaction():
                for session in sessions:
                    settle(self._connection, session)

    def part(self, part_id: str, /) -> Stored | None:
        """Return one part by its id, `<uuid>#<block>`."""
        key = parse_part_id(part_id)
        if key is None:
            return None
        with self._reading():
            statement = "uuid = ? AND block = ? AND variant = ?"
            return next(reading.parts(self._connection, self._unpacker, statement, key), None)

    def links(self, uuids: Sequence[str], /) -> Mapping[str, Link]:
        """Return the records with these uuids; a missing one is left out."""
        with self._reading():
            found = reading.links(self._connection, "uuid", [uuid_key(uuid) for uuid in uuids])
            return {link.uuid: link for link in found}

    def beginning(self, text: str, limit: int, /) -> list[str]:
        """Return the uuids that begin with a text, in order."""
        with self._reading():
            return reading.beginning(self._connection, text, limit)

    def opening(self, session: str, /) -> list[str]:
        """Return the uuid of the first thing that was said in a session, or nothing where there is none."""
        with self._reading():
            return reading.opening(self._connection, session)

    def keys(self, uuid: str, /) -> list[int]:
        """Return the keys of what a record says, in the order of its blocks."""
        statement = (
            "SELECT parts.id FROM parts JOIN records ON records.id = record WHERE uuid = ? ORDER BY block, parts.id"
        )
        with self._reading():
            return [row[0] for row in self._connection.execute(statement, (uuid_key(uuid),))]

    def children(self, uuid: str, /) -> list[Link]:
        """Return the records whose parent this is, in order of their homes."""
        with self._reading():
            return reading.children(self._connection, uuid_key(uuid))

    def neighbours(self, uuid: str, before: int, after: int, /) -> list[Link]:
        """Return the records around one in its home file, that one included, in line order."""
        with self._reading():
            return reading.neighbours(self._connection, uuid_key(uuid), before, after)

    def turns(self, keys: Sequence[int], before: int, after: int, /) -> dict[int, list[Step]]:
        """Return, for each of these parts, those of the turn that it is in and of so many before and after."""
        with self._reading():
            return turns.turns(self._connection, keys, before, after)

    def prompts(self, keys: Sequence[int], /) -> dict[int, int]:
        """Return what a person typed, or an agent was told, that the turn of each of these parts begins with."""
        with self._reading():
            return turns.prompts(self._connection, keys)

    def record(self, uuid: str, /) -> int | None:
        """Return the key of a record, or None where there is none."""
        with self._reading():
            found = self._connection.execute("SELECT id FROM records WHERE uuid = ?", (uuid_key(uuid),)).fetchone()
            return found[0] if found else None

    def transcript(self, key: int, /) -> list[Node]:
        """Return the records with a uuid in the home file of this one, and this one, in line order."""
        with self._reading():
            return nodes.transcript(self._connection, key)

    def members(self, session: str, agent: str | None = None, /) -> list[Node]:
        """Return the records of a session, or of one of its agents, as they lie there, copies after others."""
        with self._reading():
            numbers = reading.whose(self._connection, session, agent)
            return nodes.members(self._connection, *numbers) if numbers else []

    def agents(self, session: str, /) -> list[str]:
        """Return the agents that have records in a session, in order of their names."""
        with self._reading():
            numbers = reading.whose(self._connection, session, None)
            return nodes.agents(self._connection, numbers[0]) if numbers else []

    def offspring(self, keys: Sequence[int], session: str, /) -> list[Node]:
        """Return the records of other sessions than this whose parent is one of these, without their steps."""
        with self._reading():
            return nodes.offspring(self._connection, keys, session)

    def callers(self, calls: Sequence[str], /) -> dict[str, str]:
        """Return the uuid of the record that made each of these tool calls; a missing one is left out."""
        with self._reading():
            return nodes.callers(self._connection, calls)

    def calls(self, keys: Sequence[int], /) -> dict[int, int]:
        """Return the part of the call that each of these results is of; one that is not known is left out."""
        with self._reading():
            return nodes.calls(self._connection, keys)

    def session_parts(self, session: str, agent: str | None = None, /) -> Iterator[Stored]:
        """Yield the parts of a session, or of one of its agents, in order; repeats included."""
        with self._reading():
            numbers = reading.whose(self._connection, session, agent)
            yield from reading.session_parts(self._connection, self._unpacker, *numbers) if numbers else ()

    def sessions(self, condition: Condition, limit: int | None = None, /) -> list[Session]:
        """Return the sessions for which a condition holds, newest first."""
        with self._reading():
            chosen = choosing.sessions(self._connection, self._unpacker, condition)[:limit]
            return telling.sessions(self._connection, self._unpacker, chosen)

    def named(self, ids: Sequence[str], /) -> dict[str, Session]:
        """Return the sessions with these ids; a missing one is left out."""
        with self._reading():
            chosen = choosing.named(self._connection, ids)
            return {session.id: session for session in telling.sessions(self._connection, self._unpacker, chosen)}

    def values(self, name: str, /) -> list[str]:
        """Return the values there are of a filter, those that most sessions have first."""
        with self._reading():
            return choosing.values(self._connection, self._unpacker, name)

    def headings(self, ids: Sequence[str], /) -> dict[str, Heading]:
        """Return what the sessions with these ids are known by; a missing one is left out."""
        with self._reading():
            kept = self._kept()
            wanted = [id for id in ids if id not in kept.headings]
            if wanted:
                if kept.summaries is None:
                    kept.summaries = telling.summaries_of(self._connection)
                chosen = choosing.named(self._connection, wanted)
                found = telling.headings(self._connection, self._unpacker, chosen, kept.summaries).values()
                kept.headings.update({heading.id: heading for heading in found})
            return {id: kept.headings[id] for id in ids if id in kept.headings}

    def facts(self, session: str, /) -> list[Fact]:
        """Return what is known of a session and its agents."""
        with self._reading():
            return census.facts(self._connection, session)

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong in the transcripts and in the catalog itself."""
        from searchkit.backends.embedded import checks

        with self._reading():
            yield from checks.findings(self._connection, self._path)

    def counts(self) -> Counts:
        """Count what is kept."""
        with self._reading():
            return census.counts(self._connection)

    def figures(self, condition: Condition, groupings: Sequence[Grouping], /) -> dict[Grouping, dict[str, Figures]]:
        """Return figures by label, such as a day, for each grouping; what has no label is under the empty one."""
        from searchkit.backends.embedded import figures

        with self._reading():
            return figures.figures(self._connection, self._unpacker, condition, groupings)

    def responses(self) -> Mapping[str, Usage]:
        """Return what each response cost, by the name its records' links give it."""
        with self._reading():
            return census.responses(self._connection)

    def everything(self) -> Iterator[Holding]:
        """Yield every record with its parts, in any order."""
        from searchkit.backends.embedded import dump

        with self._reading():
            yield from dump.everything(self._connection, self._unpacker)

    def check(self) -> None:
        """Raise unless SQLite finds the catalog sound."""
        with _mapped(self._path):
            found = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise IndexDamaged(f"{self._path} is damaged: {found}", "build it anew: searchkit index --rebuild")

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold, from the disk too."""
        from searchkit.backends.embedded.erase import erase_orphans, erase_session

        with self._transaction():
            for session in sessions:
                found = self._connection.execute("SELECT id FROM sessions WHERE name = ?", (session,)).fetchone()
                if found is not None:
                    erase_session(self._connection, found[0])
            erase_orphans(self._connection)
        self._names.forget()
        with _mapped(self._path):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Release what is held."""
        self._connection.close()

    def _prepare(self, is_writable: bool) -> None:
        execute = self._connection.execute
        execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        execute(f"PRAGMA cache_size = {CACHE_PAGES}")
        if not is_writable:
            execute("PRAGMA query_only = 1")
            execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
            if execute("PRAGMA user_version").fetchone()[0] == 0:
                raise IndexMissing(f"the index in {self._path.parent} is still empty", "run: searchkit index")
            return
        execute(f"PRAGMA page_size = {PAGE_BYTES}")
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")
        execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        execute("PRAGMA secure_delete = FAST")
        if execute("PRAGMA user_version").fetchone()[0] == 0:
            from searchkit.backends.embedded import schema

            self._connection.executescript(f"BEGIN;{schema.TABLES}PRAGMA user_version = {layout.FORMAT};COMMIT;")
        else:
            self._complete_indexes()

    def _kept(self) -> Kept:
        """Return what earlier searches looked up, unless somebody has written since."""
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._keeping.version:
            self._keeping = Kept(version)
        return self._keeping

    def _sync(self) -> None:
        """Bring what was committed to the disk, so that it outlasts a power failure, too."""
        with _mapped(self._path):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _last_part(self) -> int:
        """Return the highest number that a part was ever given."""
        return last_number(self._connection, "parts")

    def _complete_indexes(self) -> None:
        """Make the indexes that a first build did without, where that has not been done."""
        from searchkit.backends.embedded import schema

        for statement in schema.LATE_INDEXES:
            self._connection.execute(statement)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Let everything that is read inside be of one moment, whatever others commit meanwhile."""
        with _mapped(self._path):
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _mapped(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            self._keeping = Kept(0)
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                # Numbers that were given in vain must not be used again.
                self._names.forget()
                raise


@contextmanager
def _mapped(path: Path) -> Iterator[None]:
    """Turn what SQLite reports into errors that say what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OUTSIDE:
            hint = "make room or give yourself permission there, then run searchkit index again; nothing is lost"
            raise IndexUnwritable(f"{path}: {error}", hint) from error
        hint = "keep a copy of the directory, then build it anew: searchkit index --rebuild"
        raise IndexDamaged(f"{path} is damaged: {error}", hint) from error
