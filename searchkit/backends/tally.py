"""Adds up figures, for every backend: what was counted in which session, under which label."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from searchkit.types import Figures


def tally(counted: Iterable[tuple[str, object, Mapping[str, float]]]) -> dict[str, Figures]:
    """Add up what comes as label, session and numbers; a session counts once for each label."""
    sessions: dict[str, set[object]] = defaultdict(set)
    numbers: dict[str, dict[str, float]] = defaultdict(dict)
    for label, session, more in counted:
        sessions[label].add(session)
        for name, number in more.items():
            numbers[label][name] = numbers[label].get(name, 0) + number
    return {label: msgspec.convert({**numbers[label], "sessions": len(sessions[label])}, Figures) for label in sessions}
