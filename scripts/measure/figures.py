"""What measuring yields: figures, the table they are printed as, and the words said meanwhile."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number; a goal is the most that it should be."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None
    note: str = ""


def table(figures: Iterable[Figure]) -> Iterable[str]:
    """Yield a line for each figure."""
    for figure in figures:
        goal = (
            "" if figure.goal is None else f"goal {figure.goal:g}: {'met' if figure.value <= figure.goal else 'MISSED'}"
        )
        shown = f"{figure.value:,.0f}" if figure.value >= 100 or figure.value == 0 else f"{figure.value:.2f}"
        yield f"{figure.name:36}{shown:>12} {figure.unit:3} {goal:20} {figure.note}".rstrip()


def say(words: str) -> None:
    """Tell whoever waits what is being measured now."""
    print(f"bench: {words}", file=sys.stderr, flush=True)
