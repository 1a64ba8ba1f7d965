"""The work that is timed inside a process of its own: python -m measure.work NAME ROOT [INDEX].

It prints its seconds, without what Python and the imports take, as JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import orjson

from measure.corpora import transcripts

READ_BUFFER = 1 << 20


def floor(root: Path, index: Path) -> None:
    """Read every transcript and parse every line: less no reader of JSON can do."""
    for path in transcripts(root):
        with path.open("rb", buffering=READ_BUFFER) as file:
            for line in file:
                try:
                    orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue


def catalog(root: Path, index: Path) -> None:
    """Fill a catalog, without the stores that derive from it."""
    # Imported here, because the floor must not pay for them.
    from searchkit.backends.embedded import EmbeddedBackend, open_to_write
    from searchkit.ingest import ingest
    from searchkit.sources.claude import ClaudeSource

    with mock.patch.object(EmbeddedBackend, "follow", return_value=None), open_to_write(index) as backend:
        ingest(ClaudeSource([root]), backend)


WORK: dict[str, Callable[[Path, Path], None]] = {"floor": floor, "catalog": catalog}


def main() -> None:
    """Do the work that the command line names."""
    name, root, index = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    began = time.perf_counter()
    WORK[name](root, index)
    print(json.dumps({"seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    main()
