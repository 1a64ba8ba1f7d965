"""Chooses which passages of an answer are worth another agent's tokens, the best first, none of them twice."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

from searchkit.backends.base import TYPED, Backend, Step, Stored
from searchkit.context.markdown import PREAMBLE
from searchkit.context.types import Candidate, Excerpt, Place, Quotation
from searchkit.conversation import turns as window
from searchkit.conversation.types import Folded, Said
from searchkit.query.types import Clause, Query, Term
from searchkit.search.semantic import means_words
from searchkit.search.snippets import answering, answers_itself, stretch, stretch_and_end
from searchkit.search.types import Answer, Result, Shown
from searchkit.search.weights import RECIPE
from searchkit.text.analysis import STOP_WORDS, words
from searchkit.text.language import is_in_english, word_count
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

# A passage is quoted that has this share of the best score, or that is good whatever the best one is. Of 100 labelled
# questions over real transcripts 77 packs hold 60 % of the words of the answer; with 0.4 there are 76, with 0.75 75.
# It may be of a session that is quoted already: where that counted a fifth less there were 73.
LEAST_SHARE = 0.6
GOOD_SCORE = 0.3
# Scores are absolute. Of ten questions about what occurs nowhere none has a best score of 0.2, of 30 as agents ask them
# none less than 0.35, and of the 100, a third of which share no word with the answer, 14 less than 0.2. Below it so
# many of the nearest passages are quoted, and called that; below 0.14, which none of the 100 has, none is.
SURE_SCORE = 0.2
MOST_UNSURE = 3
MIN_SCORE = 0.14
# Two texts are compared by so much of each around what was found.
COMPARED_CHARACTERS = 1_200
# A pack that was printed in an earlier session, of which only the originals are of use.
_PACKED = PREAMBLE.partition("\n")[0]


class Chosen(NamedTuple):
    """The passages to quote, the best first, and whether the best is sure to be about what was asked."""

    candidates: Sequence[Candidate]
    is_sure: bool


def choose(backend: Backend, answer: Answer) -> Chosen:
    """Choose the passages to quote; those of one turn are one candidate, those of one session may stand apart."""
    worthy = _worthy(answer)
    is_sure = True
    if _is_measured(answer.query):
        is_sure = _worth_of(backend, answer) >= SURE_SCORE
        most = len(worthy) if is_sure else MOST_UNSURE
        worthy = worthy[:most] if _best(answer) >= MIN_SCORE else []
    return Chosen(list(_new(_candidates(backend, answer.query, worthy))), is_sure)


def _worthy(answer: Answer) -> list[tuple[Shown, Result]]:
    """Return the passages that say enough, each with its result, in order."""
    several = [(found, result) for result in answer.results for found in (result.best, *result.others)]
    several.sort(key=lambda one: (-one[0].ranked.score, one[0].stored.id))
    least = min(LEAST_SHARE * _best(answer), GOOD_SCORE)
    return [
        (found, result)
        for found, result in several
        if found.ranked.score >= least and _PACKED not in found.stored.part.text
    ]


def _best(answer: Answer) -> float:
    return max((result.best.ranked.score for result in answer.results), default=0.0)


def _worth_of(backend: Backend, answer: Answer) -> float:
    """Return the best score, as far as it is for the whole question: a word that stands nowhere is in no score."""
    best = _best(answer)
    if not answer.missing:
        return best
    asked = {word for word in words(answer.query.wanted) if word not in STOP_WORDS} | {*answer.missing}
    parts = backend.words.reach().searchable
    held = {word: 0 if word in answer.missing else _count(backend, word) for word in asked}
    rarities = {word: math.log(1 + max(parts - count, 0) / (count + 0.5)) for word, count in held.items()}
    known = sum(rarity for word, rarity in rarities.items() if held[word])
    # Both what BM25 gives and the coverage would have this share.
    return best * (known / (sum(rarities.values()) or 1.0)) ** 2


def _count(backend: Backend, word: str) -> int:
    return backend.words.search(Query(text=word, clauses=(Clause(terms=(Term(text=word),)),)), 1).total


def _is_measured(query: Query) -> bool:
    """Say whether a score tells how well a question is answered: a few words, or exact ones, are meant as such."""
    return is_in_english(query.wanted) and word_count(query.wanted) > RECIPE.few_words and not means_words(query)


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
