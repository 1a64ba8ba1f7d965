"""A fix, told: what failed beside what passed later, and how many edits lie between."""

from collections.abc import Iterator, Sequence

from searchkit.backends.base import Step, Stored
from searchkit.conversations import Entry, Fix, Folded, Said
from searchkit.render import calls
from searchkit.render.document import Compared, Message
from searchkit.render.plain import count
from searchkit.render.reading import message
from searchkit.types import Kind, Part

# Rows that are shown of each result.
MOST_LINES = 8


def fixed(fix: Fix, entries: Sequence[Entry]) -> Compared:
    """Put a result that failed beside the later one that passed."""
    edits = _edits_between(fix.failed.part.uuid, fix.passed_call.part.uuid, entries)
    after = f"after {count(edits, 'edit')}" if edits else "later"
    return Compared(
        text=f"failed, and passed {after}",
        failed=_tried(fix.failed_call, fix.failed),
        passed=_tried(fix.passed_call, fix.passed),
    )


def _tried(call: Stored, result: Stored) -> list[Message]:
    return [
        message(Said(stored=call), most_lines=MOST_LINES),
        message(Said(stored=result), before=call, most_lines=MOST_LINES),
    ]


def _edits_between(first: str, last: str, entries: Sequence[Entry]) -> int:
    """Count the edits from one record to another, if both are in what is shown or folded."""
    edits, is_between = 0, False
    for done in _done(entries):
        if done.uuid == last:
            return edits
        edits += is_between and done.kind is Kind.TOOL_CALL and calls.is_edit(done.tool or "")
        is_between = is_between or done.uuid == first
    return 0


def _done(entries: Sequence[Entry]) -> Iterator[Step | Part]:
    for entry in entries:
        if isinstance(entry, Folded):
            yield from entry.steps
        elif isinstance(entry, Said):
            yield entry.stored.part
