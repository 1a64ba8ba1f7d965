"""The catalog: every record's links and every part's text, in SQLite, independent of the transcripts.

What writes and what checks is imported where it is used: a search should not wait for it.
"""

import logging
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from searchkit.backends.base import READ_BY, Batch, Conclusion, Node, Prepared, Step, Stored
from searchkit.backends.local import layout
from searchkit.backends.local.catalog import sessions as catalog_sessions
from searchkit.backends.local.catalog import threads
from searchkit.backends.local.catalog.ids import Names, last_number, parse_part_id, rows_in, uuid_key
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.errors import IndexBusy, IndexDamaged, IndexMissing, IndexUnwritable, SearchkitError
from searchkit.query.types import Condition, Filter
from searchkit.system.files import remove
from searchkit.text.secrets import revealed
from searchkit.types import Cost, Counts, Fact, Figures, Finding, Grouping, Heading, Link, Reading, SecretPlace, Session

if TYPE_CHECKING:
    from searchkit.backends.base import Sketch, Survey
    from searchkit.backends.local.catalog.long_threads import Known
    from searchkit.backends.local.catalog.write import Written
    from searchkit.backends.prices import Price

log = logging.getLogger(__name__)

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
# The setting that says that something was forgotten and may still be on the disk.
FORGETTING = "forgetting"
# How long a reader waits for the moment in which a commit is made visible.
BUSY_MILLISECONDS = 10_000
# What SQLite reports when the trouble is around the catalog and not in it. The lowest byte is the
# kind, whatever the rest says.
_OUTSIDE = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
    | {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
)


# Errors that SQLite gives where it cannot make the memory that its connections share.
_NO_SHARED_MEMORY = frozenset(
    {
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMMAP,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)


# The setting that says which version of the reading last corrected the index.
_REVISED_BY = "revised"


class Kept:
    """What many searches ask for, good until somebody writes."""

    def __init__(self, version: int) -> None:
        """Begin with nothing, at a version of the database."""
        self.version = version
        self.headings: dict[str, Heading] = {}
        self.summaries: dict[int, str] | None = None
        self.meant: dict[Filter, frozenset[int]] = {}
        self.projects: dict[str, frozenset[int]] | None = None


class SqliteCatalog:
    """An open catalog. Writing wants the index's lock, which the caller holds; reading wants nothing.

    The stores of words and of vectors derive from it and use its connection.
    """

    preparation = "searchkit.backends.local.catalog.rows:prepare"

    def __init__(self, directory: Path, is_writable: bool = False) -> None:
        """Open the catalog in `directory`, making it where it is to be written and is not there."""
        if is_writable:
            layout.prepare(directory)
        else:
            layout.check(directory)
        self.path = directory / layout.CATALOG
        with mapped(self.path):
            self.connection = self._open(is_writable)
        self._mend_manifest()
        self.is_mending = False
        self.names = Names(self.connection)
        self.unpacker = Unpacker(self.connection)
        # What the last batch brought, until the keyword index takes it.
        self.written: Written | None = None
        self._keeping = Kept(0)
        # What was found out of conversations, good until somebody writes.
        self._surveyed: Known = {}
        self._surveyed_in = self._keeping

    def setting(self, name: str) -> Any:
        """Return what the index remembers under a name, None where that is nothing."""
        with mapped(self.path):
            row = self.connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return None if row is None else orjson.loads(row[0])

    def remember(self, name: str, value: object) -> None:
        """Keep something about the index, in the catalog and in its manifest; None forgets it."""
        if self.setting(name) != value:
            with self.transaction():
                self.connection.execute("DELETE FROM settings WHERE name = ?", (name,))
                if value is not None:
                    written = orjson.dumps(value).decode()
                    self.connection.execute("INSERT INTO settings VALUES (?, ?)", (name, written))
        try:
            layout.write_manifest(self.path.parent, self._settings())
        except OSError as error:
            raise layout.unwritable(self.path.parent, error) from error

    def damage(self) -> str | None:
        """Say what was found to be damaged while texts were read; None where that is nothing."""
        count = len(self.unpacker.damaged)
        return f"{count} {'chunk' if count == 1 else 'chunks'} of text in {self.path}" if count else None

    def checkpoints(self) -> Mapping[str, bytes]:
        """Return the checkpoint of every file that was read."""
        with mapped(self.path):
            return dict(self.connection.execute("SELECT path, checkpoint FROM files WHERE checkpoint IS NOT NULL"))

    def write(self, batch: Batch, /) -> None:
        """Keep a batch and its checkpoints, all or nothing."""
        from searchkit.backends.local.catalog.rows import decode, prepare
        from searchkit.backends.local.catalog.write import Writer

        rows = decode(batch.prepared) if isinstance(batch, Prepared) else prepare(batch)
        self.written = None
        with self.transaction():
            written = Writer(self.connection, self.names, rows, self.is_mending).write(batch)
        self.written = written

    def revise(self, reading: Reading, /) -> None:
        """Correct what an earlier version of a source read otherwise, as far as that needs no transcript.

        It is done once for each version; a new index has nothing to correct.
        """
        known, revised_by = self.setting(reading.key), f"{_REVISED_BY}{reading.key.removeprefix(READ_BY)}"
        # An index that was never told of a source but the first has nothing of it.
        if not self.checkpoints() or (known is None and reading.key != READ_BY):
            self.remember(reading.key, reading.version)
        elif reading.version not in (known, self.setting(revised_by)):
            from searchkit.backends.local.catalog.repair import revise

            with self.transaction():
                revise(self.connection, reading)
            self.remember(revised_by, reading.version)

    def settle(self) -> None:
        """Decide, for the sessions written to, which parts only repeat others."""
        from searchkit.backends.local.catalog.delete import find_parents, settle, unsettled

        with mapped(self.path):
            complete_indexes(self.connection)
        if self.is_mending:
            from searchkit.backends.local.catalog.repair import note_losses

            with self.transaction():
                note_losses(self.connection)
        with self.transaction():
            find_parents(self.connection)
        while sessions := unsettled(self.connection):
            with self.transaction():
                for session in sessions:
                    settle(self.connection, session)

    def stored(self, keys: Sequence[int], /) -> list[Stored | None]:
        """Return parts by their keys, in this order; None for one that is gone."""
        with self.reading():
            found = threads.numbered(self.connection, self.unpacker, keys)
            return [found.get(key) for key in keys]

    def part(self, part_id: str, /) -> Stored | None:
        """Return one part by its id, `<uuid>#<block>`."""
        key = parse_part_id(part_id)
        if key is None:
            return None
        with self.reading():
            statement = "uuid = ? AND block = ? AND variant = ?"
            return next(threads.parts(self.connection, self.unpacker, statement, key), None)

    def links(self, uuids: Sequence[str], /) -> Mapping[str, Link]:
        """Return the records with these uuids; a missing one is left out."""
        with self.reading():
            found = threads.links(self.connection, "uuid", [uuid_key(uuid) for uuid in uuids])
            return {link.uuid: link for link in found}

    def beginning(self, text: str, limit: int, /) -> list[str]:
        """Return the uuids that begin with a text, in order."""
        with self.reading():
            return threads.beginning(self.connection, text, limit)

    def opening(self, session: str, /) -> list[str]:
        """Return the uuid of the first thing that was said in a session, or nothing where there is none."""
        with self.reading():
            return threads.opening(self.connection, session)

    def keys(self, uuid: str, /) -> list[int]:
        """Return the keys of what a record says, in the order of its blocks."""
        statement = (
            "SELECT parts.id FROM parts JOIN records ON records.id = record WHERE uuid = ? ORDER BY block, parts.id"
        )
        with self.reading():
            return [row[0] for row in self.connection.execute(statement, (uuid_key(uuid),))]

    def turns(self, keys: Sequence[int], before: int, after: int, /) -> dict[int, list[Step]]:
        """Return, for each of these parts, those of the turn that it is in and of so many before and after."""
        with self.reading():
            return threads.turns(self.connection, keys, before, after)

    def following(self, keys: Sequence[int], count: int, /) -> dict[int, list[int | None]]:
        """Return, for each of these parts, the parts at the next positions, so many.

        Parts are numbered as they are read, file by file and line by line, so that the number is the position, too.
        """
        after = {key: range(key + 1, key + 1 + count) for key in keys}
        wanted = sorted({number for several in after.values() for number in several})
        with self.reading():
            held = {row[0] for row in rows_in(self.connection, "SELECT id FROM parts WHERE id IN", wanted)}
        return {key: [number if number in held else None for number in several] for key, several in after.items()}

    def prompts(self, keys: Sequence[int], /) -> dict[int, int]:
        """Return what a person typed, or an agent was told, that the turn of each of these parts begins with."""
        with self.reading():
            return threads.prompts(self.connection, keys)

    def projects(self) -> dict[str, frozenset[int]]:
        """Return the sessions of each project, as hits name them."""
        with self.reading():
            kept = self.kept()
            if kept.projects is None:
                several: dict[str, set[int]] = {}
                for session, project in catalog_sessions.projects(self.connection).items():
                    several.setdefault(project, set()).add(session)
                kept.projects = {project: frozenset(sessions) for project, sessions in several.items()}
            return kept.projects

    def conclusions(self, keys: Sequence[int], /) -> dict[int, Conclusion]:
        """Return the last text of the turn that each of these parts is in; a part without one is left out."""
        with self.reading():
            return threads.conclusions(self.connection, keys)

    def record(self, uuid: str, /) -> int | None:
        """Return the key of a record, or None where there is none."""
        with self.reading():
            found = self.connection.execute("SELECT id FROM records WHERE uuid = ?", (uuid_key(uuid),)).fetchone()
            return found[0] if found else None

    def transcript(self, key: int, /) -> list[Node]:
        """Return the records with a uuid in the home file of this one, and this one, in line order."""
        with self.reading():
            return threads.transcript(self.connection, key)

    def members(self, session: str, agent: str | None = None, /) -> list[Node]:
        """Return the records of a session, or of one of its agents, as they lie there, copies after others."""
        with self.reading():
            numbers = threads.whose(self.connection, session, agent)
            return threads.members(self.connection, *numbers) if numbers else []

    def nodes(self, keys: Sequence[int], /) -> list[Node]:
        """Return records by their keys, in this order, as they lie at home; one that is gone is left out."""
        with self.reading():
            return threads.by_key(self.connection, keys)

    def survey(self, key: int, /) -> "Survey | None":
        """Survey the conversation of a record, by its session and agent; None where it is as well to read all of it."""
        from searchkit.backends.local.catalog.long_threads import survey

        with self.reading():
            kept = self.kept()
            if self._surveyed_in is not kept:
                self._surveyed_in, self._surveyed = kept, {}
            return survey(self.connection, self.reading, key, self._surveyed)

    def touching(self, session: str, /) -> list[Step]:
        """Return the calls of a session that touched a file, in line order: of each file and tool the last."""
        with self.reading():
            numbers = threads.whose(self.connection, session, None)
            return threads.touching(self.connection, numbers[0]) if numbers else []

    def tail(self, session: str, /) -> "Sketch | None":
        """Return the turn that a session ends with, as far as it is near its end; None where that takes all of it."""
        from searchkit.backends.local.catalog.long_threads import tail

        with self.reading():
            numbers = threads.whose(self.connection, session, None)
            return tail(self.connection, numbers[0]) if numbers else None

    def agents(self, session: str, /) -> list[str]:
        """Return the agents that have records in a session, in order of their names, without those that say nothing."""
        with self.reading():
            numbers = threads.whose(self.connection, session, None)
            return threads.agents(self.connection, numbers[0]) if numbers else []

    def offspring(self, keys: Sequence[int], session: str, /) -> list[Node]:
        """Return the records of other sessions than this whose parent is one of these, without their steps."""
        with self.reading():
            return threads.offspring(self.connection, keys, session)

    def callers(self, calls: Sequence[str], /) -> dict[str, str]:
        """Return the uuid of the record that made each of these tool calls; a missing one is left out."""
        with self.reading():
            return threads.callers(self.connection, calls)

    def calls(self, keys: Sequence[int], /) -> dict[int, int]:
        """Return the part of the call that each of these results is of; one that is not known is left out."""
        with self.reading():
            return threads.calls(self.connection, keys)

    def sessions(self, condition: Condition, limit: int | None = None, /) -> list[Session]:
        """Return the sessions for which a condition holds, newest first."""
        with self.reading():
            chosen = catalog_sessions.select_sessions(self.connection, self.unpacker, condition)[:limit]
            return catalog_sessions.sessions(self.connection, self.unpacker, chosen)

    def named(self, ids: Sequence[str], /) -> dict[str, Session]:
        """Return the sessions with these ids; a missing one is left out."""
        with self.reading():
            chosen = catalog_sessions.named(self.connection, ids)
            return {
                session.id: session for session in catalog_sessions.sessions(self.connection, self.unpacker, chosen)
            }

    def values(self, name: str, /) -> list[str]:
        """Return the values there are of a filter, those that most sessions have first."""
        with self.reading():
            return catalog_sessions.values(self.connection, self.unpacker, name)

    def headings(self, ids: Sequence[str], /) -> dict[str, Heading]:
        """Return what the sessions with these ids are known by; a missing one is left out."""
        with self.reading():
            kept = self.kept()
            wanted = [id for id in ids if id not in kept.headings]
            if wanted:
                if kept.summaries is None:
                    kept.summaries = catalog_sessions.summaries_of(self.connection)
                chosen = catalog_sessions.named(self.connection, wanted)
                found = catalog_sessions.headings(self.connection, self.unpacker, chosen, kept.summaries).values()
                kept.headings.update({heading.id: heading for heading in found})
            return {id: kept.headings[id] for id in ids if id in kept.headings}

    def facts(self, session: str, names: Sequence[str] = (), /) -> list[Fact]:
        """Return what is known of a session and its agents; of some names, or of all where none is given."""
        with self.reading():
            return catalog_sessions.facts(self.connection, session, names)

    def findings(self, is_deep: bool = False) -> Iterator[Finding]:
        """Yield what is wrong in the transcripts and in the catalog itself: a sample of it, or all."""
        from searchkit.backends.local.catalog import repair

        with self.reading():
            yield from repair.findings(self.connection, self.path, is_deep)
        if self.setting(FORGETTING):
            detail = "what prune was to forget may still be on the disk: run searchkit index"
            yield Finding(kind="index: forgetting unfinished", file=str(self.path.parent), line=0, detail=detail)

    def counts(self) -> Counts:
        """Count what is kept."""
        from searchkit.backends.local.catalog import stats

        with self.reading():
            return stats.counts(self.connection)

    def figures(
        self, condition: Condition, groupings: Sequence[Grouping], prices: "Mapping[str, Price] | None" = None, /
    ) -> dict[Grouping, dict[str, Figures]]:
        """Return figures by label, such as a day, for each grouping; what has no label is under the empty one."""
        from searchkit.backends.local.catalog import stats

        with self.reading():
            return stats.figures(self.connection, self.unpacker, condition, groupings, prices)

    def costs(self, sessions: Sequence[str], prices: "Mapping[str, Price] | None" = None, /) -> dict[str, Cost]:
        """Return what these sessions cost; one of which nothing is known is left out."""
        from searchkit.backends.local.catalog import stats

        with self.reading():
            return stats.costs(self.connection, sessions, prices)

    def begin_rebuild(self) -> bool:
        """Verify everything, and trust no row of what is read again where something is damaged.

        False where SQLite cannot read the catalog through.
        """
        from searchkit.backends.local.catalog.checksums import broken, is_readable
        from searchkit.backends.local.catalog.repair import damaged_texts, mend_indexes

        if not mend_indexes(self.connection):
            return False
        with mapped(self.path):
            is_broken = any(broken(self.connection))
            self.is_mending = is_broken or any(damaged_texts(self.connection))
        return not is_broken or is_readable(self.connection)

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold from the tables; `wipe` then takes it from the disk.

        That it has begun is kept with the removal itself: killed at any moment, the next writer finishes it.
        """
        from searchkit.backends.local.catalog.delete import erase_orphans, erase_session

        # What is freed is overwritten, whatever that costs.
        self.connection.execute("PRAGMA secure_delete = ON")
        with self.transaction():
            for session in sessions:
                found = self.connection.execute("SELECT id FROM sessions WHERE name = ?", (session,)).fetchone()
                if found is not None:
                    erase_session(self.connection, found[0])
            erase_orphans(self.connection)
            self.connection.execute("INSERT OR REPLACE INTO settings VALUES (?, 'true')", (FORGETTING,))
        self.connection.execute("PRAGMA secure_delete = FAST")
        self.names.forget()

    def mask_secrets(self) -> int:
        """Put masks in the place of secrets in the tables; `wipe` then takes these from the disk."""
        from searchkit.backends.local.catalog.delete import erase_orphans, mask_secrets

        self.connection.execute("PRAGMA secure_delete = ON")
        with self.transaction(), revealed(False):
            count = mask_secrets(self.connection)
            erase_orphans(self.connection)
            self.connection.execute("INSERT OR REPLACE INTO settings VALUES (?, 'true')", (FORGETTING,))
        self.connection.execute("PRAGMA secure_delete = FAST")
        self.names.forget()
        self.unpacker = Unpacker(self.connection)
        return count

    def secrets(self) -> Iterator[SecretPlace]:
        """Yield the secrets that texts hold."""
        from searchkit.backends.local.catalog.delete import secrets

        with self.reading():
            yield from secrets(self.connection)

    def wipe(self) -> None:
        """Leave nothing on the disk of what is no longer in the tables."""
        with mapped(self.path):
            self.connection.execute("VACUUM")
            is_busy = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if is_busy:
            raise IndexBusy(
                "a process that reads the index keeps what was forgotten on the disk",
                "when it is done, run searchkit index, which goes on where this stopped",
            )
        # Also what searches leave that are killed while they write theirs beside it.
        for left in self.path.parent.glob(f"*{Path(layout.LAST_SEARCH).stem}.*"):
            remove(left)
        aside = self.path.parent / layout.ASIDE
        if aside.exists():
            log.warning("what was moved aside may hold what is to be forgotten, and is removed: %s", aside)
            shutil.rmtree(aside)

    def close(self) -> None:
        """Release what is held."""
        self.connection.close()

    def _open(self, is_writable: bool) -> sqlite3.Connection:
        try:
            return self._open_once(is_writable)
        except sqlite3.OperationalError as error:
            if is_writable or getattr(error, "sqlite_errorcode", 0) not in _NO_SHARED_MEMORY:
                raise
            # Nobody can make the file that connections share on a full disk; alone, SQLite does without it.
            return self._open_once(is_writable, is_alone=True)

    def _open_once(self, is_writable: bool, is_alone: bool = False) -> sqlite3.Connection:
        connection = connect(self.path, is_writable)
        try:
            if is_alone:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            if is_writable:
                _prepare_to_write(connection, self.path.parent)
            else:
                _prepare_to_read(connection, self.path.parent)
        except BaseException:
            connection.close()
            raise
        return connection

    def _mend_manifest(self) -> None:
        """Write the manifest again where it is damaged, gone, or behind the catalog."""
        directory = self.path.parent
        manifest = layout.read_manifest(directory)
        if manifest is None or manifest["format"] != layout.FORMAT:
            log.warning("the manifest in %s is damaged or old, and is written again from the catalog", directory)
            # Who cannot write there does without it.
            with suppress(OSError, SearchkitError):
                layout.write_manifest(directory, self._settings())

    def _settings(self) -> dict[str, Any]:
        with mapped(self.path):
            return {
                name: orjson.loads(value)
                for name, value in self.connection.execute("SELECT name, value FROM settings ORDER BY name")
            }

    def kept(self) -> Kept:
        """Return what earlier searches looked up, unless somebody has written since."""
        version = self.connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._keeping.version:
            self._keeping = Kept(version)
        return self._keeping

    def sync(self) -> None:
        """Bring what was committed to the disk, so that it outlasts a power failure, too."""
        with mapped(self.path):
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def last_part(self) -> int:
        """Return the highest number that a part was ever given."""
        return last_number(self.connection, "parts")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let everything that is read inside be of one moment, whatever others commit meanwhile."""
        with mapped(self.path):
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            except (LookupError, ValueError, TypeError) as error:
                # A number that no kind has, a name that is no text: rows are wrong, or the program is.
                if _is_damaged(self.connection):
                    raise IndexDamaged(f"{self.path} is damaged", "mend it: searchkit index --rebuild") from error
                raise
            finally:
                self.connection.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with mapped(self.path):
            # A statement that fires triggers keeps a journal of its own, as a temporary file one of 800,000 writes for
            # 400 MB of transcripts. Elsewhere memory would have to hold what is sorted for an index.
            self.connection.execute("PRAGMA temp_store = MEMORY")
            self.connection.execute("BEGIN IMMEDIATE")
            self._keeping = Kept(0)
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                # Numbers that were given in vain must not be used again.
                self.names.forget()
                raise
            finally:
                self.connection.execute("PRAGMA temp_store = DEFAULT")


# What ends a part of a URI for SQLite. To import urllib.parse takes a thirtieth of a keyword search.
_ESCAPES = str.maketrans({sign: f"%{ord(sign):02x}" for sign in "%?#&"})


def connect(path: Path, is_writable: bool, **options: str) -> sqlite3.Connection:
    """Open the catalog's file, which nothing but SQLite may ever do.

    SQLite's locks are POSIX locks: a process that closes any descriptor of a file loses all that it holds on
    it, those of its other connections too, and others then take the write-ahead log from under them. So it
    is SQLite that makes the file, too, with the mode of the manifest.
    """
    if not is_writable and not path.exists():
        raise IndexMissing(f"the index in {path.parent} is still empty", "run: searchkit index")
    chosen = {"modeof": str(path.with_name(layout.MANIFEST))} if is_writable else {"mode": "rw"}
    query = "&".join(f"{name}={value.translate(_ESCAPES)}" for name, value in {**chosen, **options}.items())
    connection = sqlite3.connect(
        f"file:{str(path).translate(_ESCAPES)}?{query}", uri=True, isolation_level=None, check_same_thread=False
    )
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
    return connection


def _prepare_to_read(connection: sqlite3.Connection, directory: Path) -> None:
    execute = connection.execute
    execute(f"PRAGMA cache_size = {CACHE_PAGES}")
    execute("PRAGMA query_only = 1")
    execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
    version = execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        raise IndexMissing(f"the index in {directory} is still empty", "run: searchkit index")
    layout.check_version(directory, version)


def _prepare_to_write(connection: sqlite3.Connection, directory: Path) -> None:
    from searchkit.backends.local.catalog.checksums import can_seal

    execute = connection.execute
    execute(f"PRAGMA cache_size = {CACHE_PAGES}")
    execute(f"PRAGMA page_size = {PAGE_BYTES}")
    execute("PRAGMA journal_mode = WAL")
    execute("PRAGMA synchronous = NORMAL")
    execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
    execute("PRAGMA secure_delete = FAST")
    can_seal(connection)
    version = execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        make_tables(connection)
        return
    layout.check_version(directory, version)
    complete_indexes(connection)


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of a new catalog."""
    from searchkit.backends.local.catalog import schema

    connection.executescript(f"BEGIN;{schema.new_catalog()}PRAGMA user_version = {layout.FORMAT};COMMIT;")


def complete_indexes(connection: sqlite3.Connection) -> None:
    """Make the indexes that a first build did without, where that has not been done."""
    from searchkit.backends.local.catalog import schema

    for statement in schema.LATE_INDEXES:
        connection.execute(statement)


def _is_damaged(connection: sqlite3.Connection) -> bool:
    from searchkit.backends.local.catalog.checksums import broken

    try:
        return any(broken(connection))
    except sqlite3.DatabaseError:
        return True


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Turn what SQLite reports into errors that say what to do."""
    hint = "keep a copy of the directory, then rebuild it: searchkit index --rebuild"
    try:
        yield
    except UnicodeDecodeError as error:
        # What SQLite reports quotes a damaged definition.
        raise IndexDamaged(f"{path} is damaged: {error}", hint) from error
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OUTSIDE:
            outside = "make room or give yourself permission there, then run searchkit index again; nothing is lost"
            raise IndexUnwritable(f"{path}: {error}", outside) from error
        raise IndexDamaged(f"{path} is damaged: {error}", hint) from error
