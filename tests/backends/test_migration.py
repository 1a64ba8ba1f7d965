"""Indexes of every earlier format are opened with all that is in them, though the transcripts are gone.

`data/catalogs` holds catalogs that earlier versions made of the transcripts of `older.py`.
"""

import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from searchkit import Engine
from searchkit.backends.local import layout, migrate
from searchkit.errors import IndexDamaged
from tests.reference.contents import session_parts
from tests.support.older import FIRST, FORKED, SECOND, write

CATALOGS = sorted((Path(__file__).parent.parent / "data" / "catalogs").glob("*.sql"))
# The first format whose manifests have a checksum.
FIRST_CHECKED = 4
WORDS = ("wick", "draught", "bouilloire", "candle", "lantern.py", "warehouse")


@pytest.fixture(params=CATALOGS, ids=lambda path: path.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An index as an earlier version left it, whose transcripts are gone."""
    index = tmp_path / "index"
    index.mkdir(mode=0o700)
    catalog = index / layout.CATALOG
    with closing(sqlite3.connect(catalog)) as connection:
        connection.executescript(request.param.read_text())
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    catalog.chmod(0o600)
    manifest: dict[str, object] = {"format": version, "roots": [str(tmp_path / "nowhere")]}
    if version >= FIRST_CHECKED:
        manifest["checksum"] = zlib.crc32(orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS))
    (index / layout.MANIFEST).write_bytes(orjson.dumps(manifest))
    return index


@pytest.fixture
def today(tmp_path: Path) -> Path:
    """An index that is made today of the same transcripts, which are then deleted."""
    home = write(tmp_path / "claude")
    with Engine(tmp_path / "today", [home.root]) as engine:
        engine.index()
        shutil.rmtree(home.root / "projects")
        (home.root / "projects").mkdir()
        engine.index()
    return tmp_path / "today"


def answers(index: Path) -> dict[str, object]:
    """Return what an index answers to everything that is asked here."""
    with Engine(index) as engine:
        return {
            "found": {word: sorted(map(_told, engine.search(word, group="none").results)) for word in WORDS},
            "sessions": [(one.id, one.title, one.project, one.app) for one in engine.sessions()],
            "shown": [
                [part.part.text for part in engine.ask(lambda backend, id=id: list(session_parts(backend, id)))]  # type: ignore[misc]
                for id in (FIRST, SECOND, FORKED)
            ],
            "thread": [node.uuid for node in engine.thread(FIRST).nodes],
        }


def _told(result: object) -> str:
    stored = result.best.stored  # type: ignore[attr-defined]
    return f"{stored.id} {stored.part.kind} {stored.part.language} {stored.part.text}"


def test_older_index_answers_as_one_of_today(old: Path, today: Path) -> None:
    """A search over an index of an older format brings it up to date and finds what one of today finds (issue 15)."""
    assert answers(today) == answers(old)
    with Engine(old) as engine:
        assert [] == [one for one in engine.findings(is_deep=True) if one.kind.startswith("index:")]
        assert ["claude"] == engine.values("agent-app")
    assert not (old / layout.ASIDE / layout.MIGRATING).exists()
    manifest = layout.read_manifest(old)
    assert manifest is not None
    assert layout.FORMAT == manifest["format"]


@pytest.mark.parametrize("step", ["_fill", "_replace", "_keep_settings"])
def test_killed_migration_is_done_again(old: Path, today: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """A migration that ends anywhere leaves an index that the next command migrates, or has migrated (issue 15)."""

    def die(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, Engine(old) as engine:
        patch.setattr(migrate, step, die)
        with pytest.raises(KeyboardInterrupt):
            engine.counts()

    assert answers(today) == answers(old)
    assert (old.with_name("nowhere"),) == layout.remembered_roots(old)


def test_migration_that_made_a_damaged_catalog_leaves_the_old_one(
    old: Path, today: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was made is checked before it takes the place of the old catalog, which is migrated later (issue 15)."""
    fill = migrate._fill

    def damage(new: Path, *arguments: Any) -> None:
        fill(new, *arguments)
        with new.open("r+b") as file:
            file.seek(new.stat().st_size // 2)
            file.write(b"\xff" * 8192)

    with monkeypatch.context() as patch, Engine(old) as engine:
        patch.setattr(migrate, "_fill", damage)
        with pytest.raises(IndexDamaged, match="as it was"):
            engine.counts()

    assert migrate.version_of(old) != layout.FORMAT
    assert answers(today) == answers(old)


@pytest.mark.parametrize("old", CATALOGS[-1:], ids=["newest"], indirect=True)
def test_migration_with_a_damaged_manifest_keeps_what_the_catalog_knows(old: Path, today: Path) -> None:
    """The catalog has the settings, too, so the manifest that is written again has them (issue 15)."""
    (old / layout.MANIFEST).write_bytes(b"{")

    assert answers(today) == answers(old)
    assert (Path("/home/mira/.claude"),) == layout.remembered_roots(old)
