"""What vectors cost beside words: the time until the most valuable ones are there, and the memory that all take.

As a program, python -m measure.meaning INDEX, it embeds the most valuable parts of an index and prints what that took.
"""

import json
import sys
import time
from pathlib import Path

from measure import corpora
from measure.child import Outcome, run, searchkit
from measure.corpora import MEGABYTE
from measure.figures import Figure, say
from measure.subject import Subject

# The goals of issue 5, show 2. That so many carry most of the ranking is what `searchkit/worth.py` is about.
VALUABLE_SHARE = 0.37
VALUABLE_RATIO = 6.0
MOST_MB = 1_000.0
# What issue 2 calls flat.
FLAT_RATIO = 1.3
# The corpus that memory is compared with.
SMALLER = 4
SEED = 1


def meaning(subject: Subject) -> list[Figure]:
    """Embed what is worth most, then the rest; then all of a smaller corpus."""
    # Directly before and after: the speed of a machine wavers by a third over minutes.
    before = subject.make_index().seconds
    subject.copy_index()
    valuable = run([sys.executable, "-m", "measure.meaning", str(subject.embedded)])
    told = json.loads(valuable.output)
    after = subject.make_index().seconds
    words = (before + after) / 2
    rest = run(subject.embedding_command(subject.embedded))
    note = (
        f"{told['parts']:,} parts in {told['seconds']:.0f} s, words in {before:.1f} s before and {after:.1f} s after;"
        f" {told['parts'] / told['seconds']:,.0f} parts a second"
    )
    peak = max(valuable.peak_bytes, rest.peak_bytes) / MEGABYTE
    say(f"a corpus of {subject.bytes / MEGABYTE / SMALLER:.0f} MB for comparison")
    smaller = _smaller(subject).peak_bytes / MEGABYTE
    memory_note = f"{peak:.0f} MB to {smaller:.0f} MB with a {SMALLER}th of the corpus, all processes"
    return [
        Figure(name="valuable vectors to words, ratio", value=told["seconds"] / words, goal=VALUABLE_RATIO, note=note),
        Figure(name="the rest of the vectors", value=rest.seconds, unit="s", note="the whole process"),
        Figure(name="index with vectors, peak memory", value=peak, unit="MB", goal=MOST_MB, note="all its processes"),
        Figure(name="the same, ratio of sizes", value=peak / smaller, goal=FLAT_RATIO, note=memory_note),
    ]


def main() -> None:
    """Be the process that embeds, until the most valuable parts have their vectors."""
    # Imported here, because whoever measures memory must stay small.
    from searchkit import Engine
    from searchkit.backends.local.open import open_to_write
    from searchkit.indexing.embed_parts import embed
    from searchkit.system.process import give_back

    # As `searchkit index` does.
    give_back()
    shares = [0.0]

    def note(done: int, left: int) -> None:
        shares.append(done / (done + left))

    index = Path(sys.argv[1])
    with Engine(index) as engine, open_to_write(index) as backend:
        began = time.perf_counter()
        parts = embed(backend, engine._models.embedder(), note, is_enough=lambda: shares[-1] >= VALUABLE_SHARE)
        print(json.dumps({"seconds": time.perf_counter() - began, "parts": parts}))


def _smaller(subject: Subject) -> Outcome:
    place = subject.scratch / "smaller"
    root = corpora.make(place / "root", subject.bytes / MEGABYTE / SMALLER, SEED)
    return run(searchkit("index", "--json", "--root", root, "--index", place / "index"))


if __name__ == "__main__":
    main()
