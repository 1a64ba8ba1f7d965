"""What is damaged on the disk is told, healed from the transcripts, and never makes a search silently wrong."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.catalog.checksums import broken
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.backends.local.open import open_to_write
from tests.reference.contents import session_parts
from tests.reference.fingerprint import digest
from tests.support.answers import OTHER, SESSION
from tests.support.running import Run
from tests.support.transcript import Home

TEXT = "the lantern hangs behind the third door, where the copper kettle was"


@pytest.fixture
def index(home: Home, run: Run, tmp_path: Path) -> Path:
    """An index of two sessions, one of which is known from the index alone."""
    other = home.session(OTHER)
    other.prompt("and the candle?")
    other.text("the candle is in the harbour, beside the saddle")
    run("index")
    transcript = home.session(SESSION)
    transcript.prompt("where is the lantern?")
    transcript.text(TEXT)
    other.path.unlink()
    run("index")
    return tmp_path / "index"


def state(index: Path) -> str:
    """Boil the index down to one number."""
    with closing(LocalBackend(index)) as backend:
        return digest(backend)


def damage(index: Path, statement: str, *values: object) -> None:
    """Change a row behind the back of its seal, as a bit that flips does."""
    with closing(sqlite3.connect(index / layout.CATALOG)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement, values)
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()


def flip_text(index: Path, words: str = "lantern hangs", at: int = 30) -> None:
    """Flip a bit of the compressed chunk that holds some words."""
    with closing(LocalBackend(index)) as backend:
        [part] = [
            one.part
            for session in (SESSION, OTHER)
            for one in session_parts(backend, session)
            if words in one.part.text
        ]
        key = backend.catalog.keys(part.uuid)[0]
    with closing(sqlite3.connect(index / layout.CATALOG)) as connection:
        chunk, data = connection.execute(
            "SELECT chunks.id, data FROM chunks JOIN parts ON chunk = chunks.id WHERE parts.id = ?", (key,)
        ).fetchone()
    flipped = bytearray(data)
    flipped[at] ^= 1
    damage(index, "UPDATE chunks SET data = ? WHERE id = ?", bytes(flipped), chunk)


def flip_words(index: Path) -> None:
    """Flip a bit of a file of the keyword index."""
    # In place: whoever still has the file mapped is killed where it is emptied first.
    with next((index / layout.KEYWORD).glob("*.pos")).open("r+b") as file:
        first = file.read(1)[0]
        file.seek(0)
        file.write(bytes([first ^ 1]))


def test_seals_hold_through_a_whole_life(home: Home, run: Run, index: Path) -> None:
    """Whatever is written, changed and forgotten, each block of rows has the sum of its rows (issue 15)."""
    home.session(SESSION).prompt("one more lantern")
    home.session("33333333-3333-4333-8333-333333333333").prompt("a session to forget")
    run("index")
    run("prune", "--session", "33333333-3333-4333-8333-333333333333", "--yes")
    run("index", "--rebuild")

    with closing(sqlite3.connect(index / layout.CATALOG)) as connection:
        assert [] == list(broken(connection))


@pytest.mark.parametrize("at", [4, 12, 20, 30, 40, -1])
def test_flipped_bit_in_a_text_is_told_and_healed(run: Run, index: Path, at: int) -> None:
    """A damaged text is told by the search that meets it and by the doctor, and read from its transcript again."""
    whole = state(index)
    flip_text(index, at=at)

    told, searched = run("doctor", "--deep"), run("search", "lantern")
    rebuilt = run("index", "--rebuild")

    assert (2, True) == (told.status, "damaged text" in told.out)
    assert (0, True) == (searched.status, "index --rebuild" in searched.err)
    assert 0 == rebuilt.status
    assert whole == state(index)
    assert TEXT in run("search", "kettle", "--json").json["results"][0]["snippet"]


def test_no_bit_of_a_chunk_alters_a_text_in_silence(run: Run, index: Path) -> None:
    """Whichever byte of a chunk is damaged, who reads it gets the text that was written, or is told (issue 15)."""
    with closing(sqlite3.connect(index / layout.CATALOG)) as connection:
        chunk, packed = connection.execute("SELECT id, data FROM chunks ORDER BY length(data) DESC").fetchone()
        start, length = connection.execute("SELECT start, length FROM parts WHERE chunk = ?", (chunk,)).fetchone()
        written = Unpacker(connection).text(chunk, start, length)
        connection.execute("DROP TRIGGER seal_chunks_update")
        altered, silent = [], []
        for place in range(len(packed)):
            flipped = packed[:place] + bytes([packed[place] ^ 1]) + packed[place + 1 :]
            connection.execute("UPDATE chunks SET data = ? WHERE id = ?", (flipped, chunk))
            unpacker = Unpacker(connection)
            if unpacker.text(chunk, start, length) != written:
                altered.append(place)
                silent += [] if chunk in unpacker.damaged else [place]

    assert altered
    assert [] == silent


def test_damaged_text_whose_transcript_is_gone_is_named(run: Run, index: Path) -> None:
    """What only the index had stays as far as it can be read, is found, and is named as lost (issue 15)."""
    flip_text(index, "candle is")

    rebuilt, told = run("index", "--rebuild"), run("doctor", "--deep")

    assert 0 == rebuilt.status
    assert "index: lost" in told.out
    assert 0 == run("search", "harbour saddle candle lantern").status


ROWS = {
    "time": "UPDATE records SET time = time + 1 WHERE id = 1",
    "kind": "UPDATE parts SET kind = 99 WHERE id = 2",
    "session": "UPDATE sessions SET name = 'x' || name WHERE id = 1",
    "path": "UPDATE files SET path = path || 'x' WHERE id = 1",
    "checkpoint": "UPDATE files SET checkpoint = x'7b22' WHERE id = 1",
    "name": "UPDATE names SET name = name || 'x' WHERE id = 1",
}


@pytest.mark.parametrize("statement", ROWS.values(), ids=ROWS)
def test_damaged_row_is_told_and_healed(run: Run, index: Path, statement: str) -> None:
    """A number or a name that is not the one that was written is told, and a rebuild reads it again (issue 15)."""
    damage(index, statement)

    told = run("doctor", "--deep")
    rebuilt = run("index", "--rebuild")

    assert 2 == told.status
    assert "damaged" in told.out + told.err
    assert 0 == rebuilt.status
    assert [0, 0] == [run("search", word).status for word in ("lantern", "candle")]


SAMPLES = {"SAMPLED_BLOCKS": "catalog.repair", "SAMPLED_CHUNKS": "catalog.repair", "SAMPLED_FILES": "words.store"}


@pytest.mark.parametrize("damaged", ["text", "row", "words"])
def test_deep_look_is_no_sample(run: Run, index: Path, monkeypatch: pytest.MonkeyPatch, damaged: str) -> None:
    """The doctor looks at a sample, which may be none of it, and with --deep at everything (issue 15)."""
    for name, module in SAMPLES.items():
        monkeypatch.setattr(f"searchkit.backends.local.{module}.{name}", 0)
    if damaged == "text":
        flip_text(index)
    elif damaged == "row":
        damage(index, ROWS["time"])
    else:
        flip_words(index)

    assert (0, 2) == (run("doctor").status, run("doctor", "--deep").status)


MANIFESTS = {"empty": b"", "no JSON": b"{", "another value": b"[]", "no format": b"{}", "no number": b'{"format": "4"}'}
COMMANDS = (
    ("search", "lantern"),
    ("status",),
    ("sessions",),
    ("doctor",),
    ("index",),
    ("index", "--rebuild"),
    ("prune", "--session", OTHER, "--yes"),
)


@pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=MANIFESTS)
def test_damaged_manifest_stops_no_command(run: Run, index: Path, manifest: bytes) -> None:
    """The catalog is whole, so every command works, and so do those that mend (issue 15)."""
    statuses = []
    for command in COMMANDS:
        (index / layout.MANIFEST).write_bytes(manifest)
        statuses.append(run(*command).status)

    assert [0] * len(COMMANDS) == statuses


def test_damaged_manifest_is_written_again(run: Run, index: Path) -> None:
    """Whatever byte of the manifest is damaged, every command works, and it is as it was after that (issue 15)."""
    manifest = index / layout.MANIFEST
    written = manifest.read_bytes()

    for place in range(0, len(written), 3):
        manifest.write_bytes(written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :])
        assert 0 == run("search", "lantern").status
        assert written == manifest.read_bytes()
    manifest.unlink()
    assert [0, 0, 0] == [run(*words).status for words in (("doctor",), ("index",), ("index", "--rebuild"))]
    assert written == manifest.read_bytes()


def test_rebuild_that_is_killed_leaves_what_can_be_searched(home: Home, index: Path) -> None:
    """The words of an index are there until those that replace them are (issue 15)."""
    with open_to_write(index, is_rebuild=True) as backend:
        backend.keep_up()
        with Engine(index, [home.root]) as engine:
            assert 1 == len(engine.search("lantern").results)
    with Engine(index, [home.root]) as engine:
        assert 1 == len(engine.search("lantern").results)


def test_bit_in_the_words_is_told_and_healed(run: Run, index: Path) -> None:
    """A damaged file of the keyword index is told by the doctor, and made again by a rebuild."""
    flip_words(index)

    told = run("doctor", "--deep")
    run("index", "--rebuild")

    assert (2, True) == (told.status, "words damaged" in told.out)
    assert 0 == run("doctor", "--deep").status


HEADERS: dict[str, Callable[[bytearray], None]] = {
    "magic": lambda content: content.__setitem__(3, content[3] ^ 4),
    "page size": lambda content: content.__setitem__(16, content[16] ^ 4),
    "root page": lambda content: content.__setitem__(100, content[100] ^ 8),
    "definitions": lambda content: content.__setitem__(
        content.index(b"CREATE TABLE records"), content[content.index(b"CREATE TABLE records")] ^ 1
    ),
}


@pytest.mark.parametrize("flip", HEADERS.values(), ids=HEADERS)
def test_damaged_beginning_of_the_catalog_loses_nothing(
    run: Run, index: Path, flip: Callable[[bytearray], None]
) -> None:
    """A catalog that SQLite does not open is salvaged, also what no transcript has any more (issue 15)."""
    catalog = index / layout.CATALOG
    content = bytearray(catalog.read_bytes())
    flip(content)
    catalog.write_bytes(content)

    refused = run("search", "lantern")
    rebuilt = run("index", "--rebuild")

    assert refused.status in (0, 2)
    assert 0 == rebuilt.status
    assert 0 == run("search", "lantern").status
    is_lost = "index: lost" in run("doctor").out
    assert is_lost or 0 == run("search", "candle").status


SALVAGE = """
import os, signal, sys
from searchkit.backends.local import migrate
from searchkit.cli import main

name, when = sys.argv[1:]
step = getattr(migrate, name)


def die(*arguments):
    if when == "after":
        step(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)


setattr(migrate, name, die)
sys.argv = ["searchkit", "index", "--rebuild"]
main.main()
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["_move", "_fill", "_replace", "_keep_settings"])
def test_killed_salvage_is_done_again(run: Run, index: Path, step: str, when: str) -> None:
    """Killed at any step, the next command that writes goes on, and what only the index has is found (issue 15)."""
    with (index / layout.CATALOG).open("r+b") as file:
        file.write(b"no database")

    killed = subprocess.run([sys.executable, "-c", SALVAGE, step, when])
    finished = run("index")

    assert -signal.SIGKILL == killed.returncode
    assert 0 == finished.status
    assert [0, 0] == [run("search", word).status for word in ("lantern", "candle")]
    # The damaged catalog is kept, once.
    assert 1 == len([*index.glob(f"{layout.ASIDE}/*/{layout.CATALOG}")])


@pytest.mark.parametrize(
    "definition", [b"CREATE TRIGGER seal_parts_update", b"CREATE TABLE facts", b"CREATE INDEX records_session"]
)
@pytest.mark.parametrize("at", [-1, 8, 20])
def test_definition_that_is_no_text_is_told_and_mended(run: Run, index: Path, definition: bytes, at: int) -> None:
    """A byte in a definition that is no UTF-8 ends in a sentence and a rebuilt index, never in a traceback."""
    before, catalog = state(index), index / layout.CATALOG
    content = bytearray(catalog.read_bytes())
    content[content.index(definition) + at] = 0xCE
    catalog.write_bytes(content)

    told, rebuilt = run("doctor", "--deep"), run("index", "--rebuild")

    assert told.status or "damaged" in told.out
    assert "fault of searchkit" not in told.err + rebuilt.err
    assert before == state(index) or "some rows of facts could not be read" in run("doctor").out


def test_uuid_that_became_a_number_is_told(run: Run, index: Path) -> None:
    """A row that holds a number where a uuid should be is reported like other damage."""
    damage(index, "UPDATE records SET missing_parent = 7, parent = NULL WHERE id = (SELECT max(id) FROM records)")

    told = run("doctor", "--deep")

    assert "damaged rows" in told.out
    assert "fault of searchkit" not in told.err


def test_record_of_a_file_that_is_not_there_is_read_again(run: Run, index: Path) -> None:
    """A record whose row names no file is healed by a rebuild."""
    before = state(index)
    damage(index, "UPDATE records SET file = 99 WHERE id = (SELECT max(id) FROM records)")

    rebuilt = run("index", "--rebuild")

    assert (0, before) == (rebuilt.status, state(index))
