"""Lets a model that reads a question and a text together reorder the first results, beside the ranking there is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from searchkit.search.types import Ranked

if TYPE_CHECKING:
    from searchkit.embed.base import Judge

# Such a model takes as long for each as embedding a text does, and what comes later is seldom right.
FIRST = 30
# How much its verdict counts beside our own score. Where such models decided alone, answers from developers' texts
# got worse by 10 to 27 points, and those from chats better.
WEIGHT = 0.3
# More than such models read.
MOST_CHARACTERS = 2_000


def rerank(ranked: Sequence[Ranked], question: str, texts: Mapping[int, str], judge: "Judge") -> list[Ranked]:
    """Put the hits whose texts are given into the order that both agree on; the others follow as they were."""
    first = [one for one in ranked if one.hit.key in texts]
    if not first:
        return list(ranked)
    verdicts = judge(question, [texts[one.hit.key][:MOST_CHARACTERS] for one in first])
    # On the scale of the best one: a verdict says which is better, not how good our own ranking should find it.
    best = max(one.score for one in first)
    judged = [
        replace(one, judged=verdict, score=(1 - WEIGHT) * one.score + WEIGHT * best * verdict)
        for one, verdict in zip(first, verdicts, strict=True)
    ]
    judged.sort(key=lambda one: -one.score)
    return [*judged, *(one for one in ranked if one.hit.key not in texts)]
