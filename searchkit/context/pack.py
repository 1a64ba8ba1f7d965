"""Packs what another agent should know into a budget of tokens, of which it never takes more."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import count, takewhile

import msgspec

from searchkit.backends.base import Backend, Stored
from searchkit.context import markdown
from searchkit.context.select import MOST_BESIDE, SHARE_AROUND, choose, excerpt, nearest, unfolded, whole
from searchkit.context.types import Candidate, Excerpt, Pack
from searchkit.errors import TooFewTokens
from searchkit.query.types import Query
from searchkit.search.types import Answer
from searchkit.sources.tools import changes_files
from searchkit.text import tokens
from searchkit.types import Kind

# Allots a budget to passages in their order: all get a fair size first, then the first ones grow before the others.


# Every passage begins with so many characters, or whole; none grows before there is no room for another.
FAIR_SIZE = 480
# The first passage may have less where there is little room, down to this; with even less it would say nothing.
LEAST_SIZE = 120
# Others are not begun below this.
LEAST_OTHERS = 240
# Fewer tokens than this are left unused: to find out who could have them takes longer than they are worth.
LEAST_GAIN = 20

# What a passage costs, by its number, at a size.
Cost = Callable[[int, int], int]


def allot(cost: Cost, wholes: Sequence[int], room: int) -> list[int]:
    """Return a size for each passage, 0 where there is no room for it; from its `whole` on none can grow.

    Together they cost no more than there is room for, whatever a cost does as sizes grow.
    """
    sizes, costs = [0] * len(wholes), [0] * len(wholes)

    def left(number: int) -> int:
        return room - sum(costs) + costs[number]

    def grows(number: int, size: int) -> bool:
        wanted = cost(number, size)
        if wanted > left(number):
            return False
        sizes[number], costs[number] = size, wanted
        return True

    begun = list(takewhile(lambda number: grows(number, min(FAIR_SIZE, wholes[number])), range(len(wholes))))
    for size in takewhile(lambda size: size < 2 * max(wholes), (FAIR_SIZE << times for times in count(1))):
        for number in begun:
            if sizes[number] < wholes[number]:
                grows(number, min(size, wholes[number]))
    for number, entire in enumerate(wholes):
        steps = range(max(sizes[number], LEAST_OTHERS if number else LEAST_SIZE), entire + 1)
        is_worthwhile = steps and room - sum(costs) >= LEAST_GAIN and cost(number, steps[0]) <= left(number)
        if is_worthwhile and (fitting := bisect_right(steps, left(number), key=partial(cost, number))):
            grows(number, steps[fitting - 1])
        if not sizes[0]:
            # Without the best passage the others would mislead.
            break
    return sizes


# Passages are tried up to so many characters for each token there is room for; prose has four.
MOST_CHARACTERS = 10
# Steps are unfolded while more than this share of the budget is left: a guess, in less there is room for few.
WORTH_UNFOLDING = 0.05


def pack(backend: Backend, answer: Answer, max_tokens: int) -> Pack:
    """Quote the best passages, as many and as much of each as the budget holds, and what was done around them."""
    empty = Pack(answer=answer, max_tokens=max_tokens)
    candidates = choose(backend, answer)
    if not candidates:
        return empty
    room = max_tokens - tokens.count(markdown.markdown(empty))
    wholes = [min(whole(candidate), max(LEAST_SIZE, room * MOST_CHARACTERS)) for candidate in candidates]

    @cache
    def cost(number: int, size: int) -> int:
        return _cost(excerpt(candidates[number], number + 1, size))

    sizes = allot(cost, wholes, room)
    if not any(sizes):
        raise TooFewTokens(max_tokens, max_tokens - room + cost(0, LEAST_SIZE))
    quoted = [(candidate, size) for candidate, size in zip(candidates, sizes, strict=True) if size]
    packed = Pack(answer=answer, max_tokens=max_tokens, excerpts=list(_deepened(backend, answer.query, quoted, room)))
    return msgspec.structs.replace(packed, tokens=tokens.count(markdown.markdown(packed)))


def _deepened(backend: Backend, query: Query, quoted: Sequence[tuple[Candidate, int]], room: int) -> Iterator[Excerpt]:
    """Quote each passage at its size and, with what room is left, the steps next to it, the first passages first."""
    excerpts = [excerpt(candidate, number, size) for number, (candidate, size) in enumerate(quoted, 1)]
    left = room - sum(map(_cost, excerpts))
    for one, (candidate, size) in zip(excerpts, quoted, strict=True):
        best, spent = one, _cost(one)
        keys = nearest(candidate) if left > WORTH_UNFOLDING * room else []
        for key, stored, marks in _related(backend, query, keys):
            deeper = unfolded(candidate, {key: stored}, {stored.id: marks})
            tried = excerpt(deeper, one.number, max(size, int(MOST_BESIDE / SHARE_AROUND)))
            if (cost := _cost(tried)) <= spent + left:
                candidate, best, left, spent = deeper, tried, left - (cost - spent), cost
        yield best


def _related(
    backend: Backend, query: Query, keys: Sequence[int]
) -> list[tuple[int, Stored, Sequence[tuple[int, int]]]]:
    """Fetch texts and changes of files among steps, and what holds a word that was asked for, a call with its result.

    Room that is left is no reason to quote anything else.
    """
    read = [(key, stored) for key, stored in zip(keys, backend.catalog.stored(keys), strict=True) if stored]
    found = [(key, stored, backend.words.highlight(query, stored.part.text)) for key, stored in read]
    calls = {stored.part.call for _, stored, marks in found if marks} - {None}
    return [
        (key, stored, marks)
        for key, stored, marks in found
        if marks or stored.part.call in calls or _says_what_was_done(stored)
    ]


def _says_what_was_done(stored: Stored) -> bool:
    kind, tool = stored.part.kind, stored.part.tool
    return kind is Kind.TEXT or (kind is Kind.TOOL_CALL and changes_files(tool))


def _cost(one: Excerpt) -> int:
    """Count an excerpt as if its transcript were gone, so that it is the same before and after."""
    gone = msgspec.structs.replace(one.session, is_gone=True) if one.session else None
    return tokens.count("\n\n" + markdown.excerpt(msgspec.structs.replace(one, session=gone)))
