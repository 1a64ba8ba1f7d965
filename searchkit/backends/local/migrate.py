"""Brings a catalog of an older format, or one that SQLite cannot read through, into the tables of today.

What only the index still has must not be lost, so nothing is read from transcripts here. All rows are copied
into a new file under the numbers that they have, as far as they can be read, and that file then takes the
place of the old one in a single transaction: a concurrent reader sees one or the other.
"""

import logging
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import zstandard

from searchkit.backends.duplicates import Space
from searchkit.backends.local import layout
from searchkit.backends.local.catalog import checksums, schema, store
from searchkit.backends.local.catalog.delete import find_parents
from searchkit.backends.local.catalog.ids import uuid_key
from searchkit.backends.local.catalog.repair import drop_dangling
from searchkit.backends.local.catalog.schema import KINDS, LANGUAGES, SHARED
from searchkit.backends.local.catalog.texts import compress, unpack, unpack_unchecked
from searchkit.errors import IndexDamaged
from searchkit.sources.parts import language_in

log = logging.getLogger(__name__)

# Rows that are copied together, and one by one where some of them cannot be read.
_AT_ONCE = 1_024
# Beyond this no number of a row is believed: 64 bits of a hash are copied by their order instead.
_MAX_NUMBER = 1 << 40
# A page that cannot be read costs some 150 attempts. Where the root of a table is one, every attempt fails.
_MAX_FAILURES = 20_000
_NEW = "new.db"
# What SQLite's file begins with, and where in it the rest of the fixed fields stand.
_MAGIC = b"SQLite format 3\0"
_PAGE_SIZES = (16 << 10, 4 << 10)
# The first page, of the definitions, leads to others, or holds them all.
_FIRST_PAGES = (5, 13)
# Formats whose keyword index and vectors have the rows and columns of today's.
_SAME_STORES_SINCE = 3


def version_of(directory: Path) -> int | None:
    """Return the format of the catalog that is there, None where there is none; raises IndexDamaged."""
    path = directory / layout.CATALOG
    if not path.exists():
        return None
    with store.mapped(path), closing(store.connect(path, is_writable=False)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(directory: Path, version: int) -> None:
    """Bring the catalog from an older format to that of today.

    The new one is complete and checked before it takes the place of the old; a copy is kept until that has worked.
    """
    path = directory / layout.CATALOG
    log.warning("the index has format %d and is brought to format %d", version, layout.FORMAT)
    begun = _begin(directory, layout.MIGRATING)
    with store.mapped(path), layout.private(), closing(store.connect(path, is_writable=False)) as old:
        settings = {**(layout.read_manifest(directory) or {}), "format": None}
        if version < _SAME_STORES_SINCE:
            settings |= dict.fromkeys(Space, None)
        old.execute("VACUUM INTO ?", (str(begun / layout.CATALOG),))
        _fill(begun / _NEW, begun / layout.CATALOG, old.execute("PRAGMA page_size").fetchone()[0])
        if damage := _finish(begun / _NEW, settings):
            raise IndexDamaged(
                f"the catalog that was made of {path} is damaged ({damage}), so that one stays as it was",
                "look whether the disk is in order, and run this again",
            )
        if version < _SAME_STORES_SINCE:
            _remove_stores(directory)
        _replace(begun / _NEW, old)
    with store.mapped(path), closing(store.connect(path, is_writable=False)) as new:
        damage = _damage(new)
        # Of what an older manifest lacks, or lost, the catalog may have it.
        known = {} if damage else {name: orjson.loads(value) for name, value in new.execute("SELECT * FROM settings")}
    if damage:
        # Under another name, since who writes next clears what a migration that was killed has left.
        kept = begun.rename(begun.with_name(datetime.now().strftime(layout.STAMP)))
        raise IndexDamaged(
            f"the migrated catalog is damaged: {damage}", f"the index as it was is in {kept}; keep it, and ask for help"
        )
    layout.write_manifest(directory, known)
    shutil.rmtree(begun)


def salvage(directory: Path) -> Path:
    """Copy what can be read of a damaged catalog into a new one in its place; return where the old one is kept.

    Killed at any moment, it is begun again by who writes next: `is_salvage_unfinished` says so.
    """
    path = directory / layout.CATALOG
    begun = directory / layout.ASIDE / layout.SALVAGING
    if not begun.exists():
        layout.make_aside(directory, layout.SALVAGING)
    _move(directory, begun)
    log.warning("the catalog is damaged and was moved aside; what can be read of it is copied")
    settings = layout.read_manifest(directory) or {}
    with layout.private():
        _fill(begun / _NEW, begun / layout.CATALOG, store.PAGE_BYTES)
        with closing(store.connect(path, is_writable=True)) as new:
            _replace(begun / _NEW, new)
            checksums.can_seal(new)
            known = {row[0] for row in new.execute("SELECT name FROM settings")}
            _keep_settings(new, {name: value for name, value in settings.items() if name not in {*known, "format"}})
    (begun / _NEW).unlink()
    kept = begun.rename(begun.with_name(datetime.now().strftime(layout.STAMP)))
    log.warning("the damaged catalog is kept in %s", kept)
    return kept


def is_salvage_unfinished(directory: Path) -> bool:
    """Whether a damaged catalog was moved aside, and nothing may be in its place yet."""
    return (directory / layout.ASIDE / layout.SALVAGING).exists()


def _move(directory: Path, begun: Path) -> None:
    """Move a damaged catalog aside, or, where an earlier salvage did so, remove what that had begun in its place.

    The catalog itself comes last: once it is there, so is its log.
    """
    names = [f"{layout.CATALOG}{ending}" for ending in ("-wal", "-shm", "")]
    is_moved = (begun / layout.CATALOG).exists()
    for name in names:
        with suppress(FileNotFoundError):
            if is_moved:
                (directory / name).unlink()
            else:
                (directory / name).rename(begun / name)
    for left in begun.glob(f"{_NEW}*"):
        left.unlink()


def _begin(directory: Path, name: str) -> Path:
    shutil.rmtree(directory / layout.ASIDE / name, ignore_errors=True)
    return layout.make_aside(directory, name)


def _finish(new: Path, settings: dict[str, Any]) -> str | None:
    """Say what is damaged in a catalog that was filled; keep the settings in it where nothing is."""
    with closing(sqlite3.connect(new, isolation_level=None)) as connection:
        if damage := _damage(connection):
            return damage
        checksums.can_seal(connection)
        _keep_settings(connection, settings)
    return None


def _damage(connection: sqlite3.Connection) -> str | None:
    """Say what SQLite finds damaged; None where that is nothing."""
    try:
        said = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if said == "ok" else " ".join(said.split())


def _remove_stores(directory: Path) -> None:
    """Remove stores that derive from the catalog and are not those of today: they are made again from it."""
    for name in (layout.KEYWORD, layout.VECTORS):
        shutil.rmtree(directory / name, ignore_errors=True)


def _replace(new: Path, old: sqlite3.Connection) -> None:
    """Let one catalog take the place of another, in a transaction of the latter."""
    with closing(sqlite3.connect(new)) as source:
        source.backup(old)
    old.execute("PRAGMA journal_mode = WAL")
    old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _keep_settings(connection: sqlite3.Connection, settings: dict[str, Any]) -> None:
    rows = [(name, orjson.dumps(value).decode()) for name, value in settings.items() if value is not None]
    connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows)


def _fill(new: Path, old: Path, page_bytes: int) -> None:
    """Make a catalog of what another has, whatever its format, as far as it can be read."""
    with closing(sqlite3.connect(new, isolation_level=None)) as target:
        target.execute(f"PRAGMA page_size = {page_bytes}")
        target.execute("PRAGMA synchronous = OFF")
        target.executescript(f"BEGIN;{schema.TABLES}COMMIT;")
        with closing(_open_damaged(old)) as source:
            lost = set[str]() if _columns(source, "parts") else {"every table"}
            target.execute("BEGIN")
            for sealed in checksums.SEALED:
                if sealed.table != "chunks":
                    _copy(source, target, sealed.table, lost)
            lost |= checksums.incomplete(source, target)
            _complete(source, target)
            _copy_chunks(source, target, lost)
            drop_dangling(target)
            target.executemany(
                "INSERT INTO losses (time, detail) VALUES (?, ?)",
                [(int(time.time() * 1000), f"some rows of {table} could not be read") for table in sorted(lost)],
            )
            find_parents(target)
            target.execute("COMMIT")
        store.complete_indexes(target)
        target.executescript(f"BEGIN;{checksums.SEALS}PRAGMA user_version = {layout.FORMAT};COMMIT;")
        checksums.reseal_all(target)


def _open_damaged(path: Path) -> sqlite3.Connection:
    """Open a catalog that was moved aside, also one whose first bytes or whose definitions are damaged."""
    # It is no longer the catalog, so that others than SQLite may open it.
    headers = [None, *((page_bytes, kind) for page_bytes in _PAGE_SIZES for kind in _FIRST_PAGES)]
    for header in headers:
        if header is not None:
            _write_header(path, *header)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.text_factory = lambda text: text.decode(errors="replace")
        try:
            connection.execute("PRAGMA writable_schema = ON")
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'parts'").fetchone():
                return connection
        except sqlite3.DatabaseError:
            pass
        connection.close()
    return sqlite3.connect(":memory:", isolation_level=None)


def _write_header(path: Path, page_bytes: int, first_page: int) -> None:
    """Write the fields of SQLite's header that are the same in every catalog, and what the first page is."""
    with path.open("r+b") as file:
        file.write(_MAGIC + page_bytes.to_bytes(2, "big") + bytes([1, 1, 0, 64, 32, 32]))
        file.seek(44)
        file.write((4).to_bytes(4, "big"))
        file.seek(56)
        file.write((1).to_bytes(4, "big"))
        file.seek(100)
        file.write(bytes([first_page]))
    for name in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + name).unlink()


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    with suppress(sqlite3.DatabaseError):
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    return []


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str, lost: set[str]) -> None:
    """Copy the columns that both have of a table, row by row where rows cannot be read."""
    wanted = _columns(target, table)
    known = set(_columns(source, table))
    shared = [column for column in wanted if column in known]
    if not shared:
        return
    if table == "records" and "missing_parent" not in known:
        # The first catalogs kept a parent by its uuid alone.
        wanted, shared = [*shared], ["missing_parent" if column == "parent" else column for column in shared]
    else:
        wanted = shared
    defaults = {"places": _PLACE_DEFAULTS, "parts": {"language": 0}}.get(table, {})
    filled = {column: value for column, value in defaults.items() if column not in known}
    names = ", ".join([*shared, *filled])
    marks = ", ".join("?" * (len(shared) + len(filled)))
    statement = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"
    for rows in _rows(source, table, wanted, lost):
        for row in rows:
            # A value that a damaged row has and no row may have, such as none where one is needed.
            with suppress(sqlite3.IntegrityError):
                target.execute(statement, (*row, *filled.values()))


# What places of the first catalogs did not say; `_complete` takes it from their records.
_PLACE_DEFAULTS = {"is_by_file": 0, "type": 0, "context": 0, "standing": 0, "flags": 0}


def _rows(
    source: sqlite3.Connection, table: str, columns: Sequence[str], lost: set[str]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a table; where SQLite cannot read some, all that lie around them, and the table is lost."""
    statement = f"SELECT {', '.join(columns)} FROM {table}"
    try:
        rows = source.execute(statement)
        while found := rows.fetchmany(_AT_ONCE):
            yield found
        return
    except sqlite3.DatabaseError:
        log.warning("the table %s cannot be read through: its rows are looked for one by one", table)
        lost.add(table)
    key = next((sealed.key for sealed in checksums.SEALED if sealed.table == table), None)
    if key is not None and table != "responses":
        yield from _around_damage(source, f"{statement} WHERE {key} BETWEEN ? AND ?", 0, _MAX_NUMBER)


def _around_damage(
    source: sqlite3.Connection, statement: str, first: int, last: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Read a range of rows in halves of halves, down to the row that cannot be read."""
    pending, failures = [(first, last)], 0
    while pending and failures < _MAX_FAILURES:
        first, last = pending.pop()
        try:
            yield source.execute(statement, (first, last)).fetchall()
        except sqlite3.DatabaseError:
            failures += 1
            if first < last:
                middle = (first + last) // 2
                pending += [(middle + 1, last), (first, middle)]


def _complete(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Fill in what older catalogs did not say and what rows that were lost took along."""
    execute = target.execute
    execute("INSERT OR IGNORE INTO sessions (id, name, is_settled) VALUES (0, '', 1)")
    for table in ("records", "parts", "chunks"):
        column = "chunk" if table == "chunks" else "id"
        last = f"SELECT ifnull(max({column}), 0) FROM {'parts' if table == 'chunks' else table}"
        execute(
            f"INSERT INTO numbers VALUES (?, ({last}))"
            f" ON CONFLICT DO UPDATE SET last = iif(last BETWEEN excluded.last AND {_MAX_NUMBER}, last, excluded.last)",
            (table,),
        )
    # The first catalogs listed the fields of a call as "name start end;name start end".
    listed = execute("SELECT id, fields FROM parts WHERE fields NOT LIKE '[%'").fetchall()
    target.executemany("UPDATE parts SET fields = ? WHERE id = ?", [(_fields(old), part) for part, old in listed])
    if "is_by_file" not in _columns(source, "places"):
        _complete_places(target)
    if not _columns(source, "seals"):
        # Until then records on damaged lines were lost: what is no checkpoint lets such a file be read again.
        execute("UPDATE files SET checkpoint = x'7b7d' WHERE torn > 0 AND checkpoint IS NOT NULL")
    rows = execute("SELECT session, name, value, agent, leaf FROM facts WHERE typeof(leaf) = 'text'").fetchall()
    target.executemany(
        "UPDATE facts SET leaf = ? WHERE session = ? AND name = ? AND value = ? AND agent = ?",
        [(uuid_key(leaf), *key) for *key, leaf in rows],
    )


def _fields(listed: str) -> str | None:
    pairs = [one.rsplit(" ", 2) for one in listed.split(";")]
    with suppress(ValueError):
        return orjson.dumps([[name, int(start), int(end)] for name, start, end in pairs]).decode()
    return None


def _complete_places(target: sqlite3.Connection) -> None:
    """Let the places of the first catalogs show their records as these are, and tell all parts of them."""
    execute = target.execute
    execute("DELETE FROM places WHERE record NOT IN (SELECT id FROM records)")
    execute(
        "DELETE FROM places WHERE record IN"
        " (SELECT places.record FROM places JOIN records ON records.id = places.record GROUP BY places.record"
        "  HAVING count(*) = 1 AND max(places.file = records.file AND places.line = records.line))"
    )
    execute(
        "UPDATE places SET (parent, logical_parent, source_call, type, time, context, response, standing, flags) ="
        " (SELECT missing_parent, logical_parent, source_call, type, time, context, response, standing, flags"
        "  FROM records WHERE records.id = places.record)"
    )
    execute(
        "INSERT OR IGNORE INTO places SELECT id, file, line, 0, session, agent, missing_parent, logical_parent,"
        " source_call, type, time, context, response, standing, flags FROM records"
        " WHERE id IN (SELECT record FROM places)"
    )
    # A line of a fork that names the old session is part of both.
    execute(
        "INSERT OR IGNORE INTO places SELECT record, file, line, 1, files.session, NULL, parent, logical_parent,"
        " source_call, type, time, context, response, standing, flags FROM places JOIN files ON files.id = file"
        " WHERE files.kind = 'session' AND files.session != places.session AND NOT is_by_file"
    )
    execute(f"UPDATE records SET flags = flags | {SHARED} WHERE id IN (SELECT record FROM places)")
    execute(
        "INSERT OR IGNORE INTO tellings SELECT parts.id, places.file, places.line, kind, role, tool, call, is_error,"
        " fields FROM parts JOIN places ON places.record = parts.record"
    )


def _copy_chunks(source: sqlite3.Connection, target: sqlite3.Connection, lost: set[str]) -> None:
    """Copy texts under checksums of today's, and tell their language where that was not kept."""
    decompressor = zstandard.ZstdDecompressor()
    tells_language = "language" in _columns(source, "parts")
    target.execute(
        "CREATE TEMP TABLE spans AS SELECT chunk, min(id) AS first, max(id) AS last FROM parts GROUP BY chunk"
    )
    target.execute("CREATE INDEX temp.spans_chunk ON spans (chunk)")
    for rows in _rows(source, "chunks", ["id", "data"], lost):
        for chunk, packed in rows:
            span = target.execute("SELECT first, last FROM spans WHERE chunk = ?", (chunk,)).fetchone()
            if span is None or not isinstance(packed, bytes):
                continue
            try:
                texts = unpack(packed, decompressor)
            except zstandard.ZstdError:
                texts = unpack_unchecked(packed, decompressor)
                if not texts:
                    # Kept as it is: checking the texts tells which are lost.
                    target.execute("INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?)", (chunk, *span, packed))
                    continue
            target.execute("INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?)", (chunk, *span, compress(texts)))
            if not tells_language:
                _tell_language(target, chunk, span, texts)
    target.execute("DROP TABLE temp.spans")


def _tell_language(target: sqlite3.Connection, chunk: int, span: tuple[int, int], texts: bytes) -> None:
    rows = target.execute(
        "SELECT id, kind, start, length FROM parts WHERE id BETWEEN ? AND ? AND chunk = ?", (*span, chunk)
    ).fetchall()
    told = (
        (LANGUAGES.index(language_in(KINDS[kind], texts[start : start + length].decode(errors="replace"))), part)
        for part, kind, start, length in rows
    )
    target.executemany("UPDATE parts SET language = ? WHERE id = ?", [row for row in told if row[0]])
