"""A fix, told: what failed beside what passed later, and how many edits lie between."""

from searchkit.backends.base import Stored
from searchkit.conversation.types import Fix, Said
from searchkit.render.document import Compared, Message
from searchkit.render.messages import message
from searchkit.text.format import count

# Rows that are shown of each result.
MOST_LINES = 8


def fixed(fix: Fix) -> Compared:
    """Put a result that failed beside the later one that passed."""
    after = f"after {count(fix.edits, 'edit')}" if fix.edits else "later"
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
