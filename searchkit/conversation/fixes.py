"""The fix: a result that failed, and the next one of the same command or file that did not."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from searchkit.backends.base import Catalog, Step
from searchkit.conversation.types import Fix
from searchkit.sources.tools import SUBJECTS, changes_files
from searchkit.types import Kind, Part

# Of the results of a thread, so many before and after one are looked at: what is mended later is another story.
FAR_RESULTS = 200
MOST_FIXES = 3
# Edits that come along with a fix: what was changed last is what made it pass.
MOST_CHANGES = 3


class Attempt(NamedTuple):
    """A call and its result."""

    call: Step
    result: Step


def fixes(catalog: Catalog, steps: Sequence[Step], near: AbstractSet[int], hits: AbstractSet[int]) -> list[Fix]:
    """Return the pairs of a failing and a passing result of which one is a hit, or the failing one is near it."""
    attempts = attempts_of(steps)
    asked = _asked(attempts, near, hits)
    if not any(one.result.is_error for one in attempts) or not asked:
        return []
    around = attempts[max(0, asked[0] - FAR_RESULTS) : asked[-1] + FAR_RESULTS]
    subjects = subjects_of(catalog, [one.call for one in around])
    wanted = {attempts[number].result.key for number in asked}
    pairs = [pair for pair in _pairs(around, subjects) if any(one.result.key in wanted for one in pair)]
    return list(_fetched(catalog, pairs[:MOST_FIXES], steps))


def lacks(steps: Sequence[Step], near: AbstractSet[int], hits: AbstractSet[int]) -> tuple[bool, bool]:
    """Say whether more steps before and after these could change which fixes there are."""
    attempts = attempts_of(steps)
    asked = _asked(attempts, near, hits)
    if not asked:
        return False, False
    return asked[0] < FAR_RESULTS, len(attempts) - asked[-1] < FAR_RESULTS


def attempts_of(steps: Sequence[Step]) -> list[Attempt]:
    calls = {step.call: step for step in steps if step.kind is Kind.TOOL_CALL and step.call}
    return [Attempt(calls[step.call], step) for step in steps if step.kind is Kind.TOOL_RESULT and step.call in calls]


def _asked(attempts: Sequence[Attempt], near: AbstractSet[int], hits: AbstractSet[int]) -> list[int]:
    """Return the numbers of the attempts that are hits, or failed near them."""
    return [
        number
        for number, one in enumerate(attempts)
        if not hits.isdisjoint({one.call.key, one.result.key}) or (one.result.key in near and one.result.is_error)
    ]


def _pairs(attempts: Sequence[Attempt], subjects: Mapping[int, str]) -> Iterator[tuple[Attempt, Attempt]]:
    """Yield each failing attempt that a passing one of the same subject follows, the last failing one before it."""
    failed: dict[tuple[str | None, str], Attempt] = {}
    for one in attempts:
        subject = (one.call.tool, subjects.get(one.call.key, ""))
        if not subject[1]:
            continue
        if one.result.is_error:
            failed[subject] = one
        elif subject in failed:
            yield failed.pop(subject), one


def subjects_of(catalog: Catalog, calls: Sequence[Step]) -> dict[int, str]:
    """Say of each call what it was about: a file, or what was run."""
    subjects = {call.key: call.path for call in calls if call.path}
    others = [call.key for call in calls if not call.path]
    texts = zip(others, catalog.stored(others), strict=True)
    return subjects | {key: _subject(stored.part) for key, stored in texts if stored is not None}


def _subject(part: Part) -> str:
    values = {field.name: part.text[field.start : field.end] for field in part.fields}
    named = next((values[name] for name in SUBJECTS if name in values), part.text)
    return " ".join(named.split())


def _fetched(catalog: Catalog, pairs: Sequence[tuple[Attempt, Attempt]], steps: Sequence[Step]) -> Iterator[Fix]:
    places = {step.key: number for number, step in enumerate(steps)}
    for failed, passed in pairs:
        keys = (failed.call.key, failed.result.key, passed.call.key, passed.result.key)
        found = [stored for stored in catalog.stored(keys) if stored is not None]
        if len(found) == len(keys):
            between = steps[places[failed.result.key] : places[passed.call.key]]
            edits = [step.key for step in between if step.kind is Kind.TOOL_CALL and changes_files(step.tool)]
            changes = [stored for stored in catalog.stored(edits[-MOST_CHANGES:]) if stored is not None]
            yield Fix(
                edits=len(edits),
                failed_call=found[0],
                failed=found[1],
                passed_call=found[2],
                passed=found[3],
                changes=changes,
            )
