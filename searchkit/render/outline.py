"""A session as an outline and as a tree: what was asked, what was done and what came of it, branch by branch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import click
import msgspec

from searchkit.conversation.turns import count_steps, describe
from searchkit.conversation.types import Agent, Outline, Reason, Said, Strand, Turn, Work
from searchkit.render import wording
from searchkit.render.conversation import message
from searchkit.render.document import Block, Document, Note, Tone
from searchkit.render.lines import columns, cut
from searchkit.render.terminal import Screen
from searchkit.render.wording import Asked, gap
from searchkit.text.format import amount, clock, count, day, last_part, lasting, minute, money, seconds
from searchkit.text.sanitize import one_line
from searchkit.types import Figures

# Rows that are shown of what was asked and of what came of it.
MOST_LINES = 4
# Files that are named before "and so many more".
MOST_FILES = 12


def document(found: Outline, asked: Asked) -> Document:
    """Tell a session."""
    blocks: list[Block] = []
    for number, strand in enumerate(found.strands):
        if number:
            blocks.append(Note(text=_beside(strand), tone=Tone.WAY))
        blocks += _strand(strand, asked)
    blocks += (_work(work, asked) for work in found.agents)
    return Document(title=wording.title(found.session), about=list(_about(found)), blocks=blocks)


def _about(found: Outline) -> Iterator[Note]:
    """Say where and when the session was, what it cost, who answered, and which files it touched."""
    session = found.session
    counted = [count(session.prompts, "prompt"), count(session.agents, "agent") if session.agents else ""]
    for line in (
        *([line] for line in wording.place(session)),
        [_times(session.started, session.ended), *counted, *_usage(found.figures)],
        [*_speed(found)],
        [", ".join(found.models)],
        [f"files: {listed}" if (listed := _files(found)) else ""],
    ):
        if any(line):
            yield Note(text=" · ".join(filter(None, line)), tone=Tone.ABOUT)


def _times(started: int | None, ended: int | None) -> str:
    """Write from when to when, the day once if it is one."""
    if started is None or ended is None:
        return minute(started or ended).rstrip()
    end = clock(ended) if day(started) == day(ended) else minute(ended)
    long = lasting(started, ended)
    return f"{minute(started)} to {end}" + (f", {long}" if long else "")


def _usage(figures: Figures) -> list[str]:
    """Write how many calls there were, how many tokens, and the cost if one is known."""
    failed = f", {figures.failed:,} failed" if figures.failed else ""
    tokens = figures.input or figures.output
    return [
        f"{count(figures.calls, 'call')}{failed}" if figures.calls else "",
        f"{amount(figures.input)} input, {amount(figures.output)} output tokens" if tokens else "",
        money(figures.cost, bool(figures.estimated or figures.unpriced)) if figures.cost is not None else "",
    ]


def _speed(found: Outline) -> Iterator[str]:
    """Write how long turns took and how fast the model wrote, where the client says so."""
    if found.turns_ms:
        yield f"turns took {seconds(found.turns_ms)}"
    if found.figures.api_ms:
        rate = found.figures.output_per_second
        yield f"the model {seconds(found.figures.api_ms)}" + (f", {rate:,.0f} tokens a second" if rate else "")


def _files(found: Outline) -> str:
    """Name the files that were touched: those that were changed come first."""
    named = list(dict.fromkeys(last_part(touch.path) for touch in found.files))
    more = f" and {len(named) - MOST_FILES:,} more" if len(named) > MOST_FILES else ""
    return ", ".join(named[:MOST_FILES]) + more


def _strand(strand: Strand, asked: Asked) -> Iterator[Block]:
    if strand.ending is not None:
        yield Note(text=wording.REASONS[strand.ending], tone=Tone.BREAK)
    time: int | None = None
    for turn in strand.turns:
        if turn.left_out:
            yield Note(text=f"{count(turn.left_out, 'turn')} left out: --full", tone=Tone.MORE)
        passed = gap(time, turn.time)
        yield from passed
        yield from _turn(turn, asked, is_dated=not passed and day(turn.time) != day(time))
        time = turn.time or time
    if strand.session is not None:
        command = asked.command("show", strand.session)
        yield Note(text=f"goes on in session {strand.session}", tone=Tone.WAY, command=command)


def _turn(turn: Turn, asked: Asked, is_dated: bool) -> Iterator[Block]:
    """Tell what was asked, what was done, who helped, what came of it, and where else it went."""
    if turn.is_compacted:
        yield Note(text=wording.REASONS[Reason.COMPACTED], tone=Tone.BREAK)
    if turn.asked is not None:
        yield message(Said(stored=turn.asked), most_lines=MOST_LINES, is_dated=is_dated)
    # Attachments and the like are nothing that was done.
    if done := describe(turn.steps):
        yield Note(text=done, tone=Tone.STEPS)
    yield from (_work(work, asked) for work in turn.agents)
    if turn.outcome is not None:
        is_first = turn.asked is None
        yield message(Said(stored=turn.outcome), most_lines=MOST_LINES, is_dated=is_dated and is_first)
    for branch in turn.branches:
        yield _left(branch, asked)


def _work(work: Work, asked: Asked) -> Note:
    """Tell on a line what an agent was and how much it did."""
    first = beginning(work)
    number = steps(turn for strand in work.strands for turn in strand.turns)
    done = f"{wording.agent(work.agent)}, {count(number, 'step')}"
    return Note(text=done, tone=Tone.AGENT, command=asked.command("show", first) if first else None)


def _left(branch: Strand, asked: Asked) -> Note:
    """Tell on a line that the conversation also went another way."""
    if branch.session is not None:
        text, id = f"also went on in session {branch.session}", branch.session
    else:
        text, id = _beside(branch), branch.turns[0].record if branch.turns else ""
    return Note(text=text, tone=Tone.WAY, command=asked.command("show", id) if id else None)


def _beside(strand: Strand) -> str:
    left = ", abandoned" if strand.is_abandoned else ""
    number = sum(1 + turn.left_out for turn in strand.turns)
    return f"also went another way{left} ({count(number, 'turn')})"


# All ways through a session, one after the other: each with the turn that it leaves from, and whose it is.


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """A strand in its place: the turn that it leaves from, or that its agent was started in, and the agent."""

    strand: Strand
    at: str | None = None
    agent: Agent | None = None
    depth: int = 0


def ways(outline: Outline) -> Iterator[Way]:
    """Yield every strand of a session and of its agents, each before those that leave from it, however deep."""
    waiting = [Way(strand=strand) for strand in outline.strands]
    waiting += [Way(strand=strand, agent=work.agent) for work in outline.agents for strand in work.strands]
    waiting.reverse()
    while waiting:
        way = waiting.pop()
        yield way
        waiting += reversed([below for turn in way.strand.turns for below in _leaving(turn, way)])


def _leaving(turn: Turn, way: Way) -> Iterator[Way]:
    for work in turn.agents:
        for strand in work.strands:
            yield Way(strand=strand, at=turn.record, agent=work.agent, depth=way.depth + 1)
    for strand in turn.branches:
        yield Way(strand=strand, at=turn.record, agent=way.agent, depth=way.depth + 1)


def steps(turns: Iterable[Turn]) -> int:
    """Count what was done in some turns."""
    return sum(count_steps(turn.steps) for turn in turns)


def beginning(work: Work) -> str | None:
    """Return the first record of what an agent did, if anything is known of it."""
    return next((turn.record for strand in work.strands for turn in strand.turns), None)


# The same session drawn as a tree, for a terminal.


# Of a line, the share that the drawing may take; and how much of a prompt can fit, blanks that are folded included.
MOST_DRAWN_SHARE = 0.5
PROMPT_CHARACTERS = 500
# What `cut` puts where it cuts.
ELLIPSIS = "…"


class TreeSigns(msgspec.Struct, frozen=True, kw_only=True):
    """What a tree is drawn with."""

    between: str
    last: str
    passing: str
    main: str
    left: str
    deeper: str
    cut: str


BOXES = TreeSigns(between="├─ ", last="└─ ", passing="│  ", main="●", left="○", deeper="» ", cut=ELLIPSIS)
ASCII = TreeSigns(between="|- ", last="`- ", passing="|  ", main="*", left="o", deeper="> ", cut="...")


class Twig(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the tree, and what hangs below it; of a turn also its sign, its id, and how much was done in it."""

    text: str
    sign: str = ""
    id: str = ""
    time: int | None = None
    trail: str = ""
    is_left: bool = False
    below: Callable[[], "list[Twig]"] = list


def tree(found: Outline, screen: Screen) -> Iterator[str]:
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


def _line(drawn: str, twig: Twig, date: str | None, width: int, signs: TreeSigns) -> str:
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


def _cut(text: str, width: int, signs: TreeSigns) -> str:
    """Cut a text, with what there is of these signs where it is cut."""
    shown = cut(text.replace(ELLIPSIS, signs.cut), width - len(signs.cut) + 1)
    return shown.replace(ELLIPSIS, signs.cut)


def _session(found: Outline, signs: TreeSigns) -> list[Twig]:
    twigs = _strands(found.strands, signs)
    if found.agents:
        below = partial(_works, found.agents, signs)
        twigs.append(Twig(text="agents that no call is known for", below=below))
    return twigs


def _strands(strands: Sequence[Strand], signs: TreeSigns) -> list[Twig]:
    """Draw the first way as it is, and the others as what they are: ways beside it."""
    first, *others = strands or [Strand(turns=())]
    return [*_turns(first, signs), *(_beside_branch(strand, signs) for strand in others)]


def _turns(strand: Strand, signs: TreeSigns) -> list[Twig]:
    twigs = []
    if strand.ending is not None:
        twigs.append(Twig(text=wording.REASONS[strand.ending], is_left=strand.is_abandoned))
    for turn in strand.turns:
        if turn.left_out:
            twigs.append(Twig(text=f"{count(turn.left_out, 'turn')} left out: --full", is_left=True))
        if not _is_empty(turn) or len(strand.turns) == 1:
            twigs.append(_tree_turn(turn, strand.is_abandoned, signs))
    if strand.session is not None:
        twigs.append(Twig(text=f"goes on in session {strand.session}"))
    return twigs


def _is_empty(turn: Turn) -> bool:
    """Whether a turn is only what the client noted before the first prompt."""
    return not (turn.asked or turn.is_compacted or turn.agents or turn.branches or steps([turn]))


def _tree_turn(turn: Turn, is_left: bool, signs: TreeSigns) -> Twig:
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


def _below(turn: Turn, signs: TreeSigns) -> list[Twig]:
    """Draw the agents that a turn started, and the ways that leave from it."""
    return [*_works(turn.agents, signs), *(_beside_branch(strand, signs) for strand in turn.branches)]


def _works(works: Sequence[Work], signs: TreeSigns) -> list[Twig]:
    return [Twig(text=wording.agent(work.agent), below=partial(_strands, work.strands, signs)) for work in works]


def _beside_branch(strand: Strand, signs: TreeSigns) -> Twig:
    """Draw another way; of one in another session only where it is."""
    if strand.session is not None and not strand.turns:
        return Twig(text=f"also went on in session {strand.session}")
    text = "another way, abandoned" if strand.is_abandoned else "another way"
    return Twig(text=text, is_left=strand.is_abandoned, below=partial(_turns, strand, signs))
