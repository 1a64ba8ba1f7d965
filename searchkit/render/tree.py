"""A session drawn as a tree: its turns, the ways that were left, compactions, and agents inside each other."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import click
import msgspec

from searchkit.conversation.types import Outline, Strand, Turn, Work
from searchkit.render import wording
from searchkit.render.lines import columns, cut
from searchkit.render.outline import steps
from searchkit.render.terminal import Screen
from searchkit.text.format import clock, count, day, minute
from searchkit.text.sanitize import one_line

# Of a line, the share that the drawing may take; and how much of a prompt can fit, blanks that are folded included.
MOST_DRAWN_SHARE = 0.5
PROMPT_CHARACTERS = 500
# What `cut` puts where it cuts.
ELLIPSIS = "…"


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """What a tree is drawn with."""

    between: str
    last: str
    passing: str
    main: str
    left: str
    deeper: str
    cut: str


BOXES = Signs(between="├─ ", last="└─ ", passing="│  ", main="●", left="○", deeper="» ", cut=ELLIPSIS)
ASCII = Signs(between="|- ", last="`- ", passing="|  ", main="*", left="o", deeper="> ", cut="...")


class Twig(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the tree, and what hangs below it; of a turn also its sign, its id, and how much was done in it."""

    text: str
    sign: str = ""
    id: str = ""
    time: int | None = None
    trail: str = ""
    is_left: bool = False
    below: Callable[[], "list[Twig]"] = list


def lines(found: Outline, screen: Screen) -> Iterator[str]:
    """Draw a session, a line for each turn; the day is told where it is another than on the line before."""
    signs = ASCII if screen.is_ascii else BOXES
    gone = " · transcript gone" if found.session.is_gone else ""
    id = cut(one_line(wording.short(found.session.id) + gone), screen.width // 2)
    title = _cut(one_line(wording.title(found.session)), screen.width - columns(id) - 2, signs)
    yield f"{click.style(title, bold=True)}  {click.style(id, dim=True)}"
    date: str | None = None
    # A stack of its own, as ways and agents may be nested deeper than functions can.
    levels = [("", _session(found, signs)[::-1])]
    while levels:
        indent, twigs = levels[-1]
        if not twigs:
            levels.pop()
            continue
        twig = twigs.pop()
        yield _line(indent + (signs.between if twigs else signs.last), twig, date, screen.width, signs)
        date = day(twig.time) if twig.time else date
        passing = signs.passing if twigs else " " * len(signs.passing)
        # No more of it is ever shown.
        levels.append(((indent + passing)[-screen.width :], twig.below()[::-1]))


def _line(drawn: str, twig: Twig, date: str | None, width: int, signs: Signs) -> str:
    """Write a line so that it fits: of the tree the end is kept, of the text the beginning, what was done whole."""
    most = int(width * MOST_DRAWN_SHARE)
    if len(drawn) > most:
        drawn = signs.deeper + drawn[len(drawn) - most + len(signs.deeper) :]
    when = "" if twig.time is None else clock(twig.time) if day(twig.time) == date else minute(twig.time)
    head = " ".join(filter(None, (twig.sign, one_line(wording.short(twig.id)), when)))
    trail = f"  ({twig.trail})" if twig.trail else ""
    room = width - len(drawn) - len(trail)
    said = "  ".join(filter(None, (head, one_line(twig.text[:PROMPT_CHARACTERS]))))
    fitting = _cut(said, room, signs)
    if twig.is_left:
        return click.style(drawn + fitting + trail, dim=True)
    return click.style(drawn, dim=True) + fitting + (click.style(trail, dim=True) if trail else "")


def _cut(text: str, width: int, signs: Signs) -> str:
    """Cut a text, with what there is of these signs where it is cut."""
    shown = cut(text.replace(ELLIPSIS, signs.cut), width - len(signs.cut) + 1)
    return shown.replace(ELLIPSIS, signs.cut)


def _session(found: Outline, signs: Signs) -> list[Twig]:
    twigs = _strands(found.strands, signs)
    if found.agents:
        below = partial(_works, found.agents, signs)
        twigs.append(Twig(text="agents that no call is known for", below=below))
    return twigs


def _strands(strands: Sequence[Strand], signs: Signs) -> list[Twig]:
    """Draw the first way as it is, and the others as what they are: ways beside it."""
    first, *others = strands or [Strand(turns=())]
    return [*_turns(first, signs), *(_beside(strand, signs) for strand in others)]


def _turns(strand: Strand, signs: Signs) -> list[Twig]:
    twigs = []
    if strand.ending is not None:
        twigs.append(Twig(text=wording.REASONS[strand.ending], is_left=strand.is_abandoned))
    for turn in strand.turns:
        if turn.left_out:
            twigs.append(Twig(text=f"{count(turn.left_out, 'turn')} left out: --full", is_left=True))
        if not _is_empty(turn) or len(strand.turns) == 1:
            twigs.append(_turn(turn, strand.is_abandoned, signs))
    if strand.session is not None:
        twigs.append(Twig(text=f"goes on in session {strand.session}"))
    return twigs


def _is_empty(turn: Turn) -> bool:
    """Whether a turn is only what the client noted before the first prompt."""
    return not (turn.asked or turn.is_compacted or turn.agents or turn.branches or steps([turn]))


def _turn(turn: Turn, is_left: bool, signs: Signs) -> Twig:
    return Twig(
        text=_asked(turn),
        sign=signs.left if is_left else signs.main,
        id=turn.record,
        time=turn.time,
        trail=count(number, "step") if (number := steps([turn])) else "",
        is_left=is_left,
        below=partial(_below, turn, signs),
    )


def _asked(turn: Turn) -> str:
    """Write what a turn began with: what was asked, or a summary of what was compacted."""
    said = turn.asked.part.text if turn.asked else ""
    if turn.is_compacted:
        return f"compacted: {said or 'went on from a summary'}"
    return said or "(nothing was asked)"


def _below(turn: Turn, signs: Signs) -> list[Twig]:
    """Draw the agents that a turn started, and the ways that leave from it."""
    return [*_works(turn.agents, signs), *(_beside(strand, signs) for strand in turn.branches)]


def _works(works: Sequence[Work], signs: Signs) -> list[Twig]:
    return [Twig(text=wording.agent(work.agent), below=partial(_strands, work.strands, signs)) for work in works]


def _beside(strand: Strand, signs: Signs) -> Twig:
    """Draw another way; of one in another session only where it is."""
    if strand.session is not None and not strand.turns:
        return Twig(text=f"also went on in session {strand.session}")
    text = "another way, abandoned" if strand.is_abandoned else "another way"
    return Twig(text=text, is_left=strand.is_abandoned, below=partial(_turns, strand, signs))
