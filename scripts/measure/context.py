"""Packs for agents: whether they keep to their budget, use it, and can be looked up.

As a program, python -m measure.context INDEX, it packs and prints what came of it as JSON.
"""

import json
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from measure.child import run_json
from measure.figures import Figure
from measure.subject import Subject

if TYPE_CHECKING:
    from searchkit import Engine

# The goals of issue 4, show 4.
MAX_TOKENS = 2_000
QUERIES = 50
MOST_UNUSED = 0.2
# Of a title, as many as somebody might ask with.
TITLE_WORDS = 6


def context(subject: Subject) -> list[Figure]:
    """Pack for many questions, in a process of its own."""
    told: dict[str, Any] = run_json([sys.executable, "-m", "measure.context", str(subject.built())])
    packs = told["packs"]
    enough = [pack["tokens"] for pack in packs if pack["is_enough"]]
    unused = [1 - tokens / MAX_TOKENS for tokens in enough]
    note = f"{len(enough)} packs where twice the budget would hold more than it; median {statistics.median(unused):.2f}"
    return [
        Figure(
            name="context, most of the budget taken",
            value=max(pack["tokens"] for pack in packs) / MAX_TOKENS,
            goal=1,
            note=f"{len(packs)} packs of {MAX_TOKENS:,} tokens",
        ),
        Figure(name="context, most left unused", value=max(unused), goal=MOST_UNUSED, note=note),
        Figure(
            name="context, citations unresolved",
            value=sum(pack["unresolved"] for pack in packs),
            goal=0,
            note=f"of {sum(pack['excerpts'] for pack in packs):,}",
        ),
        Figure(name="context, a pack", value=statistics.median(pack["ms"] for pack in packs), unit="ms"),
    ]


def main() -> None:
    """Be the process that packs."""
    # Imported here, because whoever measures memory must stay small.
    from searchkit import Engine

    with Engine(sys.argv[1]) as engine:
        packs = [told for words, filters in _questions(engine) if (told := _packed(engine, words, filters))]
    print(json.dumps({"packs": packs[:QUERIES]}))


def _questions(engine: "Engine") -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Return questions of every kind, then what sessions are called."""
    from measure.questions import chosen

    several = [(question.words, question.filters) for question in chosen(engine)]
    titles = [session.title.split()[:TITLE_WORDS] for session in engine.sessions() if session.title]
    return [*several, *((" ".join(title), ()) for title in titles[: 2 * QUERIES])]


def _packed(engine: "Engine", words: str, filters: tuple[tuple[str, str], ...]) -> dict[str, Any] | None:
    """Pack once as asked for and once with twice the room; None where nothing is found."""
    from searchkit.context.markdown import markdown
    from searchkit.text.tokens import count

    began = time.perf_counter()
    pack = engine.context(words, MAX_TOKENS, filters=filters)
    took = time.perf_counter() - began
    if not pack.excerpts:
        return None
    homes = [one.shown.stored for one in pack.excerpts]
    shown = [engine.show(stored.part.uuid).session for stored in homes]
    told = [session.id if session else None for session in shown]
    return {
        "tokens": count(markdown(pack)),
        "excerpts": len(pack.excerpts),
        "is_enough": engine.context(words, 2 * MAX_TOKENS, filters=filters).tokens >= MAX_TOKENS,
        "unresolved": sum(stored.link.places[0].session != home for stored, home in zip(homes, told, strict=True)),
        "ms": took * 1000,
    }


if __name__ == "__main__":
    main()
