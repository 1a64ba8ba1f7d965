"""What agents wait for and what they hold: a search over MCP beside the bare engine, and many servers open at once.

As a program, python -m measure.agents INDEX, it measures on any index, such as one with vectors, and prints JSON.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from measure.child import run_json
from measure.corpora import MEGABYTE
from measure.environment import for_children
from measure.figures import Figure
from measure.subject import Subject

# The goals of issue 6, show 1.
CALL_RATIO = 3.0
MOST_MEGABYTES = 60.0
OPEN_AT_ONCE = 20
ROUNDS = 9
UNTIMED_ROUNDS = 2
# What the tool asks the engine for: a page, and one more to know whether there is another.
PAGE = 5


def agents(subject: Subject) -> list[Figure]:
    """Ask over MCP and without it in turn, then open many servers."""
    found = run_json([sys.executable, "-m", "measure.agents", str(subject.with_vectors())])
    note = (
        f"{found['call']:.1f} ms to {found['bare']:.1f} ms of the engine, {found['mode']}; first {found['first']:.1f} s"
    )
    memory = (
        f"largest of {OPEN_AT_ONCE}; its own share {found['own'] / MEGABYTE:.1f} MB; ready after {found['ready']:.2f} s"
    )
    return [
        Figure(name="MCP search, ratio to the engine", value=found["call"] / found["bare"], goal=CALL_RATIO, note=note),
        Figure(
            name="MCP server, resident", value=found["resident"] / MEGABYTE, unit="MB", goal=MOST_MEGABYTES, note=memory
        ),
    ]


def main() -> None:
    """Be the process that measures."""
    # Imported here, because whoever measures memory must stay small.
    from measure.questions import chosen
    from searchkit import Engine

    index = sys.argv[1]
    with Engine(index) as engine, ExitStack() as opened:
        words = [one.words for one in chosen(engine) if not one.filters]
        client = opened.enter_context(Agent(index))
        first = client.ready()
        bare, call = [], []
        for turn in range(UNTIMED_ROUNDS + ROUNDS):
            for one in words:
                began = time.perf_counter()
                engine.search(one, PAGE + 1)
                between = time.perf_counter()
                client.call("search", query=one)
                if turn >= UNTIMED_ROUNDS:
                    bare.append(between - began)
                    call.append(time.perf_counter() - between)
        others = [opened.enter_context(Agent(index)) for _ in range(OPEN_AT_ONCE - 1)]
        ready = statistics.median(other.ready() for other in others)
        for other in others:
            other.call("search", query=words[0])
        memory = [each.memory() for each in (client, *others)]
        figures = {
            "bare": statistics.median(bare) * 1000,
            "call": statistics.median(call) * 1000,
            "first": first,
            "mode": "words and meaning" if engine.has_vectors() else "words",
            "ready": ready,
            "resident": max(resident for resident, _ in memory),
            "own": max(own for _, own in memory),
        }
    print(json.dumps(figures))


class Agent:
    """An agent's end of an MCP server, with as little of its own as there can be."""

    def __init__(self, index: str) -> None:
        """Start the server as an agent does."""
        self._began = time.perf_counter()
        script = Path(sys.executable).with_name("searchkit")
        command = [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-m", "searchkit.__main__"]
        self._process = subprocess.Popen(
            [*command, "mcp", "--index", index],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=for_children(has_resident=True),
        )
        self._number = 0

    def __enter__(self) -> "Agent":
        """Give itself."""
        return self

    def __exit__(self, *trouble: object) -> None:
        """Close what the server reads, which ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def ready(self) -> float:
        """Agree on a version; return the seconds since the start."""
        information = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=information)
        return time.perf_counter() - self._began

    def call(self, tool: str, **arguments: object) -> Any:
        """Call a tool."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result
        return result["structuredContent"]

    def ask(self, method: str, **params: object) -> Any:
        """Send a request and wait for its answer."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._number, answer
        return answer["result"]

    def memory(self) -> tuple[int, int]:
        """Return the bytes it has in memory, and its share of them where others have the same."""
        fields = dict(
            line.split(":", 1)
            for line in Path(f"/proc/{self._process.pid}/smaps_rollup").read_text().splitlines()
            if ":" in line.split(" ")[0]
        )
        return tuple(int(fields[name].split()[0]) * 1024 for name in ("Rss", "Pss"))  # type: ignore[return-value]  # two


if __name__ == "__main__":
    main()
