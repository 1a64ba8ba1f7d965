"""Packs what another agent should know into a budget of tokens, of which it never takes more."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import count, takewhile

import msgspec

from searchkit.backends.base import Backend
from searchkit.context import markdown
from searchkit.context.select import choose, excerpt, whole
from searchkit.context.types import Excerpt, Pack
from searchkit.errors import TooFewTokens
from searchkit.search.types import Answer
from searchkit.text import tokens

# Allots a budget to passages in their order: the best gets a good size and the others a fair one, then they grow.

# Every passage begins with so many characters, or whole; none grows before there is no room for another.
FAIR_SIZE = 480
# The best one begins with more where there is room: of 100 labelled questions over real transcripts it answers 64.
FIRST_SIZE = 3 * FAIR_SIZE
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

    def begins(number: int) -> bool:
        is_first = number == 0 and grows(number, min(FIRST_SIZE, wholes[number]))
        return is_first or grows(number, min(FAIR_SIZE, wholes[number]))

    begun = list(takewhile(begins, range(len(wholes))))
    for size in takewhile(lambda size: size < 2 * max(wholes), (FAIR_SIZE << times for times in count(1))):
        for number in begun:
            if sizes[number] < min(size, wholes[number]):
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
# And where nothing is sure to answer, up to so many, which leaves no room for what stands beside them.
UNSURE_SIZE = 300
# And of the budget they may take this share.
UNSURE_SHARE = 0.5


def pack(backend: Backend, answer: Answer, max_tokens: int) -> Pack:
    """Quote the best passages, as many and as much of each as the budget holds, and say what was done around them.

    Where nothing is sure to answer, a few of the nearest passages are quoted shortly; where nothing is near, none.
    """
    candidates, is_sure = choose(backend, answer)
    if not candidates:
        return Pack(answer=msgspec.structs.replace(answer, results=()), max_tokens=max_tokens, is_sure=False)
    empty = Pack(answer=answer, max_tokens=max_tokens, is_sure=is_sure)
    whole_room = room = max_tokens - tokens.count(markdown.markdown(empty))
    most = max(LEAST_SIZE, room * MOST_CHARACTERS) if empty.is_sure else UNSURE_SIZE
    wholes = [min(whole(candidate), most) for candidate in candidates]

    @cache
    def cost(number: int, size: int) -> int:
        return _cost(excerpt(candidates[number], number + 1, size))

    if not empty.is_sure:
        room = max(int(room * UNSURE_SHARE), min(room, cost(0, LEAST_SIZE)))
    sizes = allot(cost, wholes, room)
    if not any(sizes):
        raise TooFewTokens(max_tokens, max_tokens - whole_room + cost(0, LEAST_SIZE))
    quoted = [(candidate, size) for candidate, size in zip(candidates, sizes, strict=True) if size]
    excerpts = [excerpt(candidate, number, size) for number, (candidate, size) in enumerate(quoted, 1)]
    packed = msgspec.structs.replace(empty, excerpts=excerpts)
    return msgspec.structs.replace(packed, tokens=tokens.count(markdown.markdown(packed)))


def _cost(one: Excerpt) -> int:
    """Count an excerpt as if its transcript were gone, so that it is the same before and after."""
    gone = msgspec.structs.replace(one.session, is_gone=True) if one.session else None
    return tokens.count("\n\n" + markdown.excerpt(msgspec.structs.replace(one, session=gone)))
