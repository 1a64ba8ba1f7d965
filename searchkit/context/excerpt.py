"""Quotes a passage and the steps of its turn at a size in characters."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from searchkit.backends.base import TYPED, Step, Stored
from searchkit.context.types import Candidate, Excerpt, Marks, Place, Quotation
from searchkit.conversation.types import Folded, Said
from searchkit.search.snippets import stretch, stretch_and_end
from searchkit.sources.tools import only_acknowledges
from searchkit.types import Kind, Role

# From which size on what is quoted: where there is little room, the passage comes first, then what was asked.
SIZES = {Place.PASSAGE: 0, Place.QUESTION: 160, Place.OUTCOME: 240, Place.BESIDE: 320}
# Of what stands around a passage, for each character of its own.
SHARE_AROUND = 0.5
# What is neither asked nor said in the end, such as the call that printed a passage, is quoted at this length at most.
MOST_BESIDE = 1_000


def excerpt(candidate: Candidate, number: int, size: int, most_beside: int = MOST_BESIDE) -> Excerpt:
    """Quote at most `size` characters of a passage, and less of everything else."""
    rooms = {place: int(size * share) for place, share in _shares(candidate).items()}
    rooms[Place.BESIDE] = min(rooms[Place.BESIDE], most_beside)
    return Excerpt(
        number=number,
        shown=candidate.shown,
        session=candidate.session,
        entries=[
            one if isinstance(one, Folded) else _quotation(one, place, candidate, rooms[place])
            for one, place in _placed(candidate)
            if size >= SIZES[place]
        ],
        files=candidate.files,
    )


def whole(candidate: Candidate) -> int:
    """Return the size from which on nothing is cut but what stands beside the passage."""
    shares = _shares(candidate)
    said = [(entry, place) for entry, place in _placed(candidate) if isinstance(entry, Said)]
    return max(*SIZES.values(), int(max(len(one.stored.part.text) / shares[place] for one, place in said)) + 1)


def _shares(candidate: Candidate) -> dict[Place, float]:
    """Return what each quotation may have of a size; what was asked says less than what was answered."""
    shares = {place: 1.0 if place is Place.PASSAGE else SHARE_AROUND for place in Place}
    if candidate.answer and candidate.shown.kind in TYPED:
        shares[Place.PASSAGE], shares[Place.OUTCOME] = SHARE_AROUND, 1.0
    return shares


def _placed(candidate: Candidate) -> Iterator[tuple[Said | Folded, Place]]:
    """Say what each entry of a turn is to its passage."""
    turn = candidate.turn
    hit = next(number for number, entry in enumerate(turn) if isinstance(entry, Said) and entry.is_hit)
    texts = [number for number, entry in enumerate(turn) if isinstance(entry, Said) and _is_text(entry)]
    answers = {number for number in texts if _is_answer(turn[number], candidate)} | set(texts[-1:])
    for number, entry in enumerate(turn):
        if number == hit:
            yield entry, Place.PASSAGE
        elif number < hit and isinstance(entry, Said) and _is_typed(entry):
            yield entry, Place.QUESTION
        elif number > hit and number in answers:
            yield entry, Place.OUTCOME
        else:
            yield entry, Place.BESIDE


def _is_answer(entry: Said | Folded, candidate: Candidate) -> bool:
    return isinstance(entry, Said) and entry.stored.id == candidate.answer


def _is_text(said: Said) -> bool:
    return said.stored.part.kind is Kind.TEXT


def _is_typed(said: Said) -> bool:
    return said.stored.part.role is Role.USER and said.stored.part.kind in TYPED


def _quotation(said: Said, place: Place, candidate: Candidate, room: int) -> Quotation:
    # A question says first what it is about, a text in the end what came of it.
    marks = candidate.marks.get(said.stored.id, ()) if place is not Place.QUESTION else ()
    cut = stretch_and_end if _is_text(said) else stretch
    return Quotation(place=place, stored=said.stored, text=cut(said.stored.part.text, marks, room))


# Unfolds the steps of a turn, those next to its passage first.

# Further away than this the steps of a turn say little about a passage.
MOST_STEPS = 30


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
    return step.kind is Kind.TOOL_RESULT and only_acknowledges(step.tool) and not step.is_error
