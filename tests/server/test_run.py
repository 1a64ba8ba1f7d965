"""A command that comes while the index is being rebuilt waits for it, as every other request does."""

import asyncio
import json
import os
import threading
import time

from searchkit import __version__
from searchkit.server.indexer_thread import Engines
from searchkit.server.run_command import run
from tests.server.residence import Residence


def test_command_waits_for_an_index_that_is_being_replaced(residence: Residence) -> None:
    """A manifest that is away for a moment is not taken for an index that is missing."""
    manifest = residence.index / "manifest.json"
    aside = manifest.with_name("manifest.aside")
    manifest.rename(aside)
    engines = Engines(residence.index, [str(residence.home.root)])
    request = json.dumps(
        {
            "version": __version__,
            "index": str(residence.index),
            "arguments": ["search", "slow", "--mode", "keyword"],
            "environment": {**os.environ, "SEARCHKIT_ROOTS": str(residence.home.root)},
            "columns": None,
            "is_watching": False,
            "is_told": False,
            "is_ascii": False,
        }
    ).encode()

    def bring_back() -> None:
        time.sleep(0.15)
        aside.rename(manifest)

    back = threading.Thread(target=bring_back)
    back.start()
    answer = asyncio.run(engines.ask(lambda engine: run(engine, request)))
    back.join()
    engines.close()

    assert b'"status":0' in answer
