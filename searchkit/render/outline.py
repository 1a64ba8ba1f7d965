"""A session as an outline: what was asked, what was done and what came of it, way by way."""

from collections.abc import Iterable, Iterator

import msgspec

from searchkit.conversation.steps import count_steps, describe
from searchkit.conversation.types import Agent, Outline, Reason, Said, Strand, Turn, Work
from searchkit.render import wording
from searchkit.render.document import Block, Document, Note, Tone
from searchkit.render.messages import message
from searchkit.render.wording import Asked, gap
from searchkit.text.format import amount, clock, count, day, last_part, lasting, minute, money, seconds
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
