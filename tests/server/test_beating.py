"""An answer that takes long begins with white space, so that nobody takes the process for dead."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from searchkit.errors import UsageError
from searchkit.mcp import http


def sent(work: Callable[[], Awaitable[bytes]]) -> tuple[int, list[bytes], list[BaseException]]:
    """Answer with what some work returns; return the status, the pieces of the body, and what was complained of."""
    messages: list[dict[str, Any]] = []
    complaints: list[BaseException] = []

    async def run() -> None:
        async def send(message: Any) -> None:
            messages.append(message)

        async def receive() -> Any:
            raise AssertionError

        response = await http.answer(work(), complaints.append)
        await response({"type": "http"}, receive, send)

    asyncio.run(run())
    bodies = [message["body"] for message in messages if message["type"] == "http.response.body"]
    return messages[0]["status"], bodies, complaints


async def late(beats: int) -> None:
    """Wait for a few beats."""
    for _ in range(beats):
        await asyncio.sleep(2 * http.BEAT_SECONDS)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let beats come fast."""
    monkeypatch.setattr(http, "BEAT_SECONDS", 0.01)


def test_fast_answer_comes_as_it_is() -> None:
    """What is there at once is sent without any white space."""

    async def work() -> bytes:
        return b"[1]"

    assert (200, [b"[1]"], []) == sent(work)


def test_slow_answer_comes_after_beats() -> None:
    """White space goes before what takes long, and all together is JSON."""

    async def work() -> bytes:
        await late(3)
        return b"[1]"

    status, bodies, _ = sent(work)

    assert 200 == status
    assert {b" "} == set(bodies[:-1])
    assert [1] == json.loads(b"".join(bodies))


def test_fast_failure_is_raised() -> None:
    """What goes wrong at once can still have a status of its own."""

    async def work() -> bytes:
        raise UsageError("no", "yes")

    with pytest.raises(UsageError):
        sent(work)


@pytest.mark.parametrize("error", [UsageError("no", "yes"), ZeroDivisionError("secret")])
def test_slow_failure_ends_in_words(error: Exception) -> None:
    """What goes wrong after the first beat is told in the body; a fault is logged, and does not tell what was asked."""

    async def work() -> bytes:
        await late(2)
        raise error

    _, bodies, complaints = sent(work)

    told = json.loads(b"".join(bodies))["error"]
    assert {"kind", "message", "hint"} == told.keys()
    assert "secret" not in str(told)
    assert ([] if isinstance(error, UsageError) else [error]) == complaints
