"""Sessions as the memory backend works them out: which are meant, and how each is told."""

from collections import Counter
from collections.abc import Iterable, Iterator

from searchkit.backends.base import Stored
from searchkit.backends.local.catalog.sessions import MOST_TYPED, title_from
from searchkit.query.filters import BY_NAME, is_met, is_time_met
from searchkit.query.types import Condition
from searchkit.sources.apps import DEFAULT
from searchkit.types import Fact, Kind, Session
from tests.reference.census import Held, Span, is_gone
from tests.reference.held import File, Holding

TITLES = ("custom-title", "ai-title", "summary", "index-title", "index-summary")
_TYPED = (Kind.PROMPT, Kind.COMMAND, Kind.HISTORY)


def sessions(held: Held, condition: Condition) -> list[Session]:
    """Return the sessions for which a condition holds, newest first."""
    found = [session(held, name, span) for name, span in held.spans.items() if _is_meant(held, condition, name, span)]
    return sorted(found, key=lambda session: (session.ended is None, -(session.ended or 0), session.id))


def session(held: Held, name: str, span: Span) -> Session:
    """Tell a session."""
    told = [fact for fact in held.facts if fact.session == name]
    at_home = [holding for holding in held.holdings if holding.link.places[0].session == name]
    own = [part for holding in at_home if holding.link.places[0].agent is None for part in holding.parts]
    files = [file for file in held.files if file.session == name and not _is_warmup(held, file)]
    return Session(
        id=name,
        project=latest(told, "project"),
        title=_title(held, told, at_home),
        branch=latest(told, "branch"),
        started=span.started,
        ended=span.ended,
        records=len(at_home),
        prompts=sum(item.part.kind is Kind.PROMPT and item.repeats is None for item in own),
        agents=len({file.origin.agent for file in files if file.origin.kind == "agent" and file.origin.agent}),
        is_gone=is_gone(held, name),
        app=latest(told, "app") or DEFAULT,
    )


def _is_warmup(held: Held, file: File) -> bool:
    """Say whether nothing is kept of all the records that are at home in a file: it only warmed a cache, or guessed."""
    at_home = [holding for holding in held.holdings if holding.link.places[0].file == file.path]
    kinds = {stored.part.kind for holding in at_home for stored in holding.parts}
    return bool(at_home) and not kinds - {Kind.TITLE}


def values(held: Held, asked: str) -> list[str]:
    """Return the values there are of a filter, those that most sessions have first."""
    counted: Counter[str] = Counter()
    for name in (*held.spans, None):
        counted.update(set(values_of(held, asked, name)))
    return sorted(counted, key=lambda value: (-counted[value], value))


def _is_meant(held: Held, condition: Condition, name: str, span: Span) -> bool:
    return all(is_met(one, values_of(held, one.name, name)) for one in condition.filters) and all(
        is_time_met(period, span.started, span.ended) for period in condition.periods
    )


def values_of(held: Held, asked: str, name: str | None) -> Iterator[str]:
    """Yield what a session has of what a filter asks for; None is where there is no session."""
    facts = TITLES if asked == "title" else (BY_NAME[asked].fact,)
    told = [fact.value for fact in held.facts if fact.session == name and fact.name in facts]
    yield from told or filter(None, [BY_NAME[asked].absent])
    if asked in ("session", "title"):
        if name is not None:
            yield from filter(None, [name if asked == "session" else session(held, name, held.spans[name]).title])
    elif asked == "file":
        seen = [sightings for sightings in held.records if any(place.session == name for place in sightings)]
        yield from (touch.path for sightings in seen for place in sightings for touch in place.record.touches)
    elif asked == "agent":
        places = (place for holding in held.holdings for place in holding.link.places)
        yield from (place.agent for place in places if place.session == name and place.agent)
    else:
        there = (one for one in held.holdings if any(place.session == name for place in one.link.places))
        for stored in (stored for holding in there for stored in holding.parts if stored.repeats is None):
            yield from _values_of_part(stored, asked)


def _values_of_part(stored: Stored, asked: str) -> Iterator[str]:
    part = stored.part
    if asked == "kind":
        yield part.kind.value
    elif asked == "role":
        yield part.role.value
    elif asked == "language" and part.language:
        yield part.language.value
    elif asked == "tool" and part.tool:
        yield part.tool
    elif asked == "is":
        states = {"error": part.is_error, "sidechain": stored.link.is_sidechain, "summary": part.kind is Kind.SUMMARY}
        yield from (state for state, is_so in states.items() if is_so)


def _title(held: Held, told: list[Fact], at_home: list[Holding]) -> str | None:
    """Choose a title; a summary is often written into another session's file, and names a record of its own."""
    uuids = {holding.link.uuid for holding in at_home}
    named = [fact for fact in held.facts if fact.leaf in uuids]
    return (
        latest(told, "custom-title")
        or latest(told, "ai-title")
        or latest(named, "summary")
        or latest(told, "summary")
        or latest(told, "index-title")
        or latest(told, "index-summary")
        or title_from(_typed(at_home))
    )


def latest(facts: Iterable[Fact], name: str) -> str | None:
    """Return a fact of the last line, of several there the first by value."""
    found = sorted((-fact.line, fact.value) for fact in facts if fact.name == name)
    return found[0][1] if found else None


def _typed(at_home: Iterable[Holding]) -> list[str]:
    """Return what a person typed, and behind it what agents were told."""
    typed = [item for holding in at_home for item in holding.parts if item.part.kind in _TYPED]
    return [item.part.text for item in sorted(typed, key=_age)[:MOST_TYPED]]


def _age(item: Stored) -> tuple[bool, int, bool, int, int, str, int, str]:
    """Order what was typed: by persons; prompts, commands, history; then by time and place."""
    place, time = item.link.places[0], item.link.time
    order = _TYPED.index(item.part.kind)
    return place.agent is not None, order, time is None, time or 0, place.line, place.file, item.part.block, item.id
