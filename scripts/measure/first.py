"""When a first `index` begins to answer, while it still goes on.

As a program, python -m measure.first INDEX, it is given sessions and words on its stdin, says that it is
ready, and searches until one of the sessions is found; then it prints when that was as JSON.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson

from measure import corpora
from measure.environment import for_children
from measure.figures import Figure
from measure.subject import Subject

# The goal of issue 3, show 3.
FIRST_SECONDS = 5.0
BETWEEN_SECONDS = 0.25
NEWEST = 20
# Of a prompt, enough that few other sessions hold them.
WORDS = 6
MOST_SECONDS = 600.0
READY = "ready"


def first(subject: Subject) -> list[Figure]:
    """Index into a new directory and search from another process, again and again, for the newest sessions."""
    index = subject.scratch / "first"
    command = [sys.executable, "-m", "measure.first", str(index)]
    asking = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=for_children(), text=True, bufsize=1
    )
    assert asking.stdin is not None
    assert asking.stdout is not None
    print(json.dumps(newest(subject.root)), file=asking.stdin, flush=True)
    assert asking.stdout.readline().strip() == READY
    began = time.monotonic()
    indexing = subprocess.Popen(subject.index_command(index), stdout=subprocess.DEVNULL, env=for_children())
    status = indexing.wait()
    whole = time.monotonic() - began
    answer, _ = asking.communicate()
    if status or asking.returncode:
        raise SystemExit(f"the first index ended with status {status}, the searches with {asking.returncode}")
    told = json.loads(answer)
    took = told["at"] - began
    before = ", ".join(f"{count} {kind}" for kind, count in told["before"].items()) or "nothing"
    note = f"{took / whole:.0%} of the {whole:.1f} s that it took; before that {before}"
    return [Figure(name="first results", value=took, unit="s", goal=FIRST_SECONDS, note=note)]


def newest(root: Path) -> dict[str, str]:
    """Return the sessions that were written to last, and words of a prompt in each."""
    files = [
        path for path in corpora.transcripts(root) if path.suffix == ".jsonl" and path.parent.parent.name == "projects"
    ]
    files.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    found = {path.stem: _prompt(path) for path in files[:NEWEST]}
    return {session: words for session, words in found.items() if words}


def main() -> None:
    """Be the process that searches."""
    # Imported here, because whoever measures memory must stay small.
    from searchkit import Engine
    from searchkit.errors import SearchkitError

    wanted: dict[str, str] = json.loads(sys.stdin.readline())
    print(READY, flush=True)
    before: Counter[str] = Counter()
    ends = time.monotonic() + MOST_SECONDS
    turn = 0
    while time.monotonic() < ends:
        words = list(wanted.values())[turn % len(wanted)]
        turn += 1
        try:
            with Engine(sys.argv[1]) as engine:
                sessions = {result.session.id for result in engine.search(words).results if result.session}
        except SearchkitError as error:
            before[type(error).__name__] += 1
        else:
            if sessions & wanted.keys():
                print(json.dumps({"at": time.monotonic(), "before": before}))
                return
            before["without a result"] += 1
        time.sleep(BETWEEN_SECONDS)
    sys.exit("nothing was found")


def _prompt(path: Path) -> str:
    """Return the first words of the first message that a person typed."""
    with path.open("rb") as file:
        for line in file:
            try:
                record = orjson.loads(line)
                content = record["message"]["content"] if record["type"] == "user" else ""
            except (orjson.JSONDecodeError, KeyError, TypeError):
                continue
            if isinstance(content, str) and content and not content.startswith("<"):
                return " ".join(content.split()[:WORDS])
    return ""


if __name__ == "__main__":
    main()
