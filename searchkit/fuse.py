"""One ranking out of what holds the words of a question and what is near to its meaning.

Both scales are absolute, so that they may be added: a poor best hit of one channel cannot outrank a
good one of the other. Every step was measured on labelled questions; ARCHITECTURE.md has the table.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from searchkit.backends.base import Hit
from searchkit.results import Ranked
from searchkit.support import supported
from searchkit.types import Kind

# How much meaning counts beside words. Flat between 0.25 and 0.45.
MEANING = 0.3
# In a question that holds a name, a path or a quotation, the words are what was meant.
MEANING_OF_NAMES = 0.1
# In a script that the default model was not trained on.
MEANING_OF_UNKNOWN_SCRIPTS = 0.05
# What the meaning of a kind counts times; of others as it is.
KIND_WEIGHTS = {Kind.TOOL_CALL: 0.85, Kind.PROMPT: 0.95}
AGENT_PROMPT_WEIGHT = 0.8
# A result means at least this share of what its call means.
OF_CALL = 0.8

_NAME = re.compile(r'[_/(){}"]|::|\w\.\w|[a-z][A-Z]')
# From here on no script is one that people write with spaces and few letters.
_FIRST_IDEOGRAPH = "\u2e80"
_FOREIGN_SHARE = 0.2


class Meant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How near a part, or for a result its call, is to a question, and what kind of saying it is."""

    cosine: float
    feature: float = 1.0
    is_of_call: bool = False


def fuse(words: Iterable[Ranked], others: Iterable[Hit], meant: Mapping[int, Meant], weight: float) -> list[Ranked]:
    """Rank what either channel found, best first; of equals the newer comes first."""
    found = {one.hit.key: one for one in words}
    for hit in others:
        found.setdefault(hit.key, Ranked(hit=hit, weight=1.0, own=0.0, score=0.0))
    scored = [_scored(one, meant.get(one.hit.key), weight) for one in found.values()]
    return sorted(supported(scored), key=lambda one: (-one.score, -(one.hit.time or 0), one.hit.key))


def weight_of(question: str) -> float:
    """Say how much meaning counts for a question."""
    foreign = sum(letter >= _FIRST_IDEOGRAPH for letter in question)
    if foreign > _FOREIGN_SHARE * len(question):
        return MEANING_OF_UNKNOWN_SCRIPTS
    return MEANING_OF_NAMES if _NAME.search(question) else MEANING


def meaning(hit: Hit, meant: Meant) -> float:
    """Say how well the meaning of a part answers."""
    cosine = max(meant.cosine, 0.0)
    if meant.is_of_call:
        return OF_CALL * KIND_WEIGHTS[Kind.TOOL_CALL] * cosine
    is_told = hit.is_agents and hit.kind is Kind.PROMPT
    weight = AGENT_PROMPT_WEIGHT if is_told else KIND_WEIGHTS.get(hit.kind, 1.0)
    return cosine * weight * meant.feature


def _scored(one: Ranked, meant: Meant | None, weight: float) -> Ranked:
    means = meaning(one.hit, meant) if meant else 0.0
    own = (1 - weight) * one.own + weight * means
    return msgspec.structs.replace(one, own=own, words=one.own, meaning=means)
