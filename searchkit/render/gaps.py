"""The time that passed between two messages, where it is worth a line."""

from searchkit.render.document import Note, Tone
from searchkit.text.format import NO_DATE, day, lasting

# People come back to a conversation after a night, or after lunch; what takes a minute less is one sitting.
LEAST_MILLISECONDS = 3_600_000


def gap(before: int | None, after: int | None, depth: int = 0) -> list[Note]:
    """Say that another day began, and how long nothing was said; times that run backwards say nothing."""
    if before is None or after is None or after <= before:
        return []
    date = day(after)
    is_new_day = date not in (day(before), NO_DATE)
    later = f"{lasting(before, after)} later" if after - before >= LEAST_MILLISECONDS else ""
    text = ", ".join(filter(None, (date if is_new_day else "", later)))
    return [Note(text=text, tone=Tone.GAP, depth=depth)] if text else []
