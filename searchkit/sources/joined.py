"""Several sources as one: each reads below its own roots."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from searchkit.sources.base import Source, Survey
from searchkit.types import Behind, Change, Reading


class JoinedSource:
    """The transcripts of several programs, one program after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Join sources whose roots are different."""
        self._sources = tuple(sources)

    @property
    def roots(self) -> Sequence[Path]:
        """The directories to watch for changes."""
        return tuple(root for source in self._sources for root in source.roots)

    @property
    def readings(self) -> Sequence[Reading]:
        """How this version reads each program."""
        return tuple(reading for source in self._sources for reading in source.readings)

    def changes(self, seen: Mapping[str, bytes], /) -> Iterator[Change]:
        """Yield what is new; what is left to read counts all sources."""
        behind = [source.behind(self._own(source, seen)).bytes for source in self._sources]
        for number, source in enumerate(self._sources):
            later = sum(behind[number + 1 :])
            for change in source.changes(self._own(source, seen)):
                yield replace(change, bytes_left=change.bytes_left + later) if later else change

    def behind(self, seen: Mapping[str, bytes], /) -> Behind:
        """Say how much is new, without reading any of it."""
        return _sum(source.behind(self._own(source, seen)) for source in self._sources)

    def survey(self, seen: Mapping[str, bytes], now: int, /) -> Survey:
        """Say how much is new, and what of it will be deleted."""
        several = [source.survey(self._own(source, seen), now) for source in self._sources]
        exposures = [exposure for survey in several for exposure in survey.exposures]
        return Survey(behind=_sum(survey.behind for survey in several), exposures=exposures)

    def unread(self, checkpoint: bytes, /) -> bytes:
        """Return the checkpoint of the same file, of which nothing has been read; all sources write them alike."""
        return self._sources[0].unread(checkpoint)

    def _own(self, source: Source, seen: Mapping[str, bytes]) -> dict[str, bytes]:
        """Leave out the files of other sources; what lies below no root may have been moved to any."""
        others = tuple(str(root) + os.sep for other in self._sources if other is not source for root in other.roots)
        own = tuple(str(root) + os.sep for root in source.roots)
        return {file: mark for file, mark in seen.items() if file.startswith(own) or not file.startswith(others)}


def _sum(several: Iterator[Behind]) -> Behind:
    counted = list(several)
    return Behind(files=sum(one.files for one in counted), bytes=sum(one.bytes for one in counted))
