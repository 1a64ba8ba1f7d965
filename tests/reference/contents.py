"""Everything that a backend holds, which nothing but tests asks for."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from searchkit.backends.base import Backend, Catalog, Stored
from searchkit.backends.local.catalog import threads
from searchkit.backends.local.catalog.store import SqliteCatalog
from searchkit.types import Link
from tests.reference.held import Holding

# Records asked for in one statement.
RECORDS_AT_ONCE = 2_000


@runtime_checkable
class Readable(Protocol):
    """A catalog that tells by itself what it holds; the tables of one that does not are read here."""

    def everything(self) -> Iterator[Holding]:
        """Yield every record with its parts, in any order."""

    def session_parts(self, session: str, agent: str | None = None, /) -> Iterator[Stored]:
        """Yield the parts of a session, or of one of its agents, in order; repeats included."""


def everything(backend: Backend) -> Iterator[Holding]:
    """Yield every record with its parts, in any order; what is written meanwhile may be missed."""
    match _unmasked(backend.catalog):
        case SqliteCatalog() as catalog:
            with catalog.reading():
                yield from _from_sqlite(catalog)
        case Readable() as catalog:
            yield from catalog.everything()
        case other:
            raise TypeError(f"nothing is known of the tables of {other!r}")


def session_parts(backend: Backend, session: str, agent: str | None = None) -> Iterator[Stored]:
    """Yield the parts of a session, or of one of its agents, in order; repeats included."""
    match _unmasked(backend.catalog):
        case SqliteCatalog() as catalog:
            with catalog.reading():
                yield from _session_from_sqlite(catalog, session, agent)
        case Readable() as catalog:
            yield from catalog.session_parts(session, agent)
        case other:
            raise TypeError(f"nothing is known of the tables of {other!r}")


def _unmasked(catalog: Catalog) -> Catalog:
    # What an engine reads from masks secrets; the tables have them.
    unmasked: Catalog = vars(catalog).get("_catalog", catalog)
    return unmasked


def children(backend: Backend, uuid: str) -> list[Link]:
    """Return the records whose parent this is, in order of their homes."""
    found = [holding.link for holding in everything(backend) if holding.link.parent == uuid]
    return sorted(found, key=lambda link: (link.places[0].file, abs(link.places[0].line)))


def neighbours(backend: Backend, uuid: str, before: int, after: int) -> list[Link]:
    """Return the records around one in its home file, that one included, in line order."""
    links = [holding.link for holding in everything(backend)]
    homes = {link.places[0].file for link in links if link.uuid == uuid}
    order = sorted((link for link in links if link.places[0].file in homes), key=lambda link: link.places[0].line)
    here = [place for place, link in enumerate(order) if link.uuid == uuid]
    return order[max(0, here[0] - before) : here[0] + after + 1] if here else []


def _from_sqlite(catalog: SqliteCatalog) -> Iterator[Holding]:
    last = 0
    while numbers := _numbers(catalog, last):
        last = numbers[-1]
        condition = f"parts.record IN ({','.join('?' * len(numbers))})"
        parts: dict[str, list[Stored]] = {}
        for stored in threads.parts(catalog.connection, catalog.unpacker, condition, numbers):
            parts.setdefault(stored.link.uuid, []).append(stored)
        for link in threads.links(catalog.connection, "id", numbers):
            yield Holding(link=link, parts=parts.get(link.uuid, []))


def _numbers(catalog: SqliteCatalog, after: int) -> list[int]:
    statement = "SELECT id FROM records WHERE id > ? ORDER BY id LIMIT ?"
    return [row[0] for row in catalog.connection.execute(statement, (after, RECORDS_AT_ONCE))]


def _session_from_sqlite(catalog: SqliteCatalog, session: str, agent: str | None) -> Iterator[Stored]:
    seen: set[int] = set()
    numbers = threads.whose(catalog.connection, session, agent)
    statement = f"SELECT id FROM ({threads.IN_SESSION}) ORDER BY is_copy, is_foreign, path, line"
    for (record,) in catalog.connection.execute(statement, numbers).fetchall() if numbers else ():
        if record not in seen:
            seen.add(record)
            yield from threads.parts(catalog.connection, catalog.unpacker, "records.id = ?", (record,))
