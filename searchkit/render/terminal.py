"""What people see in a terminal: documents, lists of sessions, summaries, status."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from searchkit.render.health import retention
from searchkit.render.lines import cut
from searchkit.search.types import Status
from searchkit.sources.apps import APPS, DEFAULT
from searchkit.text.format import count, day, last_part, lasting, minute, money, size
from searchkit.text.sanitize import one_line
from searchkit.types import Cost, Session

if TYPE_CHECKING:
    from searchkit.indexing.ingest import Summary

from collections.abc import Callable
from functools import partial

import msgspec

from searchkit.render import document as highlight
from searchkit.render.document import (
    Block,
    Code,
    Command,
    Compared,
    Diff,
    Document,
    Message,
    Note,
    Output,
    Piece,
    Prose,
    Tone,
)
from searchkit.render.lines import broken, columns, middle_cut, sliced, source_lines, wrapped
from searchkit.render.wording import short
from searchkit.text.format import age, clock

# Of an id, unless more are needed to tell it from others.
LEAST_CHARACTERS_OF_ID = 8
LABEL_WIDTH = 12
# What is not counted by adding an s.
_PLURALS = {"hook_progress": "hook progress", "empty_thinking": "empty thinking", "unreadable": "unreadable"} | {
    "not JSON": "not JSON",
    "link out of the root": "links out of the root",
}


def sessions(found: Sequence[Session], costs: Mapping[str, Cost], width: int) -> Iterator[str]:
    """Show a session on two lines: when it ended and its title, and what else tells it from others."""
    short = _beginnings([session.id for session in found])
    for session in found:
        title = one_line(session.title or "(no title)")
        yield cut(f"{minute(session.ended)}  {click.style(title, bold=True)}", width)
        about = [
            one_line(short[session.id]),
            one_line(last_part(session.project) if session.project else "no project"),
            one_line(session.branch or ""),
            count(session.prompts, "prompt"),
            count(session.agents, "agent") if session.agents else "",
            lasting(session.started, session.ended),
            money(spent.usd, spent.is_estimate) if (spent := costs.get(session.id)) else "",
            "transcript gone" if session.is_gone else "",
        ]
        yield "  " + click.style(cut(" · ".join(item for item in about if item), width - 2), dim=True)


def _beginnings(ids: Iterable[str]) -> dict[str, str]:
    """Shorten ids to as many characters as tell each from the others."""
    ordered = ["", *sorted(set(ids)), ""]
    short = {}
    for before, id, after in zip(ordered, ordered[1:], ordered[2:], strict=False):
        length = LEAST_CHARACTERS_OF_ID
        while length < len(id) and id[:length] in (before[:length], after[:length]):
            length += 1
        short[id] = id[:length]
    return short


def summary(done: "Summary", seconds: float) -> Iterator[str]:
    """Show what an index run did, what it left out, and what it could not read."""
    if not (done.files or done.gone or done.failures or done.embedded):
        yield "Everything is up to date."
        yield from _outdated(done)
        return
    if done.files or not done.embedded:
        read = f"{count(done.files, 'file')}, {size(done.bytes)}, {count(done.records, 'record')}"
        yield f"Read {read} in {seconds:.1f} s."
    if set(done.apps) - {DEFAULT}:
        by_app = (f"{APPS[app].title} {count(files, 'file')}" for app, files in done.apps.items())
        yield f"By program: {', '.join(by_app)}."
    if done.embedded:
        yield f"Embedded {count(done.embedded, 'part')}, to be found by meaning, too."
    if done.gone:
        gone = count(done.gone, "file")
        yield f"{gone} no longer there; what was read of it stays in the index until searchkit prune --gone."
    if done.left_out:
        yield "Left out as noise: " + _listed(done.left_out) + "."
    if done.skipped:
        yield "Skipped or odd: " + _listed(done.skipped) + ". searchkit doctor shows where."
    yield from _outdated(done)


def found(sessions: Sequence[Session]) -> Iterator[str]:
    """Say what an index holds: sessions, projects, and since when."""
    projects = {one.project for one in sessions if one.project}
    begun = min((one.started for one in sessions if one.started), default=None)
    since = f", since {day(begun)}" if begun else ""
    yield f"Found {count(len(sessions), 'session')} of {count(len(projects), 'project')}{since}."


def _outdated(done: "Summary") -> Iterator[str]:
    if done.is_outdated:
        yield (
            "An earlier version of searchkit read some of these transcripts, and understood less of them."
            " Run searchkit index --rebuild to read them again; what is no longer on disk stays in the index."
        )


def status(found: Status) -> Iterator[str]:
    """Show what is indexed and how far."""
    counts = found.counts
    yield f"{'index':{LABEL_WIDTH}}{found.index} ({size(found.index_bytes)})"
    for root in found.roots:
        yield f"{'root':{LABEL_WIDTH}}{root}"
    gone = counts.sessions_without_transcript
    known = f", {gone:,} of them known only from side files" if gone else ""
    yield f"{'sessions':{LABEL_WIDTH}}{counts.sessions + gone:,}{known}, {count(counts.agents, 'agent')}"
    read = f"{count(counts.files, 'transcript')}, {size(counts.bytes)}, {count(counts.lines, 'line')}"
    yield f"{'read':{LABEL_WIDTH}}{read}"
    yield f"{'records':{LABEL_WIDTH}}{counts.links:,} linked, {count(counts.torn, 'torn line')}"
    parts = sorted(counts.parts.items(), key=lambda item: -item[1])
    yield f"{'parts':{LABEL_WIDTH}}{sum(counts.parts.values()):,} and {count(counts.repeats, 'repeat')}"
    for kind, number in parts:
        yield f"{'':{LABEL_WIDTH}}{number:>10,}  {kind}"
    if counts.noise:
        yield f"{'noise':{LABEL_WIDTH}}" + _listed(counts.noise)
    if found.damage:
        yield f"{'meaning':{LABEL_WIDTH}}nothing can be found by it: {found.damage}"
    elif found.embedded or found.to_embed:
        wanting = f", {found.to_embed:,} still to be embedded" if found.to_embed else ""
        yield f"{'meaning':{LABEL_WIDTH}}{count(found.embedded, 'part')} can be found by it{wanting}"
        if found.embedded_multilingual or found.to_embed_multilingual:
            more = f", {found.to_embed_multilingual:,} still to be embedded" if found.to_embed_multilingual else ""
            yield f"{'':{LABEL_WIDTH}}{count(found.embedded_multilingual, 'part')} in and across other languages{more}"
    else:
        yield f"{'meaning':{LABEL_WIDTH}}nothing can be found by it yet: searchkit index makes what that needs"
    if found.unreachable:
        yield f"{'behind':{LABEL_WIDTH}}unknown: {found.unreachable}"
    elif found.files_behind:
        behind = f"{count(found.files_behind, 'file')}, {size(found.bytes_behind)}"
        yield f"{'behind':{LABEL_WIDTH}}{behind}: run searchkit index"
    else:
        yield f"{'behind':{LABEL_WIDTH}}nothing: up to date"
    if found.retention is not None:
        for number, line in enumerate(retention(found.retention)):
            yield f"{'' if number else 'deletion':{LABEL_WIDTH}}{line}"


def served(process: int | None) -> str:
    """Say whether a process keeps the index open for all commands."""
    told = f"by process {process}" if process else "by no process; the next command starts one"
    return f"{'served':{LABEL_WIDTH}}{told}"


def _listed(numbers: Mapping[str, int]) -> str:
    named = {name: one_line(name.replace("_", " ")) for name in numbers}
    return ", ".join(count(number, named[name], _PLURALS.get(name)) for name, number in numbers.items())


# A document on a terminal: lines that fit its width, and colours where they are shown.

# What stands before each message, and before the one that was asked for.
MARGIN, HIT = "  ", "> "
# Agents inside agents are set in no further than this, and texts are never narrower: there must be room for them.
MOST_DEPTH = 6
LEAST_WIDTH = 8
Style = Callable[[str], str]
_ROLES: dict[str, Style] = {
    "": str,
    "comment": partial(click.style, dim=True),
    "keyword": partial(click.style, fg="blue"),
    "string": partial(click.style, fg="green"),
    "number": partial(click.style, fg="cyan"),
    "name": partial(click.style, bold=True),
    "removed": partial(click.style, fg="red"),
    "added": partial(click.style, fg="green"),
}
_SIGNS: dict[str, Style] = {"+": _ROLES["added"], "-": _ROLES["removed"], " ": str, "@": _ROLES["comment"]}
_TONES: dict[Tone, Style] = {
    Tone.BREAK: partial(click.style, fg="magenta"),
    Tone.WAY: partial(click.style, fg="yellow"),
    Tone.AGENT: partial(click.style, fg="cyan"),
}


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """What lines are made for. Without colours nothing is highlighted, though marks for colours stay in the lines."""

    width: int
    now: float
    is_full: bool = False
    is_coloured: bool = False
    is_ascii: bool = False


def lines(document: Document, screen: Screen) -> Iterator[str]:
    """Write a document, an empty line before each message that is not joined to another."""
    yield click.style(cut(one_line(document.title), screen.width), bold=True)
    for note in document.about:
        yield from _note(note, screen, "")
    before: Block | None = None
    for block in document.blocks:
        if not _belong_together(before, block):
            yield ""
        if isinstance(block, Message):
            yield from _message(block, screen)
        elif isinstance(block, Note):
            yield from _note(block, screen, MARGIN)
        else:
            yield from _compared(block, screen)
        before = block


def _belong_together(before: Block | None, block: Block) -> bool:
    if isinstance(before, Note) and isinstance(block, Note):
        return before.tone is block.tone
    return isinstance(block, Message) and block.is_joined


def _note(note: Note, screen: Screen, margin: str) -> Iterator[str]:
    indent = margin + _indent(note.depth)
    text = one_line(note.text)
    if note.tone is Tone.GAP:
        text = f"-- {text} --"
    style = _TONES.get(note.tone, partial(click.style, dim=True))
    room = _room(screen, indent)
    command = "" if note.command is None else one_line(note.command)
    if command and columns(f"{text}: {command}") <= room:
        yield indent + style(f"{text}: {command}")
        return
    yield from (indent + style(row) for row in wrapped(text + (":" if command else ""), room))
    # A command is copied by the line.
    yield from (indent + MARGIN + style(row) for row in wrapped(command, room - len(MARGIN)))


def _message(message: Message, screen: Screen) -> Iterator[str]:
    indent = _indent(message.depth)
    if not message.is_joined or message.is_hit:
        yield indent + _head(message, screen, screen.width - len(indent))
    room = _room(screen, indent + MARGIN)
    rows: list[str] = []
    for number, piece in enumerate(message.pieces):
        # Words stand apart from code; a command and its description belong together.
        if number and (isinstance(piece, Prose) or isinstance(message.pieces[number - 1], Prose)):
            rows.append("")
        rows += _rows(piece, room, screen)
    for row in middle_cut(rows, message.most_lines, screen.is_full):
        yield (indent + MARGIN + cut(row, room)).rstrip()


def _head(message: Message, screen: Screen, width: int) -> str:
    """Say who speaks and when, and by which id it can be shown."""
    name = click.style(one_line(message.speaker), fg="red" if message.is_error else "cyan", bold=message.is_hit)
    when = "" if message.time is None else clock(message.time)
    if message.is_dated:
        when = f"{minute(message.time)}, {age(message.time, screen.now)}"
    about = "  ".join(filter(None, (when, one_line(short(message.uuid)))))
    return cut(f"{HIT if message.is_hit else MARGIN}{name}  {click.style(about, dim=True)}", width)


def _compared(compared: Compared, screen: Screen) -> Iterator[str]:
    """Show what failed above what passed."""
    yield click.style(cut(f"{MARGIN}{one_line(compared.text)}", screen.width), bold=True)
    for side in (compared.failed, compared.passed):
        yield ""
        for message in side:
            yield from _message(message, screen)


def _rows(piece: Piece, width: int, screen: Screen) -> Iterator[str]:
    """Break a piece into rows."""
    if isinstance(piece, Diff):
        yield from _changed(piece, width, screen)
        return
    found = source_lines(piece.text, screen.is_full)
    if isinstance(piece, Code):
        if screen.is_coloured and piece.language:
            found = _highlighted(Code(text="\n".join(found), language=piece.language))
        yield from (MARGIN + row for line in found for row in sliced(line, width - len(MARGIN)))
    elif isinstance(piece, Command):
        yield from _typed(piece, found, width)
    elif isinstance(piece, Output):
        bar = click.style("|" if screen.is_ascii else "│", fg="red" if piece.is_error else None, dim=True)
        yield from (f"{bar} {row}".rstrip() for line in found for row in sliced(line, width - len(MARGIN)))
    else:
        yield from (row for line in found for row in broken(line, width))


def _typed(command: Command, found: Iterator[str], width: int) -> Iterator[str]:
    """Show a command after the sign of a shell, its further lines below it."""
    if command.purpose:
        yield click.style(cut(f"# {one_line(command.purpose)}", width), dim=True)
    sign = click.style("$ ", bold=True)
    for line in found:
        for row in broken(line, width - len(MARGIN)):
            yield sign + row
            sign = MARGIN


def _changed(diff: Diff, width: int, screen: Screen) -> Iterator[str]:
    """Show a change: what was removed in red, what was added in green."""
    if diff.path:
        yield click.style(cut(one_line(diff.path), width), bold=True)
    for changed in diff.rows:
        style = _SIGNS[changed.sign]
        sign = changed.sign
        for line in source_lines(changed.text, screen.is_full):
            for row in sliced(line, width - len(MARGIN)):
                yield style(f"{sign} {row}".rstrip())
                sign = " "


def _highlighted(code: Code) -> Iterator[str]:
    for line in highlight.spans(code):
        yield "".join(_ROLES[role](text) for role, text in line if text)


def _indent(depth: int) -> str:
    return MARGIN * min(depth, MOST_DEPTH)


def _room(screen: Screen, indent: str) -> int:
    return max(LEAST_WIDTH, screen.width - len(indent))
