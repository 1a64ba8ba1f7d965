"""Sizes, times and ages as people read them."""

import time
from datetime import UTC, datetime

import pytest

from searchkit.text.format import NO_DATE, age, count, day, last_part, lasting, size, stamp
from searchkit.text.sanitize import one_line, safe

# The first and the last moment of the calendar, in milliseconds.
FIRST = int(datetime.min.replace(tzinfo=UTC).timestamp() * 1000)
LAST = int(datetime.max.replace(tzinfo=UTC, microsecond=0).timestamp() * 1000)


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


@pytest.mark.parametrize(
    ("zone", "milliseconds", "shown"),
    [
        ("America/New_York", FIRST, NO_DATE),
        ("Pacific/Kiritimati", LAST, NO_DATE),
        ("UTC", LAST, "9999-12-31"),
        ("UTC", LAST + 1_000, NO_DATE),
        ("UTC", 10**18, NO_DATE),
        ("UTC", -(10**18), NO_DATE),
        ("UTC", None, NO_DATE),
    ],
)
def test_ends_of_the_calendar(monkeypatch: pytest.MonkeyPatch, zone: str, milliseconds: int | None, shown: str) -> None:
    """A time that is outside the calendar in the user's zone is no date, and no error."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()

    try:
        written = day(milliseconds)
    finally:
        monkeypatch.undo()
        time.tzset()

    assert shown == written
    assert (stamp(milliseconds) is None) == (milliseconds is None or not FIRST <= milliseconds <= LAST)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, ""), (-5, ""), (59, ""), (60, "1 min"), (3_599, "59 min"), (7_300, "2 h"), (200_000, "2 d")],
)
def test_how_long_something_lasted(seconds: int | None, shown: str) -> None:
    """Less than a minute is not worth telling."""
    assert shown == lasting(1_000_000, None if seconds is None else 1_000_000 + seconds * 1000)


@pytest.mark.parametrize(
    ("path", "shown"),
    [("/a/shop", "shop"), ("/a/shop/", "shop"), (r"C:\src\shop", "shop"), ("/", "/"), ("shop", "shop")],
)
def test_last_part_of_a_path(path: str, shown: str) -> None:
    """A project goes by the last part of its path."""
    assert shown == last_part(path)


def test_what_commands_a_terminal_is_left_out() -> None:
    """Escape, carriage return and bidirectional characters go; line ends and tabs stay."""
    assert "a[31mb\nc\td" == safe("a\x1b[31mb\r\nc\t\u202ed")
    assert "a b" == one_line("a\r\n\n  b")
