"""Quotes a passage and the steps of its turn at a size in characters."""

from collections.abc import Iterator

from searchkit.backends.base import TYPED
from searchkit.context.types import Candidate, Excerpt, Place, Quotation
from searchkit.conversation.types import Folded, Said
from searchkit.search.snippets import stretch, stretch_and_end
from searchkit.types import Kind, Role

# From which size on what is quoted: where there is little room, the passage comes first, then what was asked.
SIZES = {Place.PASSAGE: 0, Place.QUESTION: 160, Place.OUTCOME: 240, Place.BESIDE: 320}
# What grows until it is whole.
GROWING = frozenset({Place.PASSAGE, Place.OUTCOME})
# Of what stands around a passage, for each character of its own.
SHARE_AROUND = 0.5
# What was asked is quoted at this length at most: people paste logs into prompts, and it says first what it is about.
MOST_ASKED = 300
# What is neither asked nor said in the end, such as the call that printed a passage, likewise.
MOST_BESIDE = 1_000


def excerpt(candidate: Candidate, number: int, size: int) -> Excerpt:
    """Quote at most `size` characters of a passage, and less of everything else."""
    rooms = {place: int(size * share) for place, share in _shares(candidate).items()}
    rooms[Place.QUESTION] = min(rooms[Place.QUESTION], MOST_ASKED)
    rooms[Place.BESIDE] = min(rooms[Place.BESIDE], MOST_BESIDE)
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
    """Return the size from which on nothing is cut but what was asked and what stands beside the passage."""
    shares = _shares(candidate)
    said = [(entry, place) for entry, place in _placed(candidate) if isinstance(entry, Said) and place in GROWING]
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
