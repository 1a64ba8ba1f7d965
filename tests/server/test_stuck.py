"""The process cannot be stuck: whatever blocks below the roots, it answers, says what blocks, and leaves."""

import asyncio
import base64
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from searchkit import Engine
from searchkit.client import connect as place
from searchkit.errors import Refused
from searchkit.server import indexer_thread
from searchkit.server.indexer_thread import ENGINES, Engines
from tests.server.blocking import Blocking
from tests.server.residence import SECONDS_FOR_ANYTHING, Residence, request, wait_for
from tests.support.transcript import Home

SHOWN = "33333333-3333-4333-8333-333333333333"
PROJECT = "/home/mira/src/blocked-project"
BLOCKED = "-home-mira-src-blocked-project"
VIEWS = 50


class Stuck(Residence):
    """A residence with a session that has a picture, in a project whose directory can be made to block."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        told = self.home.session(SHOWN, cwd=PROJECT)
        data = base64.b64encode(b"not a picture").decode()
        shown = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        self.uuid = told.prompt([{"type": "text", "text": "look at the lantern"}, shown])["uuid"]
        self.transcript = told.path
        self.build()
        self.blocking = Blocking(directory / "blocking", BLOCKED)

    def view(self, path: str) -> int:
        """Ask for something of the page, and return the status."""
        return self.send(request(path)).status

    def views(self, path: str, number: int) -> list[int]:
        """Ask for it so many times at once."""
        with ThreadPoolExecutor(number) as pool:
            return list(pool.map(self.view, [path] * number))


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[Stuck]:
    """Serve a session that can be made to block."""
    with closing(Stuck(tmp_path)) as made:
        yield made


def put_pipe(stuck: Stuck) -> None:
    """Put a pipe in place of the transcript: opening it waits for whoever writes."""
    stuck.transcript.unlink()
    os.mkfifo(stuck.transcript)


def block(stuck: Stuck) -> None:
    """Let every opening of the transcript wait, as a dead network mount does."""
    stuck.blocking.begin()


@pytest.mark.parametrize("happens", [put_pipe, block])
@pytest.mark.parametrize("address", ["/v1/pictures/{uuid}", "/v1/readings/{uuid}"])
def test_searches_go_on_while_page_views_hang(stuck: Stuck, address: str, happens: Callable[[Stuck], None]) -> None:
    """While 50 views of a transcript hang that cannot be opened, every search is answered (issue 15)."""
    stuck.serve(**stuck.blocking.environment)
    happens(stuck)
    with ExitStack() as hanging:
        for _ in range(VIEWS):
            hanging.enter_context(connection := stuck.connected())
            connection.sendall(request(address.format(uuid=stuck.uuid)))

        found = [stuck.found("lantern") for _ in range(20)]

    assert [1] * 20 == found


def test_view_that_hangs_ends_with_a_sentence(stuck: Stuck) -> None:
    """A picture that cannot be read in time is refused in words, and shown once it can be read again (issue 15)."""
    stuck.serve(**stuck.blocking.environment)
    path = f"/v1/pictures/{stuck.uuid}"
    stuck.blocking.begin()

    status, said = stuck.get(path)
    refused = stuck.views(path, VIEWS)
    stuck.blocking.end()

    assert 503 == status
    assert f"{stuck.transcript.parent} does not answer" == said["error"]["message"]
    assert "disk or the network" in said["error"]["hint"]
    assert [503] * VIEWS == refused
    assert wait_for(lambda: stuck.get(path)[1].get("pictures"))


def test_conversation_is_read_without_its_pictures(stuck: Stuck) -> None:
    """What the index has is shown, and the answer says why there are no pictures (issue 15)."""
    stuck.serve(**stuck.blocking.environment)
    stuck.blocking.begin()

    silent = stuck.get(f"/v1/readings/{stuck.uuid}")[1]
    stuck.blocking.end()
    answer = wait_for(lambda: (said := stuck.get(f"/v1/readings/{stuck.uuid}")[1])["without_pictures"] or said)

    assert "look at the lantern" == silent["rows"][0]["text"]
    assert f"{stuck.transcript.parent} does not answer" == silent["without_pictures"]
    assert answer


def test_client_that_went_away_is_not_read_for(stuck: Stuck) -> None:
    """Views that nobody waits for any more are dropped, and the next one does not wait behind them (issue 15)."""
    stuck.serve(**stuck.blocking.environment)
    stuck.blocking.begin()
    for _ in range(VIEWS):
        with stuck.connected() as connection:
            connection.sendall(request(f"/v1/pictures/{stuck.uuid}"))

    # The one that asks is itself being answered.
    assert wait_for(lambda: 1 == stuck.get("/v1/health")[1]["running"])
    assert 1 == stuck.found("lantern")


def test_process_leaves_while_reads_hang(stuck: Stuck) -> None:
    """SIGTERM ends it with status 0 although threads hang, of views and of what follows changes (issue 15)."""
    process = stuck.serve(**stuck.blocking.environment)
    stuck.blocking.begin()
    home = Home(stuck.home.root)
    home.session(SHOWN, cwd=PROJECT).prompt("more of the lantern")
    with ExitStack() as hanging:
        for _ in range(VIEWS):
            hanging.enter_context(connection := stuck.connected())
            connection.sendall(request(f"/v1/pictures/{stuck.uuid}"))
        assert 1 == stuck.found("look")

        process.send_signal(signal.SIGTERM)

        assert 0 == process.wait(SECONDS_FOR_ANYTHING)
    assert "leaves: SIGTERM" in place.log_path(stuck.index).read_text()


def test_root_that_does_not_answer_blocks_nobody(tmp_path: Path) -> None:
    """While the root hangs the process starts, answers, says so in its log, and leaves the writers' lock (issue 15)."""
    with closing(Stuck(tmp_path)) as stuck:
        stuck.blocking.environment["BLOCKED_NAME"] = "claude/projects"
        stuck.blocking.begin()
        process = stuck.serve(**stuck.blocking.environment)

        assert 1 == stuck.found("lantern")
        log = place.log_path(stuck.index)
        assert wait_for(lambda: f"cannot watch the roots: {stuck.home.root} does not answer" in log.read_text())
        with Engine(stuck.index, [stuck.home.root], "fake") as engine:
            engine.index(wait=False)
        process.send_signal(signal.SIGTERM)
        assert 0 == process.wait(SECONDS_FOR_ANYTHING)


def test_status_says_that_the_root_does_not_answer(stuck: Stuck) -> None:
    """What is indexed is told, and that it is not known how much is new (issue 15)."""
    stuck.serve(**stuck.blocking.environment)
    stuck.blocking.begin()

    status, said = stuck.get("/v1/status")

    assert (200, f"{stuck.home.root} does not answer") == (status, said["unreachable"])
    assert 1 == stuck.found("lantern")


class TestEngines:
    """Engines in this process, asked by functions that hang."""

    @pytest.fixture
    def back(self) -> Iterator[threading.Event]:
        event = threading.Event()
        yield event
        event.set()

    @pytest.fixture
    def pool(self, residence: Residence) -> Iterator[Engines]:
        with closing(Engines(residence.index)) as made:
            yield made

    def test_searches_keep_two_engines(self, pool: Engines, back: threading.Event) -> None:
        """However much of what may wait hangs, also after its clients went away, two engines are left (issue 15)."""
        both = threading.Barrier(ENGINES - 1)

        async def ask() -> list[Any]:
            for _ in range(VIEWS):
                hanging = asyncio.ensure_future(pool.ask(lambda engine: back.wait(), may_wait=True))
                await asyncio.sleep(0)
                hanging.cancel()
            views = [asyncio.ensure_future(pool.ask(lambda engine: back.wait(), may_wait=True)) for _ in range(VIEWS)]
            # Each waits until the other has an engine, too.
            found = await asyncio.gather(
                *(pool.ask(lambda engine: both.wait(SECONDS_FOR_ANYTHING)) for _ in range(ENGINES - 1))
            )
            for view in views:
                view.cancel()
            return found

        assert [0, 1] == sorted(asyncio.run(ask()))

    def test_answer_that_takes_too_long(
        self, pool: Engines, back: threading.Event, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whoever waits too long is told so, with what to do (issue 15)."""
        monkeypatch.setattr(indexer_thread, "ANSWER_SECONDS", 0.2)

        with pytest.raises(Refused, match="no answer within") as refused:
            asyncio.run(pool.ask(lambda engine: back.wait()))

        assert (504, True) == (refused.value.status, "--stop" in refused.value.hint)

    def test_who_asks_the_same_shares_a_turn(self, pool: Engines, back: threading.Event) -> None:
        """While all engines are busy, equal questions wait for one answer, also when one of those who ask goes away."""
        calls = []

        def answer(engine: Engine) -> int:
            calls.append(engine)
            return len(calls)

        async def ask() -> list[Any]:
            busy = [asyncio.ensure_future(pool.ask(lambda engine: back.wait())) for _ in range(ENGINES)]
            await asyncio.sleep(0)
            first, *others = [asyncio.ensure_future(pool.ask(answer, same="lantern")) for _ in range(5)]
            gone = asyncio.ensure_future(pool.ask(lambda engine: calls.append(engine), same="nobody"))
            await asyncio.sleep(0)
            first.cancel()
            gone.cancel()
            await asyncio.wait([first, gone])
            back.set()
            return await asyncio.gather(*others, *busy)

        assert [1] * 4 + [True] * ENGINES == asyncio.run(ask())
        assert 1 == len(calls)

    def test_turn_that_has_begun_is_not_shared(self, pool: Engines, back: threading.Event) -> None:
        """A question never gets an answer that was begun before it was asked: the index may have changed meanwhile."""
        has_begun = threading.Event()
        answers = iter(("before", "after"))

        def answer(engine: Engine) -> str:
            found = next(answers)
            has_begun.set()
            back.wait()
            return found

        async def ask() -> list[str]:
            early = asyncio.ensure_future(pool.ask(answer, same="lantern"))
            await asyncio.to_thread(has_begun.wait, SECONDS_FOR_ANYTHING)
            late = asyncio.ensure_future(pool.ask(answer, same="lantern"))
            await asyncio.sleep(0)
            back.set()
            return list(await asyncio.gather(early, late))

        assert ["before", "after"] == asyncio.run(ask())


def test_watching_first_lists_what_it_watches(tmp_path: Path) -> None:
    """The watcher holds Python's lock while it lists directories, so they are listed before, without it (issue 15)."""
    root = tmp_path / "claude"
    (root / "projects" / BLOCKED / "deep").mkdir(parents=True)
    (root / "projects" / "circle").symlink_to(root / "projects")
    blocking = Blocking(tmp_path / "blocking", f"{BLOCKED}/deep")
    blocking.begin()
    program = (
        "import threading\n"
        "from pathlib import Path\n"
        "from searchkit.indexing.ingest import changes_below\n"
        f"watching = threading.Thread(target=lambda: (next(changes_below([Path({str(root)!r})])), print('watches')))\n"
        "watching.start()\n"
        "watching.join(1)\n"
        "print('goes on', flush=True)\n"
        "watching.join()\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, env={**os.environ, **blocking.environment}, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        first = watching.stdout.readline()
        blocking.end()
        rest = watching.stdout.read()

    assert (b"goes on\n", b"watches\n") == (first, rest)
