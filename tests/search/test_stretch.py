"""Cutting a text to whole lines."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkit.search.snippets import LEAST_LEFT_OUT, stretch

LINES = "\n".join(f"line {number:03}" for number in range(200))
_LEFT_OUT = re.compile(r"\[\.\.\. ([\d,]+) characters left out \.\.\.\]")


def test_short_text_stays_whole() -> None:
    """What fits, or hardly does not, is not cut."""
    assert LINES == stretch(LINES, (), len(LINES) - LEAST_LEFT_OUT)


def test_first_lines_are_cut_where_nothing_is_marked() -> None:
    """A text is cut after a line, and says how much of it is missing."""
    assert "line 000\nline 001\nline 002\n[... 1,773 characters left out ...]" == stretch(LINES, (), 30)


def test_lines_around_a_mark_are_cut() -> None:
    """What was found is in the stretch, between whole lines, and both sides say what they miss."""
    start = LINES.index("line 100")

    cut = stretch(LINES, [(start, start + 8)], 100).splitlines()

    assert "line 100" in cut
    assert all(len(line) == len("line 000") for line in cut[1:-1])
    assert "[... 882 characters left out ...]" == cut[0]
    assert _LEFT_OUT.fullmatch(cut[-1])


@pytest.mark.parametrize("text", ["word " * 100, "x" * 500], ids=["words", "one word"])
def test_long_line_is_cut_within(text: str) -> None:
    """A line that is longer than the room is cut between words where it has some."""
    cut = stretch(text, (), 100).splitlines()

    assert 2 == len(cut)
    assert text.startswith(cut[0])
    assert 70 <= len(cut[0]) <= 100


@given(st.text(alphabet="ab \n", max_size=600), st.integers(0, 599), st.integers(1, 20), st.integers(20, 300))
def test_nothing_is_lost_silently(text: str, at: int, length: int, size: int) -> None:
    """What is shown and what is said to be left out are together the whole text."""
    marks = [(at, min(len(text), at + length))] if at < len(text) else []

    cut = stretch(text, marks, size)

    left_out = sum(int(number.replace(",", "")) for number in _LEFT_OUT.findall(cut))
    shown = re.sub(r"^\[.*\]\n|\n\[.*\]$", "", cut)
    assert shown in text
    assert len(text) == len(shown) + left_out
    assert len(shown) <= size + LEAST_LEFT_OUT
