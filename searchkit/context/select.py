"""Chooses which passages of an answer are worth another agent's tokens, the best first, none of them twice."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial

from msgspec.structs import replace

from searchkit.backends.base import TYPED, Backend, Step, Stored
from searchkit.context.markdown import PREAMBLE
from searchkit.context.types import Candidate, Excerpt, Marks, Place, Quotation
from searchkit.conversation import turns as window
from searchkit.conversation.types import Folded, Said
from searchkit.query.types import Query
from searchkit.search.snippets import answering, answers_itself, stretch, stretch_and_end
from searchkit.search.types import Answer, Result, Shown
from searchkit.sources.tools import only_acknowledges
from searchkit.types import Kind, Role

# Runs of so many words are compared: shorter ones recur in texts that have nothing to do with each other.
RUN = 5
# A text of which this share was said before is taken for a repetition.
REPEATED_SHARE = 0.8
# In scripts without spaces each character is a word.
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\\W\\d_]+|\\d+")

Runs = Set[tuple[str, ...]]


def runs(text: str) -> Runs:
    """Return all runs of words in a text, without case, and with all numbers alike; a short text is one run."""
    words = ["0" if word.isdigit() else word for word in _WORD.findall(text.casefold())]
    last = max(0, len(words) - RUN)
    return {tuple(words[first : first + RUN]) for first in range(last + 1)}


def is_repetition(text: Runs, before: Runs) -> bool:
    """Say whether most of a text was said before."""
    return len(text & before) >= REPEATED_SHARE * len(text)


# Chooses which passages of an answer are worth another agent's while, the most useful first, none of them twice.

# Of the best score. Over ten questions to the sample, four sessions scored between 0.3 and 0.4 of it, none of which
# had to do with the question, and five between 0.4 and 0.5, of which three had.
LEAST_SHARE = 0.4
# Another passage of a session that is quoted already has to be better than one of a new session by this
# much: a guess, so that a pack draws on several.
AGAIN = 0.8
# Two texts are compared by so much of each around what was found.
COMPARED_CHARACTERS = 1_200
# A pack that was printed in an earlier session, of which only the originals are of use.
_PACKED = PREAMBLE.partition("\n")[0]


def choose(backend: Backend, answer: Answer) -> list[Candidate]:
    """Return the passages to quote; those of one turn are one candidate, those of one session may stand apart."""
    return list(_new(_candidates(backend, answer.query, _worthy(answer))))


def _worthy(answer: Answer) -> list[tuple[Shown, Result]]:
    """Return the passages that say enough, each with its result, in order."""
    several = [
        (found.ranked.score * AGAIN**again, found, result)
        for result in answer.results
        for again, found in enumerate((result.best, *result.others))
    ]
    several.sort(key=lambda one: (-one[0], one[1].stored.id))
    least = LEAST_SHARE * max((found.ranked.score for _, found, _ in several), default=0.0)
    return [
        (found, result)
        for _, found, result in several
        if found.ranked.score >= least and _PACKED not in found.stored.part.text
    ]


def _candidates(backend: Backend, query: Query, worthy: Sequence[tuple[Shown, Result]]) -> Iterator[Candidate]:
    """Put the passages into their turns."""
    turns = backend.catalog.turns([found.ranked.hit.key for found, _ in worthy], 0, 0)
    grouped: dict[int, list[tuple[Shown, Result]]] = {}
    for found, result in worthy:
        key = found.ranked.hit.key
        first = next(iter(turns.get(key, ())), None)
        grouped.setdefault(first.key if first else key, []).append((found, result))
    groups = list(grouped.values())
    steps = [turns.get(group[0][0].ranked.hit.key, ()) for group in groups]
    hits = [{found.ranked.hit.key for found, _ in group} for group in groups]
    replies = [
        window.replies(several, group[0][0].ranked.hit.key) for several, group in zip(steps, groups, strict=True)
    ]
    chosen = [window.shown(several, keys) for several, keys in zip(steps, hits, strict=True)]
    wanted = sorted(
        {one.key for entries in chosen for one in entries if isinstance(one, Step)}
        | {key for several in replies for key in several}
    )
    texts = dict(zip(wanted, backend.catalog.stored(wanted), strict=True))
    for several, said_after, keys, ((best, result), *_) in zip(steps, replies, hits, groups, strict=True):
        after = {stored.id: key for key in said_after if (stored := texts[key])}
        replied = [stored for key in said_after if (stored := texts[key])]
        answer = None if answers_itself(best.stored) else answering(replied, partial(backend.words.highlight, query))
        full = keys | ({after[answer.stored.id]} if answer else set())
        turn = _turn(best, window.shown(several, full), texts)
        said = [entry.stored for entry in turn if isinstance(entry, Said)]
        yield Candidate(
            shown=best,
            session=result.session,
            turn=turn,
            marks={stored.id: backend.words.highlight(query, stored.part.text) for stored in said},
            answer=answer.stored.id if answer else None,
            files=list(dict.fromkeys(step.path for step in several if step.path)),
        )


def _turn(best: Shown, chosen: Sequence[Step | Folded], texts: Mapping[int, Stored | None]) -> Sequence[Said | Folded]:
    """Let a turn speak, with the best of its passages as the hit."""
    entries = window.entries(chosen, {best.ranked.hit.key}, texts)
    turn = [entry for entry in entries if isinstance(entry, Said | Folded)]
    # What belongs to no conversation, such as a plan, is in no turn.
    is_there = any(isinstance(entry, Said) and entry.is_hit for entry in turn)
    return turn if is_there else [Said(stored=best.stored, is_hit=True)]


def _new(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Leave out what repeats a passage, or what is quoted with one."""
    before: set[tuple[str, ...]] = set()
    for candidate in candidates:
        stored = candidate.shown.stored
        passage = runs(stretch(stored.part.text, candidate.marks[stored.id], COMPARED_CHARACTERS))
        if is_repetition(passage, before):
            continue
        yield candidate
        before |= passage
        for entry in candidate.turn:
            if isinstance(entry, Said) and not entry.is_hit:
                before |= runs(stretch(entry.stored.part.text, (), COMPARED_CHARACTERS))


# Quotes a passage and the steps of its turn at a size in characters.


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
