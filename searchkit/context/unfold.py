"""Unfolds the steps of a turn, those next to its passage first."""

from collections.abc import Mapping

from msgspec.structs import replace

from searchkit.backends.base import Step, Stored
from searchkit.context.types import Candidate, Marks
from searchkit.conversation.fixes import CHANGING
from searchkit.conversation.types import Folded, Said
from searchkit.types import Kind

# Further away than this the steps of a turn say little about a passage.
MOST_STEPS = 30
# Tools whose results only say that it was done.
_SILENT = CHANGING | {"TodoWrite"}


def nearest(candidate: Candidate) -> list[int]:
    """Return the keys of the steps that are folded, the nearest to the passage first."""
    flat = _flat(candidate)
    hit = next(number for number, one in enumerate(flat) if isinstance(one, Said) and one.is_hit)
    near = sorted(range(len(flat)), key=lambda number: (abs(number - hit), number))
    steps = [one for one in (flat[number] for number in near) if isinstance(one, Step)]
    return [step.key for step in steps if not _says_nothing(step)][:MOST_STEPS]


def unfolded(candidate: Candidate, texts: Mapping[int, Stored], marks: Marks) -> Candidate:
    """Let a turn say in full what there is a text for; the other steps stay folded."""
    turn: list[Said | Folded] = []
    between: list[Step] = []
    for one in _flat(candidate):
        if isinstance(one, Step) and one.key not in texts:
            between.append(one)
            continue
        turn += [Folded(steps=between)] if between else []
        between = []
        turn.append(one if isinstance(one, Said) else Said(stored=texts[one.key]))
    turn += [Folded(steps=between)] if between else []
    return replace(candidate, turn=turn, marks={**candidate.marks, **marks})


def _flat(candidate: Candidate) -> list[Said | Step]:
    return [one for entry in candidate.turn for one in (entry.steps if isinstance(entry, Folded) else [entry])]


def _says_nothing(step: Step) -> bool:
    return step.kind is Kind.TOOL_RESULT and step.tool in _SILENT and not step.is_error
