"""Whether threads are what they should be, and whether they reach every message.

A corpus of scripts/make-corpus tells in its manifest what the threads of a thousand records are. From the
first record of every session, threads lead on to their branches, and to the agents that were started in them.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from measure import corpora
from measure.figures import say
from searchkit import Engine
from searchkit.backends.base import Backend, Node
from searchkit.conversation.subagents import agents_of, own_records, started
from tests.corpus.expected import Found, differences
from tests.corpus.found import found_thread

MB, SEED = 400.0, 1
MOST_SHOWN = 10
_MESSAGES = frozenset({"user", "assistant"})


def main() -> int:
    """Index a root, or a new corpus, and look at its threads."""
    parser = argparse.ArgumentParser(prog="thread-test", description=__doc__)
    parser.add_argument("root", type=Path, nargs="?", help="a root of transcripts (default: a new corpus)")
    parser.add_argument("--mb", type=float, default=MB, help="megabytes of the new corpus (default 400)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="searchkit-threads-") as scratch:
        root = arguments.root or corpora.make(Path(scratch) / "root", arguments.mb, SEED)
        with Engine(Path(scratch) / "index", [root]) as engine:
            engine.index()
            failed = _compare(engine, root / "manifest.json")
            _reach(engine)
    return 1 if failed else 0


def _compare(engine: Engine, manifest: Path) -> int:
    if not manifest.exists():
        say("no manifest tells what the threads should be")
        return 0
    told: dict[str, Any] = json.loads(manifest.read_bytes())

    def find(uuid: str) -> Found:
        return found_thread(engine, uuid)

    wrong = differences(told, find)
    for line in wrong[:MOST_SHOWN]:
        print(f"  {line}")
    print(f"{len(told['threads']):,} threads compared with the manifest, {len(wrong):,} differences")
    return len(wrong)


def _reach(engine: Engine) -> None:
    """Count the messages of sessions that threads lead to, and say why they lead to no others."""
    backend = engine._open()
    total, reasons = 0, Counter[str]()
    for session in engine.sessions():
        messages = {node.uuid: node for node in _messages(backend, session.id)}
        reached = _reached(engine, session.id)
        total += len(messages)
        reasons.update(_reason(node, session.id) for uuid, node in messages.items() if uuid not in reached)
    lost = sum(reasons.values())
    print(f"{total:,} messages in sessions, {total - lost:,} reached ({(total - lost) / max(1, total):.2%})")
    for reason, number in reasons.most_common():
        print(f"  {number:,} not: {reason}")


def _reason(node: Node, session: str) -> str:
    if node.session != session:
        return "the same uuid stands for another record in another session; it is shown there"
    return f"no thread leads to this {node.type} record of {'an agent' if node.agent else 'the session'}"


def _messages(backend: Backend, session: str) -> Iterator[Node]:
    for agent in (None, *backend.catalog.agents(session)):
        yield from (node for node in backend.catalog.members(session, agent) if node.type in _MESSAGES)


def _reached(engine: Engine, session: str) -> set[str]:
    """Follow threads from the first record of a session."""
    backend = engine._open()
    reached: set[str] = set()
    seen: set[str] = set()
    # Of some sessions only agents are left.
    waiting = [node.uuid for node in backend.catalog.members(session)[:1]] or [
        node.uuid
        for agent in agents_of(backend.catalog, session, backend.catalog.agents(session))
        for node in own_records(backend.catalog, agent)[:1]
    ]
    while waiting:
        uuid = waiting.pop()
        if uuid in seen:
            continue
        seen.add(uuid)
        thread = engine.thread(uuid)
        reached.update(node.uuid for node in thread.nodes)
        waiting += [branch.first for branch in thread.branches if branch.session in (None, session)]
        for agent in chain(*started(backend.catalog, thread.nodes).values(), thread.strays):
            records = own_records(backend.catalog, agent)
            waiting.append(records[0].uuid if records else agent.name)
    return reached
