"""What people see in a terminal: lines of text, marked up only where colour is wanted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from searchkit.query.suggestions import Unknown
from searchkit.render.health import retention
from searchkit.render.wrapped import cut
from searchkit.search.types import Status
from searchkit.text.format import count, last_part, lasting, minute, money, size
from searchkit.text.sanitize import one_line
from searchkit.types import Cost, Session

if TYPE_CHECKING:
    from searchkit.indexing.ingest import Summary

# Of an id, unless more are needed to tell it from others.
LEAST_CHARACTERS_OF_ID = 8
LABEL_WIDTH = 12
# Paths and titles that are named in passing are cut here.
VALUE_CHARACTERS = 100
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


def unknown(found: Iterable[Unknown]) -> Iterator[str]:
    """Show what nothing in the index answers to, and what could have been meant."""
    for one in found:
        listed = ", ".join(one_line(value)[:VALUE_CHARACTERS] for value in one.nearest)
        near = f"; {'the nearest are' if one.are_near else 'there are'} {listed}" if listed else ""
        yield f"nothing has {one.name}:{one_line(one.value)[:VALUE_CHARACTERS]}{near}"


def summary(done: "Summary", seconds: float) -> Iterator[str]:
    """Show what an index run did, what it left out, and what it could not read."""
    if not (done.files or done.gone or done.failures or done.embedded):
        yield "Everything is up to date."
        yield from _outdated(done)
        return
    yield (f"Read {count(done.files, 'file')}, {size(done.bytes)}, {count(done.records, 'record')} in {seconds:.1f} s.")
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
