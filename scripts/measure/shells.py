"""Whether the first results are the same for every limit, on the command line, over MCP and over the page's HTTP.

The resident process answers the command line and the page, the MCP server's process the agent. Of a question that
differs the shells and limits are told, never what was found.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from measure.agents import Agent
from searchkit.client import connect, control

LIMITS = (5, 10, 20, 50)
DEPTH = 10
PATIENCE_SECONDS = 60.0

# Asks a question with a limit and returns the messages that were found, best first.
Shell = Callable[[str, int], Sequence[str]]


def compare(index: Path, questions: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Ask every question, which are pairs of id and words, with every limit in every shell; tell what differs."""
    differing = 0
    with ExitStack() as opened:
        control.start(index, ())
        opened.callback(control.stop, index)
        control.listen(index, 0)
        door = json.loads(connect.door_path(index).read_bytes())
        agent = opened.enter_context(Agent(str(index)))
        agent.ready()
        shells: dict[str, Shell] = {
            "command line": lambda words, limit: _command(index, words, limit),
            "MCP": lambda words, limit: _uuids(agent.call("search", query=words, limit=limit)),
            "page": lambda words, limit: _page(door, words, limit),
        }
        for id, words in questions:
            found = {(name, limit): shell(words, limit) for name, shell in shells.items() for limit in LIMITS}
            longest = max(found.values(), key=len)[:DEPTH]
            wrong = [
                f"{name} {limit}"
                for (name, limit), one in found.items()
                if [*one[:DEPTH]] != [*longest[: min(limit, DEPTH)]]
            ]
            differing += bool(wrong)
            if wrong:
                yield f"{id}: {', '.join(wrong)}"
    asked = f"limits {', '.join(map(str, LIMITS))}; {', '.join(shells)}"
    yield f"the same first {DEPTH} for {len(questions) - differing} of {len(questions)} questions ({asked})"


def _command(index: Path, words: str, limit: int) -> Sequence[str]:
    script = Path(sys.executable).with_name("searchkit")
    command = [str(script), "search", "--json", "--index", str(index), "--limit", str(limit), "--", words]
    # It says with its status whether anything was found.
    return _uuids(json.loads(subprocess.run(command, check=False, capture_output=True).stdout))


def _page(door: dict[str, str], words: str, limit: int) -> Sequence[str]:
    # As the page asks for it, with the page's token.
    asked = urlencode({"q": words, "sort": "relevance", "mode": "hybrid", "limit": limit})
    place = f"http://127.0.0.1:{door['port']}/v1/search?{asked}"
    request = Request(place, headers={"Authorization": f"Bearer {door['page_token']}"})
    with urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return _uuids(json.load(answer))


def _uuids(answer: dict[str, list[dict[str, str]]]) -> Sequence[str]:
    return [result["uuid"] for result in answer["results"]]
