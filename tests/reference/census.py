"""Counts over what the memory backend keeps."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from searchkit.types import Counts, Fact, Usage
from tests.reference.held import TRANSCRIPTS, File, Holding, Sightings, ranked


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
        gone=sum(span.has_transcript and is_gone(held, name) for name, span in held.spans.items()),
        agents=len({(file.session, file.origin.agent) for file in held.files if file.origin.kind == "agent"}),
        parts=dict(Counter(item.part.kind.value for item in stored if item.repeats is None)),
        repeats=sum(item.repeats is not None for item in stored),
        noise=dict(sorted(noise.items())),
        responses=len({record.response for record in seen if record.response and record.usage is not None}),
        touched=len({touch.path for record in seen for touch in record.touches}),
    )


def is_gone(held: Held, name: str) -> bool:
    """Say whether a session is gone: with its own files, or, where it never had any, with those it lies in."""
    own = [file for file in held.files if file.session == name and file.origin.kind in TRANSCRIPTS]
    homes = [places[0] for sightings in held.records if (places := ranked(sightings))]
    others = [home.file for home in homes if home.session == name and home.file.origin.kind in TRANSCRIPTS]
    return all(file.is_gone for file in own or others)


def responses(records: Iterable[Sightings]) -> dict[str, Usage]:
    """Return what each response cost: the most that any record of it says."""
    usages: dict[str, Usage] = {}
    for record in (sighting.record for sightings in records for sighting in sightings):
        if record.response is not None and record.usage is not None:
            usages[record.response] = _most(usages.get(record.response, record.usage), record.usage)
    return usages


def _most(one: Usage, other: Usage) -> Usage:
    return Usage(
        input=max(one.input, other.input),
        output=max(one.output, other.output),
        cache_read=max(one.cache_read, other.cache_read),
        cache_write=max(one.cache_write, other.cache_write),
        cost=max((usage.cost for usage in (one, other) if usage.cost is not None), default=None),
        cache_write_1h=max(one.cache_write_1h, other.cache_write_1h),
    )
