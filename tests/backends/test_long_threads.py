"""What is left out of a long conversation changes nothing that is told of it (issue 15)."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.catalog import long_threads
from searchkit.backends.local.catalog.store import SqliteCatalog
from searchkit.backends.local.open import open_to_write
from searchkit.conversation.excerpt import conversation
from searchkit.conversation.outline import outline
from searchkit.conversation.pages import leaf, page
from searchkit.conversation.resume import is_interrupted
from searchkit.indexing.ingest import ingest
from searchkit.sources.claude import ClaudeSource
from tests.corpus.build import build
from tests.corpus.long import SESSION, write_long
from tests.reference.contents import everything
from tests.support.tangled import write_tangled
from tests.support.transcript import Home

# Turns before and after, whether every step is shown, and whether agents are.
OPTIONS = ((1, 1, False, False), (0, 3, True, False), (4, 0, False, True), (100_000, 100_000, False, False))
TANGLED = "77777777-7777-4777-8777-777777777777"

Index = Callable[[Path], Path]


class Whole(SqliteCatalog):
    """The same, but every conversation is read as a whole."""

    def survey(self, key: int, /) -> None:
        """Leave nothing out."""

    def tail(self, session: str, /) -> None:
        """Leave nothing out."""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """Give a function that indexes a root; every conversation counts as long, and is read in small pieces."""
    monkeypatch.setattr(long_threads, "FEW_RECORDS", 0)
    monkeypatch.setattr(long_threads, "MOST_SPECIAL_SHARE", 1.0)
    monkeypatch.setattr(long_threads, "PIECE_LINES", 25)
    monkeypatch.setattr(long_threads, "LEAST_GAP", 1)

    def update(root: Path) -> Path:
        with open_to_write(tmp_path / "index") as backend:
            ingest(ClaudeSource([root]), backend)
        return tmp_path / "index"

    return update


def differences(directory: Path, uuids: Sequence[str]) -> Iterator[str]:
    """Yield the messages of which something else is told where nothing is left out."""
    with closing(LocalBackend(directory)) as sketched, closing(Whole(directory)) as whole:
        for number, uuid in enumerate(uuids):
            options = OPTIONS[number % len(OPTIONS)]
            if conversation(sketched.catalog, uuid, *options) != conversation(whole, uuid, *options):
                yield f"{uuid} shown with {options}"
            one, other = leaf(sketched.catalog, uuid), leaf(whole, uuid)
            assert one is not None
            assert other is not None
            if one != other or page(sketched.catalog, one, 0, one.total) != page(whole, other, 0, other.total):
                yield f"{uuid} read"


@pytest.mark.parametrize("oddness", [0.0, 0.05, 0.2, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_tangled_session_is_told_alike(home: Home, index: Index, seed: int, oddness: float) -> None:
    """However records hang together, leaving out what nothing depends on changes nothing."""
    records = write_tangled(home, TANGLED, seed, oddness)
    directory = index(home.root)

    found = list(differences(directory, [record["uuid"] for record in records[::6]]))

    assert [] == found
    with closing(LocalBackend(directory)) as sketched, closing(Whole(directory)) as whole:
        assert is_interrupted(whole, TANGLED) == is_interrupted(sketched.catalog, TANGLED)


def test_long_session_is_told_alike(tmp_path: Path, index: Index) -> None:
    """The same with compactions, ways that were left and parallel calls, of which most is left out."""
    written = write_long(tmp_path / "claude", 3_000)
    directory = index(tmp_path / "claude")

    found = list(differences(directory, [*written.prompts[::29], *written.answers[::31], written.answers[-1]]))

    assert [] == found
    with closing(LocalBackend(directory)) as sketched, closing(Whole(directory)) as whole:
        key = sketched.catalog.record(written.prompts[50])
        assert key is not None
        surveyed = sketched.catalog.survey(key)
        assert surveyed is not None
        assert len(surveyed.sketch([]).nodes) < 100
        assert outline(whole, SESSION) == outline(sketched.catalog, SESSION)


def test_generated_history_is_told_alike(tmp_path: Path, index: Index) -> None:
    """The same with all that transcripts are made of: agents, copies, forks, torn lines and lines that are swapped."""
    build(tmp_path / "claude", 3, 5)
    directory = index(tmp_path / "claude")
    with closing(LocalBackend(directory)) as backend:
        uuids = sorted(holding.link.uuid for holding in everything(backend))
    chance = random.Random(1)

    found = list(differences(directory, chance.sample(uuids, 60)))

    assert [] == found


def test_session_is_read_whole_where_it_lies_in_two_files(home: Home, index: Index) -> None:
    """A fork holds the records of another session, too: what is special in it is not looked for."""
    session, fork = home.session(SESSION), home.session(TANGLED)
    first = session.prompt("begin")
    session.text("begun")
    for record in (first,):
        fork.line({**record, "sessionId": TANGLED, "forkedFrom": {"sessionId": SESSION, "messageUuid": record["uuid"]}})
    fork.prompt("go on", parent=first["uuid"])
    directory = index(home.root)

    with closing(LocalBackend(directory)) as backend:
        keys = {uuid: backend.catalog.record(uuid) for uuid in (first["uuid"], fork.last or "")}
        surveys = [backend.catalog.survey(key) for key in keys.values() if key is not None]

    assert None in surveys
