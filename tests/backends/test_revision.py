"""An index that an earlier version read: what can be corrected without the transcripts is, the rest is said."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.sources.claude import events
from searchkit.sources.claude import source as claude_source
from searchkit.sources.claude.events import READING
from searchkit.sources.json_values import mapping, strings
from searchkit.types import Block, Kind, Reading, Role
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


def _typed(data: events.Fields) -> Iterator[Block]:
    """Read an unknown type as an earlier version did: a message in it was a person's."""
    said = strings(mapping(data.get("message")).get("content"))
    yield Block(number=0, kind=Kind.PROMPT, role=Role.USER, text=said)


@pytest.fixture
def older(home: Home, tmp_path: Path) -> Engine:
    """An index that was made by an earlier reading, of a session whose transcript is gone since."""
    transcript = home.session(SESSION)
    transcript.prompt("count the giraffes")
    blob = {"role": "user", "content": [{"type": "text", "text": "boilerplate with an okapi"}]}
    transcript.line({"type": "api-request-blob", "sessionId": SESSION, "message": blob})
    transcript.line({"type": "last-prompt", "sessionId": SESSION, "lastPrompt": "count the zebras"})
    transcript.line({"type": "quartz", "sessionId": SESSION, "message": {"role": "user", "content": "a tapir"}})
    engine = Engine(tmp_path / "index", [home.root])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "SILENT", events.SILENT - events.REQUESTS)
        patch.setitem(events.STATE, "last-prompt", ("lastPrompt", Kind.PROMPT))
        patch.setitem(events._READERS, "quartz", _typed)
        patch.setattr(claude_source, "READING", Reading(version=READING.version - 1))
        engine.index()
    transcript.path.unlink()
    return engine


def kinds(engine: Engine, word: str) -> list[str]:
    """Return the kinds of the parts that hold a word."""
    engine.close()
    return [result.best.stored.part.kind.value for result in engine.search(word, group="none").results]


def test_older_reading_is_corrected_without_the_transcript(older: Engine) -> None:
    """Copies of requests go, copies of prompts and unknown types are no prompts any more; nothing else changes."""
    before = [kinds(older, word) for word in ("okapi", "zebras", "tapir", "giraffes")]

    older.index()

    assert [["system"], ["prompt"], ["prompt"], ["prompt"]] == before
    assert [[], ["history"], ["system"], ["prompt"]] == [
        kinds(older, word) for word in ("okapi", "zebras", "tapir", "giraffes")
    ]
    assert [] == [finding.kind for finding in older.findings(is_deep=True) if finding.kind.startswith("index")]


def test_what_needs_a_rebuild_is_said_until_it_is_done(older: Engine, home: Home) -> None:
    """Every run says that an earlier version read some of it, until everything was read again."""
    home.session("22222222-2222-4222-8222-222222222222").prompt("another question")

    assert [True, True, False, False] == [
        older.index().is_outdated,
        older.index().is_outdated,
        older.index(is_rebuild=True).is_outdated,
        older.index().is_outdated,
    ]


def test_new_index_is_not_outdated(home: Home, tmp_path: Path) -> None:
    """What was read by this version needs no rebuild."""
    home.session(SESSION).prompt("count the giraffes")

    assert not Engine(tmp_path / "index", [home.root]).index().is_outdated
