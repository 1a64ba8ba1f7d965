"""A stretch of a conversation, as `show` prints it."""

from collections.abc import Iterator

import click

from searchkit import resume
from searchkit.render.answer import speaker
from searchkit.render.answer_json import turn_fields
from searchkit.render.plain import age, clock, count, day, minute, one_line, safe
from searchkit.render.wrapped import cut, wrapped
from searchkit.results import Conversation, Turn

# Of a message that is not the one asked for, and of that one; a text is cut in its middle, where least is missed.
MOST_LINES = 6
MOST_LINES_OF_HIT = 60
# Fewer lines than this are shown: saying that they are left out would take up most of their room.
LEAST_LEFT_OUT = 4


def lines(found: Conversation, width: int, now: float, is_full: bool) -> Iterator[str]:
    """Show who said what, the message that was asked for marked at its side."""
    if found.session:
        yield click.style(cut(one_line(found.session.title or "(no title)"), width), bold=True)
        about = (found.session.project, found.session.branch, "transcript gone" if found.session.is_gone else "")
        yield click.style(cut(" · ".join(one_line(item) for item in about if item), width), dim=True)
    date = None
    for turn in found.turns:
        yield ""
        time = turn.stored.link.time
        is_same_day, date = day(time) == date, day(time)
        when = "" if time is None else clock(time) if is_same_day else f"{minute(time)}, {age(time, now)}"
        name = click.style(speaker(turn), fg="red" if turn.stored.part.is_error else "cyan", bold=turn.is_hit)
        yield f"{'> ' if turn.is_hit else '  '}{name}  {click.style(when, dim=True)}".rstrip()
        yield from _text(turn, width - 2, is_full)


def fields(found: Conversation, is_full: bool) -> dict[str, object]:
    """Show the same to programs."""
    session = found.session
    return {
        "session": session.id if session else None,
        "title": session.title if session else None,
        "project": session.project if session else None,
        "resume": resume.command(session) if session else None,
        "thread": [turn_fields(turn, is_full or turn.is_hit) for turn in found.turns],
    }


def _text(turn: Turn, width: int, is_full: bool) -> Iterator[str]:
    written = [line for row in safe(turn.stored.part.text).split("\n") for line in (list(wrapped(row, width)) or [""])]
    most = MOST_LINES_OF_HIT if turn.is_hit else MOST_LINES
    left = len(written) - most
    if not is_full and left >= LEAST_LEFT_OUT:
        written = [
            *written[: most - most // 3],
            f"... {count(left, 'line')} more (--full) ...",
            *written[-(most // 3) :],
        ]
    for line in written:
        yield f"  {line}".rstrip()
