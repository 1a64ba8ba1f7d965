"""Sizes and ages as people read them."""

import pytest

from searchkit.render.plain import age, count, one_line, safe, size, stamp


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 B"), (999, "999 B"), (1_500, "1.5 kB"), (2_000_000, "2.0 MB"), (3.2e12, "3.2 TB")]
)
def test_sizes(number: float, shown: str) -> None:
    """Bytes have a unit that keeps the number short."""
    assert shown == size(number)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(5, "just now"), (120, "2 min ago"), (7_200, "2 h ago"), (172_800, "2 d ago"), (7e7, "2 y ago")],
)
def test_ages(seconds: float, shown: str) -> None:
    """How long ago something was is told in the largest unit that fits."""
    assert shown == age(1_000_000_000, 1_000_000 + seconds)


def test_counts_and_stamps() -> None:
    """One thing is one thing, and a time is written as transcripts write it."""
    assert ("1 file", "2,000 files") == (count(1, "file"), count(2_000, "file"))
    assert "2026-03-01T10:00:00.000Z" == stamp(1_772_359_200_000)


def test_what_commands_a_terminal_is_left_out() -> None:
    """Escape, carriage return and bidirectional characters go; line ends and tabs stay."""
    assert "a[31mb\nc\td" == safe("a\x1b[31mb\r\nc\t\u202ed")
    assert "a b" == one_line("a\r\n\n  b")
