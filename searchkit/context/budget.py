"""Allots a budget to passages in their order: the best gets a good size and the others a fair one, then they grow."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, takewhile

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
    for number, whole in enumerate(wholes):
        steps = range(max(sizes[number], LEAST_OTHERS if number else LEAST_SIZE), whole + 1)
        is_worthwhile = steps and room - sum(costs) >= LEAST_GAIN and cost(number, steps[0]) <= left(number)
        if is_worthwhile and (fitting := bisect_right(steps, left(number), key=partial(cost, number))):
            grows(number, steps[fitting - 1])
        if not sizes[0]:
            # Without the best passage the others would mislead.
            break
    return sizes
