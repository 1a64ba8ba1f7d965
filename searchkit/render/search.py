"""Answers to a search as people see them: the parsed query, results, passages, facets, and why there are none."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, takewhile
from typing import Literal

import click
from msgspec.structs import replace

from searchkit.backends.base import Stored
from searchkit.conversation.turns import describe
from searchkit.conversation.types import Entry, Folded, Said
from searchkit.query.filters import unknown
from searchkit.query.parse import filters
from searchkit.query.types import Clause, Condition, Filter, Match, Period, Query, Span, Term
from searchkit.render.lines import RESET, bars, columns, cut, fitting, padded, wrapped
from searchkit.search.snippets import without_markdown
from searchkit.search.types import Answer, Conclusion, Passage, Result, Shown
from searchkit.sources.apps import app_of_entrypoint
from searchkit.text.format import NO_DATE, age, count, day, last_part, stamp
from searchkit.text.sanitize import command_line, one_line, safe
from searchkit.types import Kind, Role, Session

# Why a search or a list of sessions is empty, and what to try instead.


# Why a search has no result.
EmptyBecause = Literal["no_match", "filtered", "not_indexed"]
# A pasted text is not shown again.
MOST_CHARACTERS = 200
NOTHING_ASKED = 'Nothing was asked: type words, a "quoted phrase", or a filter such as kind:plan or after:7d.'


def empty_because(found: Answer) -> EmptyBecause | None:
    """Say why there is no result: nothing matches, filters keep it away, or it is not indexed yet."""
    if found.results:
        return None
    if found.hidden:
        return "filtered"
    return "not_indexed" if found.pending or not found.parts else "no_match"


def reasons(found: Answer, values: Callable[[str], Sequence[str]], files_behind: int) -> Iterator[str]:
    """Say what stands between the question and an answer; `values` tells which there are of a filter."""
    if not found.parts and not found.pending:
        yield "Nothing is indexed yet: run searchkit index."
        return
    if not found.query.clauses and found.query.condition == Condition():
        yield NOTHING_ASKED
        return
    text = one_line(found.query.text)[:MOST_CHARACTERS]
    if found.hidden:
        yield f"Nothing matches with these filters; without them {count(found.hidden, 'part')} would."
    else:
        yield f"Nothing matches {text!r}."
    for value in unknown(found.query.condition, values):
        near = ", ".join(map(one_line, value.nearest))
        hint = f"; {'did you mean' if value.are_near else 'there are'} {near}" if near else ""
        yield f"Nothing has {value.name}:{one_line(value.value)}{hint}."
    yield from missing(found)
    if files_behind:
        files = count(files_behind, "file is", "files are")
        yield f"{files} newer than the index: searchkit index reads what is new."
    yield from unfinished(found)


def unfinished(found: Answer) -> Iterator[str]:
    """Say what a pattern was not tried on, and what is not searchable yet."""
    if found.unseen:
        yield f"The pattern was not tried on {count(found.unseen, 'part')} that may match; add words or filters."
    if found.pending:
        yield f"{count(found.pending, 'part')} still to be indexed: searchkit index completes it."


def missing(found: Answer) -> Iterator[str]:
    """Name the words that nothing holds, with those most like them, unless those were looked for."""
    for word in found.missing:
        if word in found.respelled:
            continue
        alike = " or ".join(map(one_line, found.suggestions.get(word, ())))
        hint = f"; did you mean {alike}?" if alike else "."
        yield f"No {one_line(word)[:MOST_CHARACTERS]!r} anywhere{hint}"


# Why no session is listed, and what could have been meant.

List = Callable[[Condition], Sequence[Session]]
# Filters that are left out one by one to see what that would bring; each takes a look at all sessions.
MOST_LEFT_OUT = 8
# Paths and titles that are named in passing are cut here.
VALUE_CHARACTERS = 100


def no_sessions(condition: Condition, values: Callable[[str], Sequence[str]], sessions: List) -> Iterator[str]:
    """Say which filter keeps all sessions away; `values` tells which there are of one, and `sessions` lists some."""
    everything = sessions(Condition())
    if not everything:
        yield "Nothing is indexed yet: run searchkit index."
        return
    yield "No sessions match."
    # Every word is a filter of titles, and which titles there are is found out once.
    unheard = list(unknown_values(condition, cache(values)))
    yield from unheard
    others = list(islice(_others(condition), MOST_LEFT_OUT))
    for written, rest in others if len(others) > 1 or not unheard else []:
        if left := sessions(rest):
            yield f"without {written} there would be {count(len(left), 'session')}"
    times = [time for one in everything for time in (one.started, one.ended) if time]
    if condition.periods and times:
        yield f"sessions are from {day(min(times))} to {day(max(times))}"


def unknown_values(condition: Condition, values: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """Name the filters that nothing in the index has, with the nearest values."""
    for one in unknown(condition, values):
        listed = ", ".join(one_line(value)[:VALUE_CHARACTERS] for value in one.nearest)
        near = f"; {'the nearest are' if one.are_near else 'there are'} {listed}" if listed else ""
        yield f"nothing has {one.name}:{one_line(one.value)[:VALUE_CHARACTERS]}{near}"


def _others(condition: Condition) -> Iterator[tuple[str, Condition]]:
    """Yield each filter as it could be typed, and the condition without it."""
    for number, one in enumerate(condition.filters):
        kept = condition.filters[:number] + condition.filters[number + 1 :]
        yield _filter(one), replace(condition, filters=kept)
    for number, period in enumerate(condition.periods):
        left = condition.periods[:number] + condition.periods[number + 1 :]
        yield _period(period), replace(condition, periods=left)


def _filter(one: Filter) -> str:
    value = one_line(",".join(one.values))[:VALUE_CHARACTERS]
    return f"{_sign(one)}{one.name}:{value}"


def _period(one: Period) -> str:
    return " ".join(_sign(one) + _span(span) for span in one.spans)


def _span(span: Span) -> str:
    if span.end is None:
        return f"after:{day(span.start)}"
    return f"before:{day(span.end)}" if span.start is None else f"on:{day(span.start)}"


def _sign(one: Filter | Period) -> str:
    return "-" if one.is_excluded else ""


INDENT = "    "
# Columns of the names of those who speak.
SPEAKER_WIDTH = 12
# Who does what is folded.
STEPS = "..."
# What stands before the turns around a hit, the hit itself, and other passages of its session.
MARGIN, HIT, ALSO = "  ", "> ", "also "
MOST_LINES = 4
# Of the text that answers a prompt or a step, and of what else a report says.
ANSWER_LINES = 3
ENDING_LINES = 3
# Of both, where a screen is to hold several results.
COMPACT_LINES = 2
# What is said of a result that holds none of the words.
NEAR = "near in meaning"
# White space that is folded away may take more characters than a line has columns; rarely more than so many.
CHARACTERS_PER_COLUMN = 4
# Values of a facet that are shown.
MOST_BARS = 12
_VERBATIM = frozenset({Kind.TOOL_CALL, Kind.TOOL_RESULT})
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


def fitted(found: Answer, width: int, rows: int, now: float) -> list[list[str]]:
    """Show as many results as so many rows hold, at least one: all that is known of each, or, where that is too much,
    what was found and what answers it.
    """
    whole = [[*_result(rank, result, width, now), ""] for rank, result in enumerate(found.results, 1)]
    if sum(map(len, whole)) <= rows:
        return whole
    shown: list[list[str]] = []
    for rank, result in enumerate(found.results, 1):
        lines = [*_compact(rank, result, width, now), ""]
        if shown and sum(map(len, shown)) + len(lines) > rows:
            break
        shown.append(lines)
    return shown


def speaker(stored: Stored) -> str:
    """Name who speaks in a part."""
    part, link = stored.part, stored.link
    is_task = link.is_sidechain or bool(link.places[0].agent) or part.role is not Role.USER
    return name_speaker(part.kind, part.tool, app_of_entrypoint(link.context.entrypoint).name, is_task)


def name_speaker(kind: Kind, tool: str | None, app: str, is_task: bool) -> str:
    """Name who speaks: a tool, a person, the program; a prompt that no person typed is a task."""
    if kind is Kind.TOOL_CALL:
        return _tool(one_line(tool or ""))
    if kind is Kind.PROMPT and is_task:
        return "task"
    return app if kind is Kind.TEXT else _SPEAKERS.get(kind, kind.value)


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
    answer = result.answer
    yield from (INDENT + line for line in _hit(best, room))
    if answer and answer.stored.id == best.stored.id:
        yield from (INDENT + line for line in _ending(answer, room))
    for entry in result.thread[len(before) + 1 :]:
        if answer and isinstance(entry, Said) and entry.stored.id == answer.stored.id:
            yield from (INDENT + line for line in _answer(answer, room))
        else:
            yield INDENT + _around(entry, room)
    seen = {entry.stored.id for entry in result.thread if isinstance(entry, Said)}
    yield from (INDENT + _other(other, room) for other in result.others if other.stored.id not in seen)
    yield INDENT + click.style(one_line(best.stored.id), dim=True)


def _compact(rank: int, result: Result, width: int, now: float) -> Iterator[str]:
    """Show of a result what was found and what answers it, each in two lines."""
    best, answer, room = result.best, result.answer, width - len(INDENT)
    title = one_line(result.session.title if result.session and result.session.title else "(no title)")
    yield f"{click.style(f'{rank:>2}', bold=True)}  {click.style(cut(title, room), bold=True)}"
    yield INDENT + click.style(cut(_about(result, now), room), dim=True)
    yield from (INDENT + line for line in _hit(best, room, COMPACT_LINES))
    if answer and answer.stored.id == best.stored.id:
        yield from (INDENT + line for line in _ending(answer, room))
    elif answer:
        yield from (INDENT + line for line in _answer(answer, room, COMPACT_LINES))


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
        name, said = speaker(entry.stored), _beginning(entry.stored, width * CHARACTERS_PER_COLUMN)
    elif isinstance(entry, Folded):
        name, said = STEPS, describe(entry.steps)
    return click.style(cut(MARGIN + _column(name, SPEAKER_WIDTH) + said, width), dim=True)


def _hit(shown: Shown, width: int, most_lines: int = MOST_LINES) -> Iterator[str]:
    """Show who speaks and the passage, marked, with the sign that `show` has for it."""
    name = _column(speaker(shown.stored), SPEAKER_WIDTH)
    taken = len(MARGIN) + columns(name)
    for number, line in enumerate(excerpt(_passage(shown), width - taken, most_lines)):
        yield (HIT + _coloured(name, shown) if number == 0 else " " * taken) + line


def _answer(answer: Conclusion, width: int, most_lines: int = ANSWER_LINES) -> Iterator[str]:
    """Show who answers, and the first lines of the answer."""
    name = _column(speaker(answer.stored), SPEAKER_WIDTH)
    taken = len(MARGIN) + columns(name)
    for number, line in enumerate(_first(wrapped(marked(answer.passage), width - taken), width - taken, most_lines)):
        yield (MARGIN + click.style(name, fg="cyan") if number == 0 else " " * taken) + line


def _ending(answer: Conclusion, width: int) -> Iterator[str]:
    """Show what else a report says below its passage."""
    indent = " " * (len(MARGIN) + SPEAKER_WIDTH + 1)
    room = width - len(indent)
    lines = _first(wrapped(_BEGIN + marked(answer.passage), room), room, ENDING_LINES)
    yield from (indent + line for line in lines)


def _passage(shown: Shown) -> Passage:
    """Return the passage without Markdown, unless it is of a call or its result, where the signs mean other things."""
    return without_markdown(shown.passage) if shown.stored.part.kind not in _VERBATIM else shown.passage


def _beginning(stored: Stored, max_chars: int) -> str:
    text = stored.part.text[:max_chars]
    return one_line(text if stored.part.kind in _VERBATIM else without_markdown(Passage(text=text)).text)


def _other(shown: Shown, width: int) -> str:
    """Show another passage of the session on a line; it is not part of the conversation above it."""
    name = _column(speaker(shown.stored), SPEAKER_WIDTH + len(MARGIN) - len(ALSO))
    (line,) = excerpt(_passage(shown), width - len(ALSO) - columns(name), 1)
    return click.style(ALSO, dim=True) + _coloured(name, shown) + line


def _coloured(name: str, shown: Shown) -> str:
    return click.style(name, fg="red" if shown.stored.part.is_error else "cyan")


def _why(shown: Shown) -> str:
    """Say what a result's score is made of."""
    hit, ranked = shown.ranked.hit, shown.ranked
    word_power, coverage_power = ranked.powers
    raised = "" if word_power == 1 else f" ^ {word_power}"
    own = f"{hit.score:.3f} of the highest possible{raised} x {ranked.weight:.2f} as {hit.kind.value}"
    if coverage_power:
        own += f" x {hit.coverage:.0%} covered ^ {coverage_power}"
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


def footer(found: Answer, index: str | None = None, number: int | None = None) -> str:
    """Say how much was found and shown, and what to type next; `index` is the one that was named, if any.

    Where the screen had no room for more, only the first results are shown, and `number` is how many.
    """
    sessions = {result.best.stored.link.places[0].session for result in found.results} - {None}
    whole = len(found.results)
    shown = count(whole, "session" if len(sessions) == whole else "result")
    if number is not None and number < whole:
        shown = f"{number} of {shown}"
    took = f"{found.seconds * 1000:.0f} ms"
    where = f" {named}" if index and (named := command_line("--index", index)) else ""
    following = " · ".join(f"searchkit {command} 1{where}" for command in ("show", "resume"))
    more = f"-n {whole} shows all · " if number is not None and number < whole else ""
    return f"{_found(found)}, {shown} shown, {took}. Next: {more}{following}"


def _found(found: Answer) -> str:
    """Say how much holds the words, and how much of what is shown does not."""
    near = sum(map(_is_only_near, found.results))
    if near == len(found.results):
        return f"{found.total:,} {NEAR}"
    matches = count(found.total, "match", "matches")
    return f"{matches} and {near:,} {NEAR}" if near else matches


# What a search shows of a passage: so many lines of it, what was asked for marked.

# Of a line that begins inside a passage, the share that leads up to the first word asked for, and of any line the
# share that is given up at its end so as not to cut a word.
LEAD_SHARE = 0.25
# Of several lines, the share that is filled, as they break between words.
FILLED_SHARE = 0.9
_BEGIN, _END = "… ", " …"


def excerpt(passage: Passage, width: int, most_lines: int) -> list[str]:
    """Break a passage into at most so many lines, with the first word that was asked for in them."""
    if most_lines == 1:
        return [marked(_excerpt_around(passage, width))]
    whole = _stretch(passage, 0, len(passage.text))
    lines = list(wrapped(marked(whole), width))
    if len(lines) > most_lines and not any("\x1b" in line for line in lines[:most_lines]):
        lines = list(wrapped(marked(_excerpt_around(whole, int(width * most_lines * FILLED_SHARE))), width))
    return _first(lines, width, most_lines)


def _first(lines: Iterable[str], width: int, most_lines: int) -> list[str]:
    """Return the first lines, with an ellipsis where there are more."""
    lines = list(lines)
    if len(lines) <= most_lines:
        return lines
    last = cut(lines[most_lines - 1].rstrip(_END) + _END, width)
    return [*lines[: most_lines - 1], last + (RESET if "\x1b" in "".join(lines) else "")]


def marked(passage: Passage) -> str:
    """Mark what was asked for, word by word as lines may break between them; what could command the terminal goes."""
    pieces, position = [], 0
    for start, end in passage.highlights:
        words = safe(passage.text[start:end]).split(" ")
        pieces += [safe(passage.text[position:start]), " ".join(map(_mark, words))]
        position = end
    return "".join((*pieces, safe(passage.text[position:])))


def _mark(word: str) -> str:
    return click.style(word, fg="yellow", bold=True) if word else ""


def _excerpt_around(passage: Passage, room: int) -> Passage:
    """Cut a passage to so many columns around the first of its words that were asked for."""
    text = passage.text
    if columns(text) <= room:
        return _stretch(passage, 0, len(text))
    first, last = passage.highlights[0] if passage.highlights else (0, 0)
    lead, begin = int(room * LEAD_SHARE), 0
    if columns(text[:last] + _END) > room:
        # With more before it where little comes after it, and not in the middle of a word.
        end = len(text) - fitting(text[::-1], room - columns(_BEGIN))
        begin = min(first - fitting(text[:first][::-1], lead), end)
        begin = text.find(" ", max(0, begin - 1), first) + 1 or begin
    room -= columns(_BEGIN) if begin else 0
    if columns(text[begin:]) <= room:
        return _stretch(passage, begin, len(text))
    stop = begin + fitting(text[begin:], room - columns(_END))
    blank = text.rfind(" ", max(last, stop - lead), stop + 1)
    return _stretch(passage, begin, blank if blank >= 0 else stop)


def _stretch(passage: Passage, begin: int, stop: int) -> Passage:
    """Take a part of a passage, with a single ellipsis at each end where something is missing."""
    text = passage.text
    is_begun = begin > 0 or text.startswith(_BEGIN)
    is_cut = stop < len(text) or text.endswith(_END)
    while is_begun and begin < stop and text[begin] in _BEGIN:
        begin += 1
    while is_cut and stop > begin and text[stop - 1] in _END:
        stop -= 1
    before = _BEGIN if is_begun else ""
    moved = len(before) - begin
    highlights = [
        (max(start, begin) + moved, min(end, stop) + moved)
        for start, end in passage.highlights
        if start < stop and end > begin
    ]
    return Passage(text=before + text[begin:stop] + (_END if is_cut else ""), highlights=highlights)


# How a question was understood, in words: for `--explain`.

_HOW = {
    Match.WORD: "{} in any form",
    Match.PHRASE: 'exactly "{}"',
    Match.PREFIX: "words that begin with {}",
    Match.FUZZY: "words like {}",
    Match.REGEX: "words with /{}/",
}


def understood(query: Query) -> Iterator[str]:
    """Say what is looked for, what must and must not be there, and what narrows the search."""
    groups = {
        "looking for": [clause for clause in query.clauses if not clause.is_required and not clause.is_excluded],
        "required": [clause for clause in query.clauses if clause.is_required],
        "excluded": [clause for clause in query.clauses if clause.is_excluded],
    }
    for name, clauses in groups.items():
        if clauses:
            yield f"{name}: {', '.join(map(_clause, clauses))}"
    for name, value in filters(query.condition).items():
        yield f"only {name}: {one_line(str(value))}"
    if query.period is not None:
        spans = (f"{stamp(span.start) or 'ever'} to {stamp(span.end) or 'now'}" for span in query.period.spans)
        yield f"higher, because the question names it: {', '.join(spans)}"
    for note in query.notes:
        yield one_line(note)


def _clause(clause: Clause) -> str:
    return " or ".join(map(_term, clause.terms))


def _term(term: Term) -> str:
    return _HOW[term.match].format(one_line(term.text))
