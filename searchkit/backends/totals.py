"""Adds up figures, for every backend: what was counted, under the labels of any grouping."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

import msgspec

from searchkit.types import Figures, Grouping

# What a client counted for a session as a whole; none of it happened then and there.
_MONEY = frozenset({"cost", "estimated", "api_ms", "api_output"})


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the numbers of `Figures`, and of what they are; a day is one of the user's time zone."""

    numbers: Mapping[str, float]
    session: str | int | None
    day: str | None = None
    project: str | None = None
    model: str | None = None
    tool: str | None = None
    file: str | None = None
    # Whether the prompts of these responses were long ones, which may have another price.
    is_long: bool = False


def tally(
    counted: Iterable[Counted], groupings: Sequence[Grouping], meant: int | None
) -> dict[Grouping, dict[str, Figures]]:
    """Add up what was counted; a session counts once for each label.

    In all there are as many sessions as are meant, also those without a message, unless a time is meant: then it
    is those in which something was counted.
    """
    sessions: dict[tuple[Grouping, str], set[object]] = defaultdict(set)
    sums: dict[tuple[Grouping, str], dict[str, float]] = defaultdict(dict)
    for one in counted:
        for by in groupings:
            if _concerns(one, by):
                key = by, _label(one, by) or ""
                if not one.numbers.keys() <= _MONEY:
                    sessions[key].add(one.session)
                numbers = sums[key]
                for name, number in one.numbers.items():
                    numbers[name] = numbers.get(name, 0) + number
    figures: dict[Grouping, dict[str, Figures]] = {by: {} for by in groupings}
    for (by, label), numbers in sums.items():
        is_known = by is Grouping.TOTAL and meant is not None
        held = {**numbers, "sessions": meant if is_known else len(sessions[by, label])}
        figures[by][label] = msgspec.convert(held, Figures)
    return figures


def _concerns(one: Counted, by: Grouping) -> bool:
    """Say whether something can have a label: prompts have no model, only calls have a tool.

    What was done to a file was counted as a call already.
    """
    if one.file is not None or by is Grouping.FILE:
        return one.file is not None and by is Grouping.FILE
    if by is Grouping.MODEL:
        # Of some of what a client counted, such as the time, it does not say which model it was.
        return "prompts" not in one.numbers and (one.model is not None or not one.numbers.keys() <= _MONEY)
    return by is not Grouping.TOOL or "calls" in one.numbers


def _label(one: Counted, by: Grouping) -> str | None:
    match by:
        case Grouping.DAY:
            return one.day
        case Grouping.WEEK:
            return _monday(one.day) if one.day else None
        case Grouping.MONTH:
            return one.day[:7] if one.day else None
        case Grouping.PROJECT:
            return one.project
        case Grouping.MODEL:
            return one.model
        case Grouping.TOOL:
            return one.tool
        case Grouping.FILE:
            return one.file
        case Grouping.TOTAL:
            return None


def _monday(day: str) -> str:
    """Name a week by its Monday."""
    there = date.fromisoformat(day)
    return str(there - timedelta(days=there.weekday()))
