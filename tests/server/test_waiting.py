"""What nobody waits for any more is not begun."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from searchkit.errors import Refused
from searchkit.server.app import unless_gone


def test_question_of_a_client_that_went_away() -> None:
    """A question that waits for its turn is dropped when its client goes, and the next one is answered."""
    begun: list[str] = []
    released = threading.Event()

    async def asked() -> str:
        async def gone() -> Any:
            return {"type": "http.disconnect"}

        async def stays() -> Any:
            await asyncio.Event().wait()

        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as threads:
            threads.submit(released.wait)
            with pytest.raises(Refused):
                await unless_gone(gone, loop.run_in_executor(threads, begun.append, "of nobody"))
            # What is given up leaves the queue of the threads when the loop turns next.
            await asyncio.sleep(0)
            waiting = unless_gone(stays, loop.run_in_executor(threads, lambda: "answered"))
            released.set()
            return await waiting

    assert "answered" == asyncio.run(asked())
    assert [] == begun
