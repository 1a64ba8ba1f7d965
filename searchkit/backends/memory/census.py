"""Counts and lists over what the memory backend keeps: how much there is, and sessions by condition."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from searchkit.backends.base import Condition, Holding, Stored
from searchkit.backends.memory.held import TRANSCRIPTS, File, Sightings, ranked
from searchkit.types import Counts, Fact, Kind, Session, Usage

# A first prompt serves as a title where there is no other; this much of it.
TITLE_CHARACTERS = 100
TITLES = ("custom-title", "ai-title", "summary", "index-title", "index-summary")
_TYPED = (Kind.PROMPT, Kind.COMMAND, Kind.HISTORY)


class Span(msgspec.Struct, kw_only=True):
    """When a session began and ended, as far as its records have told."""

    started: int | None = None
    ended: int | None = None
    has_transcript: bool = False

    def extend(self, time: int | None, is_transcript: bool) -> None:
        """Take in one more record of the session."""
        self.has_transcript |= is_transcript
        if time is not None:
            self.started = time if self.started is None else min(self.started, time)
            self.ended = time if self.ended is None else max(self.ended, time)


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the backend keeps."""

    files: Sequence[File]
    records: Sequence[Sightings]
    facts: Sequence[Fact]
    spans: Mapping[str, Span]
    holdings: Sequence[Holding]


def sessions(held: Held, condition: Condition) -> list[Session]:
    """Return the sessions for which a condition holds, newest first."""
    found = [_session(held, name, span) for name, span in held.spans.items() if _holds(held, condition, name, span)]
    return sorted(found, key=lambda session: (session.ended is None, -(session.ended or 0), session.id))


def counts(held: Held) -> Counts:
    """Count what is kept."""
    stored = [part for holding in held.holdings for part in holding.parts]
    growing = [file for file in held.files if file.origin.kind in TRANSCRIPTS or file.origin.kind == "history"]
    lines = sum(file.tally.lines for file in growing)
    torn = sum(file.tally.torn for file in growing)
    noise: Counter[str] = Counter()
    for file in held.files:
        noise.update(file.tally.noise)
    seen = [sighting.record for sightings in held.records for sighting in sightings]
    return Counts(
        files=sum(file.origin.kind in TRANSCRIPTS for file in held.files),
        bytes=sum(file.tally.bytes for file in held.files),
        lines=lines,
        torn=torn,
        records=lines - torn,
        links=sum(ranked(sightings)[0].record.is_link for sightings in held.records),
        sessions=sum(span.has_transcript for span in held.spans.values()),
        sessions_without_transcript=sum(not span.has_transcript for span in held.spans.values()),
        agents=len({(file.session, file.origin.agent) for file in held.files if file.origin.kind == "agent"}),
        parts=dict(Counter(item.part.kind.value for item in stored if item.repeats is None)),
        repeats=sum(item.repeats is not None for item in stored),
        noise=dict(sorted(noise.items())),
        responses=len({record.response for record in seen if record.response and record.usage is not None}),
        touched=len({touch.path for record in seen for touch in record.touches}),
    )


def responses(records: Iterable[Sightings]) -> dict[str, Usage]:
    """Return what each response cost: the most that any record of it says."""
    usages: dict[str, Usage] = {}
    for record in (sighting.record for sightings in records for sighting in sightings):
        if record.response is not None and record.usage is not None:
            usages[record.response] = _most(usages.get(record.response, record.usage), record.usage)
    return usages


def _holds(held: Held, condition: Condition, name: str, span: Span) -> bool:
    told = [fact for fact in held.facts if fact.session == name]
    tests = [
        condition.project is None or _says(told, ("project",), condition.project),
        condition.branch is None or _says(told, ("branch",), condition.branch),
        condition.model is None or _says(told, ("model",), condition.model),
        condition.title is None or _says(told, TITLES, condition.title),
        condition.file is None or _touches(held, name, condition.file) or _says(told, ("tracked",), condition.file),
        condition.after is None or (span.ended is not None and span.ended >= condition.after),
        condition.before is None or (span.started is not None and span.started < condition.before),
        condition.ids is None or name in condition.ids,
    ]
    return all(tests)


def _says(told: Iterable[Fact], names: Sequence[str], wanted: str) -> bool:
    return any(fact.name in names and wanted.lower() in fact.value.lower() for fact in told)


def _touches(held: Held, name: str, wanted: str) -> bool:
    """Whether a record at home in the session touched a file with such a path."""
    return any(
        wanted.lower() in touch.path.lower()
        for sightings in held.records
        if ranked(sightings)[0].session == name
        for sighting in sightings
        for touch in sighting.record.touches
    )


def _session(held: Held, name: str, span: Span) -> Session:
    told = [fact for fact in held.facts if fact.session == name]
    at_home = [holding for holding in held.holdings if holding.link.places[0].session == name]
    own = [part for holding in at_home if holding.link.places[0].agent is None for part in holding.parts]
    files = [file for file in held.files if file.session == name]
    return Session(
        id=name,
        project=_latest(told, "project"),
        title=_title(held, told, at_home, own),
        branch=_latest(told, "branch"),
        started=span.started,
        ended=span.ended,
        records=len(at_home),
        prompts=sum(item.part.kind is Kind.PROMPT and item.repeats is None for item in own),
        agents=len({file.origin.agent for file in files if file.origin.kind == "agent" and file.origin.agent}),
        is_gone=not any(file.origin.kind in TRANSCRIPTS and not file.is_gone for file in files),
    )


def _title(held: Held, told: list[Fact], at_home: list[Holding], own: list[Stored]) -> str | None:
    """Choose a title; a summary is often written into another session's file, and names a record of its own."""
    uuids = {holding.link.uuid for holding in at_home}
    named = [fact for fact in held.facts if fact.leaf in uuids]
    return (
        _latest(told, "custom-title")
        or _latest(told, "ai-title")
        or _latest(named, "summary")
        or _latest(told, "summary")
        or _latest(told, "index-title")
        or _latest(told, "index-summary")
        or _first_prompt(own)
    )


def _latest(facts: Iterable[Fact], name: str) -> str | None:
    found = sorted((-fact.line, fact.value) for fact in facts if fact.name == name)
    return found[0][1] if found else None


def _first_prompt(own: Iterable[Stored]) -> str | None:
    typed = [item for item in own if item.part.kind in _TYPED]
    if not typed:
        return None
    return " ".join(min(typed, key=_age).part.text.split())[:TITLE_CHARACTERS]


def _age(item: Stored) -> tuple[int, bool, int, int, str, int, str]:
    """Order what was typed: prompts, commands, history; then by time and place."""
    place, time = item.link.places[0], item.link.time
    order = _TYPED.index(item.part.kind)
    return order, time is not None, time or 0, place.line, place.file, item.part.block, item.id


def _most(one: Usage, other: Usage) -> Usage:
    return Usage(
        input=max(one.input, other.input),
        output=max(one.output, other.output),
        cache_read=max(one.cache_read, other.cache_read),
        cache_write=max(one.cache_write, other.cache_write),
        cost=max((usage.cost for usage in (one, other) if usage.cost is not None), default=None),
    )
