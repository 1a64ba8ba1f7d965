"""The work that is timed inside a process of its own: python -m measure.work NAME ROOT PLACE.

It prints its seconds, without what Python and the imports take, as JSON.
"""

import json
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import orjson

from measure.corpora import transcripts
from tests.reference.contents import everything

READ_BUFFER = 1 << 20
_LENGTH = struct.Struct("<I")


def floor(root: Path, place: Path) -> float:
    """Read every transcript and parse every line: less no reader of JSON can do."""
    began = time.perf_counter()
    for path in transcripts(root):
        with path.open("rb", buffering=READ_BUFFER) as file:
            for line in file:
                try:
                    orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue
    return time.perf_counter() - began


def catalog(root: Path, place: Path) -> float:
    """Fill a catalog in `place`, without the stores that derive from it."""
    # Imported here, because the floor must not pay for them.
    from searchkit.backends.local.backend import LocalBackend
    from searchkit.backends.local.open import open_to_write
    from searchkit.indexing.ingest import ingest
    from searchkit.sources.claude import ClaudeSource

    began = time.perf_counter()
    with (
        mock.patch.object(LocalBackend, "keep_up", return_value=None),
        mock.patch.object(LocalBackend, "follow", return_value=None),
        open_to_write(place) as backend,
    ):
        ingest(ClaudeSource([root]), backend)
    return time.perf_counter() - began


def texts(root: Path, place: Path) -> float:
    """Write what the index in `place` makes searchable to the file `texts` there, each behind its length."""
    from searchkit.backends.local.backend import LocalBackend

    began = time.perf_counter()
    backend = LocalBackend(place / "index")
    with (place / "texts").open("wb", buffering=READ_BUFFER) as file:
        for holding in everything(backend):
            for stored in holding.parts:
                if stored.repeats is None:
                    encoded = stored.part.text.encode()
                    file.write(_LENGTH.pack(len(encoded)) + encoded)
    backend.close()
    return time.perf_counter() - began


def words(root: Path, place: Path) -> float:
    """Hand the texts in the file `place` to a bare Tantivy writer; less no index of these words can do.

    They are in memory before the clock starts: unpacking a catalog is none of a writer's work.
    """
    import tantivy

    held = list(_texts(place))
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text")
    with tempfile.TemporaryDirectory(dir=place.parent) as directory:
        began = time.perf_counter()
        index = tantivy.Index(builder.build(), path=directory)
        writer = index.writer()
        for text in held:
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()
        return time.perf_counter() - began


WORK: dict[str, Callable[[Path, Path], float]] = {"floor": floor, "catalog": catalog, "texts": texts, "words": words}


def main() -> None:
    """Do the work that the command line names."""
    name, root, place = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    print(json.dumps({"seconds": WORK[name](root, place)}))


def _texts(file: Path) -> Iterator[str]:
    with file.open("rb", buffering=READ_BUFFER) as stream:
        while head := stream.read(_LENGTH.size):
            yield stream.read(_LENGTH.unpack(head)[0]).decode()


if __name__ == "__main__":
    main()
