"""The vectors of the catalog's parts, in LanceDB: they derive from it, cost most to make, and are never made twice.

What is missing is what the catalog has and the vectors have not; nothing is counted, so that a crash, a
deletion or another model cannot leave the two out of step.
"""

import logging
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from searchkit.backends.base import Near, Reach, Stored, Vector
from searchkit.backends.duplicates import EXCHANGE_PIECE, Space
from searchkit.backends.local import layout
from searchkit.backends.local.catalog import threads
from searchkit.backends.local.catalog.checksums import wrong_sums
from searchkit.backends.local.catalog.store import Kept, SqliteCatalog
from searchkit.backends.local.filters import Narrowing
from searchkit.backends.local.vectors.table import Vectors, table_path
from searchkit.errors import IndexDamaged, IndexFault, IndexModel, IndexUnwritable, UsageError
from searchkit.query.types import Condition
from searchkit.types import Finding

if TYPE_CHECKING:
    from array import array

    import pyarrow

    from searchkit.backends.base import Values

log = logging.getLogger(__name__)

# Parts whose rows are looked at together when the catalog says that they changed.
AT_ONCE = 1_000

MEND = "run searchkit index"

REBUILD = "it is not as it was written: run searchkit index --rebuild"

# So many files are read where not all are asked for: some seconds at most.
SAMPLED_FILES = 50


class LanceVectors:
    """The vectors of a catalog's parts, of one model. LanceDB is imported where it is used: it takes seconds.

    The tables of the multilingual model lie beside those of the chosen one. What concerns all tables, such as parts
    that changed or went, is done by the vectors of the chosen model, which know those beside them.
    """

    def __init__(
        self,
        catalog: SqliteCatalog,
        directory: Path,
        is_writable: bool = False,
        space: Space = Space.CHOSEN,
        beside: "LanceVectors | None" = None,
    ) -> None:
        """Take the catalog that they derive from; tables are opened when they are needed."""
        self._space = space
        self._beside = beside
        self._catalog = catalog
        self._directory = directory
        self._vector_directory = directory / layout.VECTORS
        self._is_writable = is_writable
        self._embedding: dict[str, Any] | None = None
        self._open_vectors: Vectors | None = None
        self._held: set[int] | None = None
        self._order: tuple[int, array[int]] | None = None
        self._counted: tuple[Kept, int] | None = None
        # After everything was read again, vectors of parts that are gone are copied to those with the same text.
        self._keeps_left_over = False

    def adopt(self, identity: msgspec.Struct, /) -> None:
        """Keep and ask for vectors of the embedder with this identity from now on."""
        embedding = _embedding(identity, self._space)
        current = self._catalog.setting(self._space)
        if not self._is_writable and current is not None and current["name"] != embedding["name"]:
            raise _another(current["identity"], embedding["identity"], self._space)
        if embedding != self._embedding:
            self._embedding, self._open_vectors, self._held = embedding, None, None

    def pending(self, limit: int, /) -> dict[int, Stored]:
        """Return the parts that should have a vector and have none, by key, those worth most and newest first."""
        held = self._holding()
        with self._catalog.reading():
            numbers = list(islice((number for number in self._in_order() if number not in held), limit))
            found = threads.numbered(self._catalog.connection, self._catalog.unpacker, numbers)
            return {number: found[number] for number in numbers}

    def twins(self, keys: Sequence[int], /) -> Mapping[int, Sequence[Vector]]:
        """Return, by these keys, the vectors that another part of the same kind with the same text has."""
        if not self._has_vectors():
            return {}
        from searchkit.backends.local.vectors.rows import descriptions

        with self._catalog.reading():
            described = descriptions(self._catalog.connection, keys)
        texts = {part: (said.kind, said.digest) for part, said in described.items()}
        rows = self._vectors().holding([digest for _, digest in texts.values()])
        if rows is None:
            return {}
        columns = (rows[name].to_pylist() for name in ("kind", "digest", "part"))
        held = {(kind, digest): part for kind, digest, part in zip(*columns, strict=True)}
        twins = {part: held[text] for part, text in texts.items() if text in held}
        found = self.of(sorted(set(twins.values())))
        return {
            part: [msgspec.structs.replace(piece, key=part) for piece in found[twin]] for part, twin in twins.items()
        }

    def keep(self, vectors: Sequence[Vector], /) -> None:
        """Keep vectors, all pieces of a part at once; a part that is gone or has its vector is left out."""
        from searchkit.backends.local.vectors.rows import descriptions, rows

        held, table = self._holding(), self._vectors()
        with self._catalog.reading():
            described = descriptions(self._catalog.connection, {vector.key for vector in vectors} - held)
        fresh = {(vector.key, vector.piece): vector for vector in vectors if vector.key in described}
        if not fresh:
            return
        # What vectors are kept of must outlast a power failure, too.
        self._catalog.sync()
        table.add(rows(list(fresh.values()), described))
        held.update(described)
        if self._catalog.setting(self._space) is None:
            self._catalog.remember(self._space, self._embedding)
        table.tidy()

    def tidy(self) -> None:
        """Bring the vectors into their best shape, let complete ones be found, and throw others away."""
        from searchkit.backends.local.vectors.table import drop

        self.finish_rebuild()
        self._holding()
        self._vectors().tidy(is_end=True)
        current = self._catalog.setting(self._space)
        if current is None or (current != self._embedding and not self.pending(1)):
            self._catalog.remember(self._space, self._embedding)
            current = self._embedding
        needed = {embedding["name"] for embedding in (current, self._embedding) if embedding}
        for name in self._tables() - needed:
            drop(self._vector_directory, name)
        self._note_vector_files()

    def reach(self) -> Reach:
        """Count the parts that a search for meaning reaches, and those that it should reach and does not yet."""
        from searchkit.backends.local.vectors import rows as wanting

        with self._catalog.reading():
            kept = self._catalog.kept()
            # Every search tells it, and counting takes as long as finding.
            if self._counted is None or self._counted[0] is not kept:
                self._counted = kept, wanting.count(self._catalog.connection, self._space)
            wanted = self._counted[1]
        held = self._counted_rows() if self._has_vectors() else 0
        return Reach(searchable=held, pending=max(0, wanted - held))

    def nearest(self, values: "Values", condition: Condition, limit: int, /) -> list[Near]:
        """Return, of the parts that a condition means, those nearest to a unit vector."""
        if not self._has_vectors():
            return []
        from searchkit.backends.local.vectors.rows import near, predicate

        with self._catalog.reading():
            narrow = Narrowing(self._catalog.connection, self._catalog.unpacker, self._catalog.kept().meant)
            bounds = narrow.bounds(condition)
        return [near(row) for row in self._vectors().nearest(values, predicate(bounds), limit)]

    def of(self, keys: Sequence[int], /) -> Mapping[int, Sequence[Vector]]:
        """Return the vectors of parts, piece by piece; a part without any is left out."""
        if not self._has_vectors():
            return {}
        from searchkit.backends.local.vectors.rows import KEPT, kept

        rows = self._vectors().rows(keys, [*KEPT, "vector"])
        return {} if rows is None else kept(rows)

    def findings(self, is_deep: bool = False) -> Iterator[Finding]:
        """Yield what is wrong with the vectors that are searched."""
        embedding = self._catalog.setting(self._space)
        if embedding is not None:
            directory, name = self._vector_directory, embedding["name"]
            with self._catalog.reading():
                yield from findings(self._catalog.connection, directory, name, is_deep, self._space)

    def begin_rebuild(self) -> None:
        """Verify everything; vectors are thrown away where they are damaged."""
        from searchkit.backends.local.catalog.checksums import wrong_sums

        if any(wrong_sums(self._catalog.connection, self._directory)):
            log.warning("the vectors are damaged, and are rebuilt")
            self.drop_all()
        for one in (self, self._beside):
            if one is not None:
                one._keeps_left_over = True

    def finish_rebuild(self) -> None:
        """Take out the vectors of parts that are gone, once those with the same texts have copies."""
        if not self._keeps_left_over:
            return
        self._keeps_left_over = False
        # What takes note of all tables comes last: those beside it have had their copies by then.
        if self._space is Space.CHOSEN:
            self._follow()
        self._held = None
        if self._has_vectors() and self._catalog.setting(self._space) is not None:
            self._holding()
            self._note_vector_files()
        if self._beside is not None:
            self._beside.finish_rebuild()

    def follow(self) -> None:
        """Let the vectors take note of parts that changed or went, unless a rebuild still copies from them."""
        if not self._keeps_left_over:
            self._follow()

    def wipe(self) -> None:
        """Leave nothing on the disk of what is no longer in the catalog."""
        with self._catalog.transaction():
            self.pass_on_stale()
        self._follow(is_thorough=True)
        if self._has_vectors():
            from searchkit.backends.local.vectors.table import Vectors, tables

            for name in tables(self._vector_directory):
                Vectors(self._vector_directory, name).tidy(is_thorough=True)
            self._note_vector_files()

    def _forget_vector_files(self, beginning: str) -> None:
        """Forget the checksums of files that go: others may come under the same names."""
        with self._catalog.transaction():
            self._catalog.connection.execute(
                "DELETE FROM store_files WHERE substr(path, 1, ?) = ?", (len(beginning), beginning)
            )

    def _note_vector_files(self) -> None:
        from searchkit.backends.local.catalog.checksums import note_sums

        with self._catalog.transaction():
            note_sums(self._catalog.connection, self._directory, layout.VECTORS)

    def pass_on_stale(self) -> None:
        """List what is stale for the vectors too, in the transaction that clears the list for words."""
        if self._has_vectors():
            self._catalog.connection.execute("INSERT OR IGNORE INTO stale_vectors SELECT part FROM stale")

    def _follow(self, is_thorough: bool = False) -> None:
        """Let the vectors take note of parts that changed or went, and only then clear the list."""
        stale = [row[0] for row in self._catalog.connection.execute("SELECT part FROM stale_vectors")]
        if not stale:
            return
        if self._has_vectors():
            from searchkit.backends.local.vectors.table import Vectors, tables

            for name in tables(self._vector_directory):
                try:
                    table = Vectors(self._vector_directory, name)
                    for start in range(0, len(stale), AT_ONCE):
                        self._renew(table, stale[start : start + AT_ONCE])
                    table.tidy(is_thorough)
                except IndexDamaged as damage:
                    self._drop_damaged(name, damage)
        self._held = None
        if self._beside is not None:
            self._beside._held = None
        with self._catalog.transaction():
            self._catalog.connection.execute("DELETE FROM stale_vectors")
        if self._has_vectors():
            self._note_vector_files()

    def _renew(self, table: "Vectors", parts: Sequence[int]) -> None:
        """Take out the rows of parts that are gone, and rewrite those of which the catalog says something else."""
        from searchkit.backends.local.vectors.rows import DESCRIBED, descriptions, redescribed
        from searchkit.backends.local.vectors.table import NUMBERS

        rows = table.rows(parts, DESCRIBED)
        if rows is None:
            return
        said = set(zip(*(rows[name].to_pylist() for name in DESCRIBED), strict=True))
        with self._catalog.reading():
            now = descriptions(self._catalog.connection, [row[0] for row in said])
        # Of a text that was masked the vector is another.
        texts = DESCRIBED.index("digest")
        gone = {row[0] for row in said if row[0] not in now or now[row[0]].digest != row[texts]}
        table.remove(sorted(gone))
        said = {row for row in said if row[0] not in gone}
        changed = table.rows([row[0] for row in said if row[0] in now and now[row[0]] != row], [*NUMBERS, *_OWN])
        if changed is not None:
            table.replace(redescribed(changed, now))

    def drop(self) -> None:
        """Throw all vectors of this model away."""
        from searchkit.backends.local.vectors.table import drop

        for name in self._tables():
            self._forget_vector_files(f"{layout.VECTORS}/{name}.lance/")
            drop(self._vector_directory, name)
        self._forget()

    def drop_all(self) -> None:
        """Throw all vectors of all models away."""
        self._forget_vector_files(f"{layout.VECTORS}/")
        shutil.rmtree(self._vector_directory, ignore_errors=True)
        if self._vector_directory.exists():
            raise IndexUnwritable(
                f"cannot remove {self._vector_directory}", "give yourself permission there, then run this again"
            )
        for one in (self, self._beside):
            if one is not None:
                one._forget()

    def _forget(self) -> None:
        self._open_vectors, self._held = None, None
        if self._catalog.setting(self._space) is not None:
            self._catalog.remember(self._space, None)

    def _has_vectors(self) -> bool:
        """Say whether there are vectors of any embedder; only then is it worth to load what reads them."""
        return self._vector_directory.is_dir() and (self._space is Space.CHOSEN or bool(self._tables()))

    def _tables(self) -> set[str]:
        """Name the tables of this kind of model."""
        names = (path.stem for path in self._vector_directory.glob("*.lance"))
        return {name for name in names if name.startswith(_BESIDE) == (self._space is not Space.CHOSEN)}

    def _vectors(self) -> "Vectors":
        """Open the vectors of the embedder that was adopted, or those that are searched."""
        if self._open_vectors is None:
            from searchkit.backends.local.vectors.table import Vectors

            embedding = self._embedding or self._catalog.setting(self._space)
            if embedding is None:
                raise UsageError("no embedder was adopted", "adopt one before asking for vectors")
            if self._is_writable:
                self._vector_directory.mkdir(mode=0o700, exist_ok=True)
            self._open_vectors = Vectors(self._vector_directory, embedding["name"])
        return self._open_vectors

    def _counted_rows(self) -> int:
        # Who writes looks at every row anyway, and throws away what cannot be read.
        return len(self._holding()) if self._is_writable else self._vectors().count()

    def _holding(self) -> set[int]:
        """Return the parts that have a vector; who writes takes out what is left over of others."""
        from searchkit.backends.duplicates import EXCHANGE_PIECE
        from searchkit.backends.local.vectors import rows as wanting

        if self._held is None or not self._is_writable:
            if not self._is_writable and not self._has_vectors():
                return set()
            rows = self._readable()
            with self._catalog.reading():
                digests = wanting.digests(self._catalog.connection, self._space)
                exchanges = wanting.of_exchanges(self._catalog.connection, self._space)
            columns = (rows[name].to_pylist() for name in ("part", "piece", "digest"))
            counted = Counter(zip(*columns, strict=True))
            pairs = {(part, digest) for part, _, digest in counted}
            # One that is there twice is rebuilt, since nothing says which of the two is right.
            twice = {part for (part, _, _), count in counted.items() if count > 1}
            # So is one that lacks its second vector, as those of older indexes do.
            halves = exchanges - {part for part, piece, _ in counted if piece == EXCHANGE_PIECE}
            left_over = [
                part for part, digest in pairs if digests.get(part) != digest or part in twice or part in halves
            ]
            if self._is_writable and not self._keeps_left_over:
                self._vectors().remove(left_over)
            self._held = {part for part, _ in pairs}.difference(left_over)
        return self._held

    def _readable(self) -> "pyarrow.Table":
        """Return what the rows are of; a writer discards a damaged table and begins again."""
        vectors = self._vectors()
        try:
            if self._is_writable:
                vectors.check()
            return vectors.held()
        except IndexDamaged as damage:
            if not self._is_writable:
                raise
            self._drop_damaged(vectors.name, damage)
            return self._vectors().held()

    def _drop_damaged(self, name: str, damage: IndexDamaged) -> None:
        from searchkit.backends.local.vectors.table import drop

        log.warning("%s; it is rebuilt", damage.message)
        self._forget_vector_files(f"{layout.VECTORS}/{name}.lance/")
        drop(self._vector_directory, name)
        self._open_vectors = None

    def _in_order(self) -> "array[int]":
        """Return what should have a vector, those worth most first; it is kept until something is written."""
        from searchkit.backends.local.vectors import rows as wanting

        changes = self._catalog.connection.total_changes
        if self._order is None or self._order[0] != changes or not self._is_writable:
            self._order = changes, wanting.in_order(self._catalog.connection, self._space)
        return self._order[1]


# What the catalog does not say of a row.
_OWN = ("feature", "vector")
# What the names of tables of the multilingual model begin with, beside those of the chosen one.
_BESIDE = f"{Space.MULTILINGUAL}_"


def _embedding(identity: msgspec.Struct, space: Space) -> dict[str, Any]:
    """Name an identity by a hash, and write it out."""
    import hashlib

    said = msgspec.to_builtins(identity)
    name = hashlib.blake2b(orjson.dumps(said, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()
    return {"name": name if space is Space.CHOSEN else f"{_BESIDE}{name}", "identity": said}


def _another(kept: Mapping[str, Any], asked: Mapping[str, Any], space: Space) -> IndexModel:
    """Say in what the model that was asked for is not that of the vectors."""
    names = sorted({*kept, *asked})
    differences = "; ".join(
        f"{name} {asked.get(name)}, not {kept.get(name)}" for name in names if kept.get(name) != asked.get(name)
    )
    hint = (
        "run: searchkit index --model NAME with the one you ask for, which makes vectors with it and changes over when"
        " they are complete; or leave --model and SEARCHKIT_MODEL as they were"
    )
    if space is Space.MULTILINGUAL:
        made = f"the multilingual vectors in the index were made with another model: {differences}"
        return IndexModel(
            made, "run: searchkit index, which makes them with today's; or set SEARCHKIT_MULTILINGUAL=off"
        )
    return IndexModel(f"the vectors in the index were made with another model: {differences}", hint)


def findings(
    connection: sqlite3.Connection, directory: Path, name: str, is_deep: bool = False, space: Space = Space.CHOSEN
) -> Iterator[Finding]:
    """Hold a table of vectors against the catalog, and read all of it; of its files all or some are checked."""
    from searchkit.backends.local.vectors.rows import digests, of_exchanges

    place = str(table_path(directory, name))
    # Those of all tables are looked at once.
    sampled = None if is_deep else SAMPLED_FILES
    for file in wrong_sums(connection, directory.parent, sampled) if space is Space.CHOSEN else ():
        yield Finding(kind="index: vectors damaged", file=str(file), line=0, detail=REBUILD)
    try:
        vectors = Vectors(directory, name)
        vectors.check()
        table = vectors.held()
    except IndexFault as fault:
        yield Finding(kind="index: no search by meaning", file=place, line=0, detail=f"{fault.message}: {MEND}")
        return
    wanted = digests(connection, space)
    columns = (table[column].to_pylist() for column in ("part", "piece", "digest"))
    held = Counter(zip(*columns, strict=True))
    halves = of_exchanges(connection, space) - {part for part, piece, _ in held if piece == EXCHANGE_PIECE}
    right = {part for part, _, digest in held if wanted.get(part) == digest} - halves
    counts = {
        "missing": len(wanted) - len(right),
        "left over": len({part for part, _, digest in held if wanted.get(part) != digest}),
        "twice": sum(count > 1 for count in held.values()),
    }
    said = {
        "missing": "parts have no vector yet",
        "left over": "parts have a vector that are gone or say something else",
        "twice": "vectors are there more than once",
    }
    for what, count in counts.items():
        if count:
            yield Finding(kind=f"index: vectors {what}", file=place, line=0, detail=f"{count} {said[what]}: {MEND}")
