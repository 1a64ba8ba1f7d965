"""Sharing a budget out among passages."""

from hypothesis import given
from hypothesis import strategies as st

from searchkit.context.pack import FAIR_SIZE, FIRST_SIZE, LEAST_SIZE, allot

CITATION = 100


def cost(number: int, size: int) -> int:
    """Cost a token for each character, and what it takes to cite the passage."""
    return CITATION + size


def test_best_passage_has_more_and_others_a_fair_size_before_one_grows() -> None:
    """With room for the best passage and two others, they have it."""
    room = cost(0, FIRST_SIZE) + 2 * cost(1, FAIR_SIZE)

    assert [FIRST_SIZE, FAIR_SIZE, FAIR_SIZE, 0] == allot(cost, [10_000] * 4, room)


def test_best_passage_has_a_fair_size_where_there_is_no_room_for_more() -> None:
    """Then it grows with what does not suffice for another passage."""
    room = 2 * cost(0, FAIR_SIZE) + 60

    assert [FAIR_SIZE + 60, FAIR_SIZE] == allot(cost, [10_000] * 2, room)


def test_no_passage_grows_beyond_its_end() -> None:
    """Where there is more room than text, all are whole."""
    assert [300, 5_000, 700] == allot(cost, [300, 5_000, 700], 1_000_000)


def test_best_passage_is_there_or_none() -> None:
    """Little room is for the best passage alone, too little for nothing."""
    least = cost(0, LEAST_SIZE)

    assert [LEAST_SIZE, 0] == allot(cost, [1_000, 200], least)
    assert [0, 0] == allot(cost, [1_000, 10], least - 1)


@given(
    st.lists(st.integers(1, 20_000), min_size=1, max_size=12),
    st.integers(0, 30_000),
    st.lists(st.integers(0, 400), min_size=7, max_size=7),
)
def test_budget_is_never_exceeded(wholes: list[int], room: int, jumps: list[int]) -> None:
    """Whatever passages cost, even where a larger size costs less, all sizes together fit."""

    def erratic(number: int, size: int) -> int:
        return CITATION + size // 4 + jumps[(size * 31 + number) % len(jumps)]

    sizes = allot(erratic, wholes, room)

    assert sum(erratic(number, size) for number, size in enumerate(sizes) if size) <= room
    assert all(size <= max(whole, LEAST_SIZE) for size, whole in zip(sizes, wholes, strict=True))
