"""A client of the resident process that compares each answer with the right one, and asks again where none comes."""

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from searchkit import __version__
from searchkit.__main__ import VARIABLES
from searchkit.client import connect

# Whoever gets no answer in this time has got none.
PATIENCE_SECONDS = 120.0
# Between two attempts, and between two starts of the process.
RETRY_SECONDS = 0.1
START_SECONDS = 1.0


@dataclass
class Asked:
    """What one client saw: how long each answer took, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    repeated: int = 0
    wrong: list[str] = field(default_factory=list)


def body(index: Path, command: list[str]) -> bytes:
    """Write the request that `searchkit` would send for a command."""
    asked = {
        "version": __version__,
        "index": str(index),
        "arguments": [*command, "--json", "--index", str(index)],
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "columns": None,
        "is_watching": False,
        "is_told": False,
        "is_ascii": False,
    }
    return json.dumps(asked).encode()


def ask(index: Path, command: list[str], told: Asked) -> Any:
    """Return what a command prints; None where no answer came at all."""
    request = body(index, command)
    began = time.perf_counter()
    started = 0.0
    while time.perf_counter() - began < PATIENCE_SECONDS:
        try:
            status, answer = connect.ask(str(index), "POST", "/v1/run", request)
            if status == 200 and "printed" in json.loads(answer):
                told.seconds.append(time.perf_counter() - began)
                return value(answer)
            if status != 503:
                told.wrong.append(f"{status} {answer[:200]!r}")
                return None
        except connect.NobodyThere:
            if time.perf_counter() - started > START_SECONDS:
                started = time.perf_counter()
                connect.start(str(index))
        except (connect.NoAnswer, ValueError):
            # It was killed while it answered.
            pass
        told.repeated += 1
        time.sleep(RETRY_SECONDS)
    told.wrong.append("no answer")
    return None


def value(answer: bytes) -> Any:
    """Return what a command printed as JSON, without how long it took."""
    reply = json.loads(answer)
    printed = json.loads("".join(text for channel, text in reply["printed"] if channel != "err"))
    printed.pop("took_ms", None)
    return printed
