"""Opens sources: which program a directory is of, and the package that reads what it wrote.

The programs are the rows of `apps`. Their packages are imported when one of their sources is opened.
"""

import glob
import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from searchkit.errors import UsageError
from searchkit.sources.apps import APPS, DEFAULT, App
from searchkit.sources.base import Share, Source, Survey
from searchkit.system import paths
from searchkit.types import Behind, Change, Reading

if TYPE_CHECKING:
    from searchkit.sources.base import Adapter


# Several sources as one: each reads below its own roots.


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

    def changes(self, seen: Mapping[str, bytes], share: Share | None = None, /) -> Iterator[Change]:
        """Yield what is new; what is left to read counts all sources."""
        behind = [source.behind(self._own(source, seen)).bytes for source in self._sources]
        for number, source in enumerate(self._sources):
            later = sum(behind[number + 1 :])
            for change in source.changes(self._own(source, seen), share):
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


def app_named(name: str) -> App:
    """Return a program by its name."""
    try:
        return APPS[name]
    except KeyError:
        raise UsageError(f"{name!r} is no agent program that is known", f"use one of {', '.join(APPS)}") from None


def adapter(name: str) -> "Adapter":
    """Import the package that reads what a program wrote."""
    return cast("Adapter", importlib.import_module(app_named(name).package))


def open_source(name: str, roots: Sequence[Path]) -> "Source":
    """Open the transcripts of one program below its roots."""
    return adapter(name).open(roots)


def open_sources(roots: Sequence[Path]) -> "Source":
    """Open the transcripts below roots of any programs, as one source."""
    several = [open_source(name, own) for name, own in by_app(roots).items()]
    if len(several) == 1:
        return several[0]

    return JoinedSource(several)


def by_app(roots: Sequence[Path]) -> dict[str, list[Path]]:
    """Sort roots by the programs they are of, in the order of the roots."""
    sorted_roots: dict[str, list[Path]] = {}
    for root in roots:
        sorted_roots.setdefault(app_of(root).name, []).append(root)
    return sorted_roots


def app_of(root: str | Path) -> App:
    """Return the program that a root is of, by what lies in it; one in which nothing lies is the default's."""
    return _signed(root) or APPS[DEFAULT]


def app_of_file(file: str) -> App:
    """Return the program that wrote a file, by the nearest directory above it that is a root of one."""
    directory = os.path.dirname(file)
    while directory != os.path.dirname(directory):
        if (app := _signed(directory)) is not None:
            return app
        directory = os.path.dirname(directory)
    return APPS[DEFAULT]


def default_roots(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return where transcripts lie of all programs that wrote some; where there are none, of the default.

    A directory that an environment variable names counts, whatever lies in it.
    """
    found = []
    for app in APPS.values():
        root = paths.absolute(environment.get(app.variable) or app.home, environment)
        if environment.get(app.variable) or _has_signs(app, root):
            found.append(Path(root))
    return tuple(dict.fromkeys(found)) or (Path(paths.absolute(APPS[DEFAULT].home, environment)),)


def is_any_named(environment: Mapping[str, str]) -> bool:
    """Say whether an environment variable of a program says where its transcripts lie."""
    return any(environment.get(app.variable) for app in APPS.values())


def watched(root: Path) -> list[str]:
    """List the files and directories below a root in which a change is worth reading."""
    return [str(root / name) for name in app_of(root).watched]


def _signed(root: str | Path) -> App | None:
    """Return the program whose sign with the longest path lies in a directory; of equal ones the first."""
    lengths = {name: _longest_sign(app, root) for name, app in APPS.items()}
    longest = max(lengths, key=lambda name: lengths[name])
    return APPS[longest] if lengths[longest] else None


def _has_signs(app: App, root: str | Path) -> bool:
    return _longest_sign(app, root) > 0


def _longest_sign(app: App, root: str | Path) -> int:
    """Return how many names the longest sign of a program has that lies in a directory; 0 where none does."""
    return max((sign.count("/") + 1 for sign in app.signs if _is_there(os.path.join(root, ""), sign)), default=0)


def _is_there(root: str, sign: str) -> bool:
    if "*" not in sign:
        return os.path.isdir(root + sign)
    return any(os.path.isdir(root + found) for found in glob.iglob(sign, root_dir=root))
