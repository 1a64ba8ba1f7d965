"""The catalog's locks outlast whatever else its process does with the index."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.layout import CATALOG
from searchkit.backends.local.open import open_to_write
from searchkit.indexing.ingest import ingest
from searchkit.sources.claude import ClaudeSource
from tests.support.answers import SESSION
from tests.support.transcript import Home

# Whoever closes the catalog last takes the write-ahead log away.
OPEN_AND_CLOSE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM files").fetchall()
connection.close()
"""
# Says which files Python itself opens while a whole life of an index passes.
OPENED_BY_PYTHON = """
import sys
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
from searchkit.cli import main as cli
index, root = sys.argv[1:]
lines = ("index --no-vectors", "search lantern", "status", "doctor", "sessions", "stats", "prune --gone --yes",
         "index --rebuild --no-vectors", "index --no-vectors")
for words in lines:
    sys.argv = ["searchkit", *words.split(), "--index", index, *(["--root", root] if "index" in words.split() else [])]
    try:
        cli.main()
    except SystemExit as left:
        assert left.code in (0, 1, None), words
print("\\n".join(path for path in opened if path.endswith("catalog.db")), file=sys.stderr)
"""


def test_opening_the_index_to_write_keeps_the_locks_of_who_reads_it(home: Home, tmp_path: Path) -> None:
    """A reader still holds its locks after its process has opened and closed the index to write (issue 15)."""
    home.session(SESSION).prompt("where is the lantern?")
    index = tmp_path / "index"
    with open_to_write(index) as backend:
        ingest(ClaudeSource([home.root]), backend)
    with closing(LocalBackend(index)) as reader:
        reader.catalog.counts()
        log = index / f"{CATALOG}-wal"
        with open_to_write(index):
            pass
        before = log.stat().st_ino

        subprocess.run([sys.executable, "-c", OPEN_AND_CLOSE, str(index / CATALOG)], check=True)

        assert before == log.stat().st_ino
        assert 1 == reader.catalog.counts().sessions


def test_nothing_but_sqlite_opens_the_catalog(home: Home, tmp_path: Path) -> None:
    """Python opens the catalog's file in no command, so that no lock of SQLite's is dropped (issue 15)."""
    home.session(SESSION).prompt("where is the lantern?")

    done = subprocess.run(
        [sys.executable, "-c", OPENED_BY_PYTHON, str(tmp_path / "index"), str(home.root)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr.splitlines()[-1] if done.stderr else "")


def test_catalog_is_its_owners_from_the_first_moment(home: Home, tmp_path: Path) -> None:
    """SQLite makes the catalog and what lies beside it in the mode of the manifest."""
    index = tmp_path / "index"

    with open_to_write(index) as backend:
        ingest(ClaudeSource([home.root]), backend)
        modes = {file.name: file.stat().st_mode & 0o777 for file in index.glob(f"{CATALOG}*")}

    assert {CATALOG: 0o600, f"{CATALOG}-wal": 0o600, f"{CATALOG}-shm": 0o600} == modes
