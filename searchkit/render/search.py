"""What a search shows in a terminal: for each session its title, where and when, and why it was found."""

from collections.abc import Iterator
from itertools import takewhile

import click

from searchkit.backends.base import Stored
from searchkit.conversation.types import Entry, Folded, Said
from searchkit.render.bars import bars, padded
from searchkit.render.excerpt import excerpt
from searchkit.render.folded import folded
from searchkit.render.no_results import missing, unfinished
from searchkit.render.understood import understood
from searchkit.render.wrapped import columns, cut
from searchkit.search.types import Answer, Result, Shown
from searchkit.search.weights import RECIPE
from searchkit.sources.apps import app_of_entrypoint
from searchkit.text.format import NO_DATE, age, count, day, last_part
from searchkit.text.sanitize import command_line, one_line
from searchkit.types import Kind, Role

INDENT = "    "
# Columns of the names of those who speak.
SPEAKER_WIDTH = 12
# Who does what is folded.
STEPS = "..."
# What stands before the turns around a hit, the hit itself, and other passages of its session.
MARGIN, HIT, ALSO = "  ", "> ", "also "
MOST_LINES = 4
# What is said of a result that holds none of the words.
NEAR = "near in meaning"
# White space that is folded away may take more characters than a line has columns; rarely more than so many.
CHARACTERS_PER_COLUMN = 4
# Values of a facet that are shown.
MOST_BARS = 12
_SPEAKERS = {
    Kind.PROMPT: "you",
    Kind.HISTORY: "you",
    Kind.COMMAND: "you",
    Kind.THINKING: "thinking",
    Kind.TOOL_RESULT: "result",
}


def answer(found: Answer, width: int, now: float, is_explained: bool = False) -> Iterator[str]:
    """Show the results, best first, each with what led to it and what came of it."""
    if is_explained:
        yield from (click.style(line, dim=True) for line in understood(found.query))
        yield ""
    for rank, result in enumerate(found.results, 1):
        yield from _result(rank, result, width, now)
        if is_explained:
            yield INDENT + click.style(_why(result.best), dim=True)
        yield ""


def speaker(stored: Stored) -> str:
    """Name who speaks in a part; a prompt that no person typed is a task."""
    part, link = stored.part, stored.link
    if part.kind is Kind.TOOL_CALL:
        return _tool(one_line(part.tool or ""))
    if part.kind is Kind.PROMPT and (link.is_sidechain or link.places[0].agent or part.role is not Role.USER):
        return "task"
    if part.kind is Kind.TEXT:
        return app_of_entrypoint(link.context.entrypoint).name
    return _SPEAKERS.get(part.kind, part.kind.value)


def _tool(name: str) -> str:
    """Name a tool; one of an MCP server, `mcp__server__tool`, without the server."""
    return (name.rpartition("__")[2] if name.startswith("mcp__") else name) or "tool"


def _column(name: str, width: int) -> str:
    """Fill a name up to a width, which a long one may exceed until it is cut."""
    return padded(cut(name, SPEAKER_WIDTH), width) + " "


def _result(rank: int, result: Result, width: int, now: float) -> Iterator[str]:
    """Show a session: what was said before the hit, the hit, what was said after it, and what else answers."""
    best = result.best
    room = width - len(INDENT)
    title = one_line(result.session.title if result.session and result.session.title else "(no title)")
    yield f"{click.style(f'{rank:>2}', bold=True)}  {click.style(cut(title, room), bold=True)}"
    yield INDENT + click.style(cut(_about(result, now), room), dim=True)
    before = list(takewhile(lambda entry: not _is_hit(entry), result.thread))
    yield from (INDENT + _around(entry, room) for entry in before)
    yield from (INDENT + line for line in _hit(best, room))
    yield from (INDENT + _around(entry, room) for entry in result.thread[len(before) + 1 :])
    seen = {entry.stored.id for entry in result.thread if isinstance(entry, Said)}
    yield from (INDENT + _other(other, room) for other in result.others if other.stored.id not in seen)
    yield INDENT + click.style(one_line(best.stored.id), dim=True)


def _about(result: Result, now: float) -> str:
    """Say where and when: the project's last name, the branch, the age."""
    stored, session = result.best.stored, result.session
    project = (session.project if session else None) or stored.link.context.cwd or "no project"
    home = stored.link.places[0]
    # Titles have no time of their own.
    time = stored.link.time or (session.ended if session else None)
    others = {place.session for place in stored.link.places} - {home.session, None}
    about = [
        last_part(project),
        stored.link.context.branch,
        f"agent {home.agent}" if home.agent else "",
        f"{day(time)}, {age(time, now)}" if time else NO_DATE,
        f"also in {count(len(others), 'session')}" if others else "",
        "transcript gone" if session and session.is_gone else "",
        NEAR if _is_only_near(result) else "",
    ]
    return " · ".join(one_line(item) for item in about if item)


def _is_only_near(result: Result) -> bool:
    return bool(result.best.ranked.meaning) and not result.best.ranked.words


def _is_hit(entry: Entry) -> bool:
    return isinstance(entry, Said) and entry.is_hit


def _around(entry: Entry, width: int) -> str:
    """Show on a line what was said or done before or after a hit."""
    name, said = "", ""
    if isinstance(entry, Said):
        name, said = speaker(entry.stored), one_line(entry.stored.part.text[: width * CHARACTERS_PER_COLUMN])
    elif isinstance(entry, Folded):
        name, said = STEPS, folded(entry.steps)
    return click.style(cut(MARGIN + _column(name, SPEAKER_WIDTH) + said, width), dim=True)


def _hit(shown: Shown, width: int) -> Iterator[str]:
    """Show who speaks and the passage, marked, with the sign that `show` has for it."""
    name = _column(speaker(shown.stored), SPEAKER_WIDTH)
    taken = len(MARGIN) + columns(name)
    for number, line in enumerate(excerpt(shown.passage, width - taken, MOST_LINES)):
        yield (HIT + _coloured(name, shown) if number == 0 else " " * taken) + line


def _other(shown: Shown, width: int) -> str:
    """Show another passage of the session on a line; it is not part of the conversation above it."""
    name = _column(speaker(shown.stored), SPEAKER_WIDTH + len(MARGIN) - len(ALSO))
    (line,) = excerpt(shown.passage, width - len(ALSO) - columns(name), 1)
    return click.style(ALSO, dim=True) + _coloured(name, shown) + line


def _coloured(name: str, shown: Shown) -> str:
    return click.style(name, fg="red" if shown.stored.part.is_error else "cyan")


def _why(shown: Shown) -> str:
    """Say what a result's score is made of."""
    hit, ranked = shown.ranked.hit, shown.ranked
    own = f"{hit.score:.3f} of the highest possible x {ranked.weight:.2f} as {hit.kind.value}"
    if RECIPE.coverage_power:
        own += f" x {hit.coverage:.0%} covered ^ {RECIPE.coverage_power}"
    if ranked.meaning is not None:
        words = f"words {ranked.words:.3f} ({own})" if ranked.words else "no words"
        own = f"{words} and meaning {ranked.meaning:.3f}"
    if ranked.judged is not None:
        verdict = f"a reranker's verdict of {ranked.judged:.3f}"
        return f"{ranked.score:.3f} with support and {verdict}, {ranked.own:.3f} = {own}"
    if ranked.score == ranked.own:
        return f"{ranked.score:.3f} = {own}"
    return f"{ranked.score:.3f} with the support of its session and neighbours, {ranked.own:.3f} = {own}"


def facets(found: Answer, width: int) -> Iterator[str]:
    """Show how all matches are spread, as small bars."""
    for name, counts in found.facets.items():
        yield click.style(name, bold=True)
        yield from bars(dict(list(counts.items())[:MOST_BARS]), width)
        if len(counts) > MOST_BARS:
            yield f"  and {len(counts) - MOST_BARS:,} more"
        yield ""


def remarks(found: Answer) -> Iterator[str]:
    """Say what nothing held, and what could not be looked at."""
    yield from missing(found)
    yield from unfinished(found)


def footer(found: Answer, index: str | None = None) -> str:
    """Say how much was found and shown, and what to type next; `index` is the one that was named, if any."""
    sessions = {result.best.stored.link.places[0].session for result in found.results} - {None}
    shown = count(len(found.results), "session" if len(sessions) == len(found.results) else "result")
    took = f"{found.seconds * 1000:.0f} ms"
    where = f" {named}" if index and (named := command_line("--index", index)) else ""
    following = " · ".join(f"searchkit {command} 1{where}" for command in ("show", "resume"))
    return f"{_found(found)}, {shown} shown, {took}. Next: {following}"


def _found(found: Answer) -> str:
    """Say how much holds the words, and how much of what is shown does not."""
    near = sum(map(_is_only_near, found.results))
    if near == len(found.results):
        return f"{found.total:,} {NEAR}"
    matches = count(found.total, "match", "matches")
    return f"{matches} and {near:,} {NEAR}" if near else matches
