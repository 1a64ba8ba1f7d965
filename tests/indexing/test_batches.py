"""What a process of its own reads is what would have been read here."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from searchkit.backends.base import Backend
from searchkit.backends.local.backend import LocalBackend
from searchkit.indexing import ingest as ingesting
from searchkit.indexing.ingest import Summary, ingest
from searchkit.sources.claude import ClaudeSource
from tests.contract.small import batch, record
from tests.contract.small import transcript as change
from tests.reference import ReferenceBackend
from tests.reference.contents import everything
from tests.reference.fingerprint import digest
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"

OPENERS: dict[str, Callable[[Path], Backend]] = {
    "embedded": lambda directory: LocalBackend(directory, is_writable=True),
    "memory": lambda directory: ReferenceBackend(),
}


@pytest.mark.parametrize("name", OPENERS)
def test_reading_elsewhere_ends_the_same(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whether a batch is read here or in other processes, prepared there or not, the backend ends the same."""
    session = home.session(SESSION)
    session.prompt("find the slow query")
    call = session.call("Bash", {"command": "grep -r join"})
    session.result(call, "query.sql: ä€😀")
    fork = home.session(FORK)
    fork.raw((home.project() / f"{SESSION}.jsonl").read_bytes())
    fork.prompt("and the index?", sessionId=FORK)
    home.todos(SESSION, [{"content": "add an index", "status": "pending"}])
    # Named by a transcript, so that it is no document of its own, whoever reads it.
    overflow = home.project() / SESSION / "tool-results" / "whole.txt"
    overflow.parent.mkdir(parents=True)
    overflow.write_text("the whole plan of the query")
    call = fork.call("Bash", {"command": "explain"})
    fork.result(call, f"<persisted-output>\nOutput too large. Full output saved to: {overflow}\n")
    (home.root / "projects" / "out.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (tmp_path / "outside.jsonl").write_text("{}\n")
    summaries: list[Summary] = []
    digests: list[str] = []

    for limit, readers in ((ingesting.ELSEWHERE_BYTES, 1), (0, 1), (0, 2)):
        monkeypatch.setattr(ingesting, "ELSEWHERE_BYTES", limit)
        monkeypatch.setattr(ingesting, "reader_count", lambda count=readers: count)
        with closing(OPENERS[name](tmp_path / f"index-{limit}-{readers}")) as backend:
            summaries.append(ingest(ClaudeSource([home.root]), backend))
            digests.append(digest(backend))

    assert [digests[0]] * 3 == digests
    assert [summaries[0]] * 3 == summaries
    assert summaries[0].records > 0


def test_several_readers_note_what_has_gone_and_moved(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transcript that moves while several processes read stays one, and one that goes is known to be gone."""
    for session in (SESSION, FORK):
        home.session(session).prompt(f"the prompt of {session}")
    monkeypatch.setattr(ingesting, "ELSEWHERE_BYTES", 0)
    monkeypatch.setattr(ingesting, "reader_count", lambda: 2)
    source = ClaudeSource([home.root])

    with closing(LocalBackend(tmp_path / "index", is_writable=True)) as backend:
        ingest(source, backend)
        (home.project() / f"{SESSION}.jsonl").rename(home.project() / f"{SESSION}.jsonl.backup")
        (home.project() / f"{FORK}.jsonl").unlink()
        summary = ingest(source, backend)
        again = ingest(source, backend)
        counts = backend.catalog.counts()

    assert (1, 0) == (summary.gone, again.gone)
    assert (2, 2, 2, 1) == (counts.files, counts.records, counts.sessions, counts.gone)


def test_text_that_is_known_is_not_kept_twice(tmp_path: Path) -> None:
    """Beside new texts a known one comes again: the catalog holds each of them once, and no other bytes."""
    first = change("a", record(1, 1, "one"), record(2, 2, "two"))
    second = change("b", record(1, 1, "one"), record(3, 2, "three"), record(3, 3, "three"), record(4, 4, "four"))

    with closing(LocalBackend(tmp_path / "index", is_writable=True)) as backend:
        backend.catalog.write(batch(first))
        backend.catalog.write(batch(second))
        held = sorted(stored.part.text for holding in everything(backend) for stored in holding.parts)
        chunks = [row[0] for row in backend.catalog.connection.execute("SELECT id FROM chunks ORDER BY id")]
        sizes = [len(backend.catalog.unpacker.encoded(chunk, 0, 1000)) for chunk in chunks]

    assert ["four", "one", "three", "two"] == held
    assert [len("onetwo"), len("threefour")] == sizes
