"""Sessions of very many records: a message costs what its turns cost, and little is kept of what is read (issue 15)."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial

import pytest

from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.open import open_to_write
from searchkit.conversation.excerpt import conversation
from searchkit.conversation.outline import outline
from searchkit.conversation.pages import leaf
from searchkit.conversation.resume import is_interrupted
from searchkit.indexing.ingest import ingest
from searchkit.sources.claude import ClaudeSource
from tests.corpus.long import SESSION, Long, write_long
from tests.support.running import Run
from tests.support.transcript import Home

SHORT, LONG = 2_000, 20_000
# A session ten times as long may take this many times the memory: its compactions and branches are named, and a fix
# is looked for among more results.
MOST_TIMES = 3.0
# Of a conversation that is being read, per record: a number for it, and a few for each turn.
MOST_BYTES = 24

# Messages of which each is shown.
SEVERAL = 18

Sessions = dict[int, tuple[LocalBackend, Long]]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sessions]:
    """A short and a long session, each in an index of its own."""
    with ExitStack() as opened:
        found = {}
        for records in (SHORT, LONG):
            directory = tmp_path_factory.mktemp(str(records))
            written = write_long(directory / "claude", records)
            with open_to_write(directory / "index") as backend:
                ingest(ClaudeSource([directory / "claude"]), backend)
            found[records] = opened.enter_context(closing(LocalBackend(directory / "index"))), written
        yield found


def peak(act: Callable[[], object]) -> int:
    """Return the bytes that something takes at most while it is done for the second time."""
    act()
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_message_takes_what_its_turns_take(sessions: Sessions, share: float) -> None:
    """Of a session ten times as long, a message at its beginning, middle or end takes hardly more memory."""
    taken = {}
    for records, (backend, written) in sessions.items():
        at = int(share * (len(written.answers) - SEVERAL))
        # Turns have one call or twenty, and where one failed, its fix is looked for.
        several = written.answers[at : at + SEVERAL]
        taken[records] = sum(peak(partial(conversation, backend.catalog, uuid, 1, 1)) for uuid in several)

    assert taken[LONG] < MOST_TIMES * taken[SHORT]


def test_resuming_takes_what_the_last_turn_takes(sessions: Sessions) -> None:
    """Whether a session waits for an answer is looked up at its end."""
    taken = {
        records: peak(partial(is_interrupted, backend.catalog, SESSION)) for records, (backend, _) in sessions.items()
    }

    assert taken[LONG] < MOST_TIMES * taken[SHORT]


def test_reading_is_kept_as_numbers(sessions: Sessions) -> None:
    """A conversation that is being read takes a few bytes for each of its records."""
    backend, written = sessions[LONG]
    leaf(backend.catalog, written.prompts[0])
    tracemalloc.start()
    try:
        reading = leaf(backend.catalog, written.prompts[0])
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert reading is not None
    assert kept < MOST_BYTES * LONG


def test_outline_is_bounded(home: Home, run: Run) -> None:
    """Of very many turns the first and the last are told, with --full all of them."""
    written = write_long(home.root, 10_000)
    run("index")

    told, full = (run("show", SESSION, "--json", *more).json["ways"][0]["turns"] for more in ((), ("--full",)))

    assert len(full) > 500 == len(told)
    assert [turn["uuid"] for turn in full[:100] + full[-400:]] == [turn["uuid"] for turn in told]
    assert [turn["did"] for turn in full[:100] + full[-400:]] == [turn["did"] for turn in told]
    assert {100: len(full) - 500} == {number: turn["left_out"] for number, turn in enumerate(told) if turn["left_out"]}
    for command in ("show", "tree"):
        assert f"{len(full) - 500} turns left out: --full" in run(command, SESSION).out
    assert written.prompts[0][:8] in run("tree", SESSION).out


def test_outline_takes_what_is_told(sessions: Sessions) -> None:
    """An outline is read as far as it is told: what is left out takes no memory."""
    taken = {records: peak(partial(outline, backend.catalog, SESSION)) for records, (backend, _) in sessions.items()}

    # The short session is told whole, with 112 turns, and 500 of the long one.
    assert taken[LONG] < 1.5 * 500 / 112 * taken[SHORT]
