"""The source itself: lists what is below its roots and reads what is new."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from searchkit.sources.base import Share, Survey
from searchkit.sources.claude.events import READING
from searchkit.sources.claude.layout import (
    GROWING,
    TRANSCRIPTS,
    FileKind,
    check,
    found,
    overflow_places,
    paste_place,
    run_of,
)
from searchkit.sources.claude.messages import persisted_path
from searchkit.sources.claude.reader import Memory, Reader
from searchkit.sources.claude.retention_settings import policy
from searchkit.sources.claude.side_files import BEHIND_LINES, read_document, read_history
from searchkit.sources.jsonl import OVERLONG, Piece, Shape, decode, open_regular
from searchkit.sources.salvage import describe, gaps, whole_objects
from searchkit.sources.transcripts import Document, Found, PassOver, Transcripts, unread, whole
from searchkit.types import (
    DAY_MILLISECONDS,
    SOON_DAYS,
    Behind,
    Change,
    Exposure,
    Fact,
    Origin,
    Policy,
    Problem,
    Reading,
    Record,
)

# Characters of pasted texts that are taken into the history at one reading. The same text may be named on every line.
MOST_PASTED = 1 << 26


class ClaudeSource:
    """The transcripts and side files below one or many roots."""

    def __init__(self, roots: Sequence[Path]) -> None:
        """Raise for a root that cannot be one, before anything is read."""
        for root in roots:
            check(root)
        self._files = Transcripts(roots, _ClaudeFormat())

    @property
    def roots(self) -> Sequence[Path]:
        """The directories to watch for changes."""
        return self._files.roots

    @property
    def readings(self) -> Sequence[Reading]:
        """How this version reads."""
        return (READING,)

    def changes(self, seen: Mapping[str, bytes], share: Share | None = None, /) -> Iterator[Change]:
        """Yield what is new: newest transcripts first, copies after originals, side files last."""
        return self._files.changes(seen, share)

    def unread(self, checkpoint: bytes, /) -> bytes:
        """Return the checkpoint of the same file, of which nothing has been read."""
        return unread(checkpoint)

    def behind(self, seen: Mapping[str, bytes], /) -> Behind:
        """Say how much is new, without reading any of it."""
        return self._files.behind(seen)

    def survey(self, seen: Mapping[str, bytes], now: int, /) -> Survey:
        """Say how much is new, and what of it Claude Code will delete and when; reads nothing but settings."""
        files = size = 0
        ages: dict[str, list[_Age]] = {str(root): [] for root in self.roots}
        for job in self._files.jobs(seen):
            if not job.is_same:
                files, size = files + 1, size + job.size
            root = _swept_below(job.item)
            if root in ages:
                modified = job.item.shape.modified // 1_000_000
                ages[root].append(_Age(modified=modified, is_read=job.is_same, bytes_left=job.size))
        exposures = [_exposure(policy(Path(root)), found, now) for root, found in ages.items()]
        return Survey(behind=Behind(files=files, bytes=size), exposures=exposures)


class _ClaudeFormat:
    """What Claude Code writes, and how it reads."""

    def found(self, root: Path, pass_over: PassOver, /) -> Iterator[Found]:
        return found(root, pass_over)

    def is_growing(self, origin: Origin, /) -> bool:
        return origin.kind in GROWING

    def order(self, item: Found, /) -> tuple[bool, bool, int, str]:
        is_side = item.origin.kind not in GROWING
        return is_side, item.origin.is_copy, -item.shape.modified, item.path

    def reader(self, item: Found, memory: msgspec.Raw, /) -> "_ClaudeReader":
        return _ClaudeReader(item, memory)

    def document(self, item: Found, content: bytes, /) -> Document:
        return read_document(item.path, content, item.origin, item.shape.modified // 1_000_000)


class _ClaudeReader:
    """Reads a transcript or the history, with the files that its records name."""

    def __init__(self, item: Found, memory: msgspec.Raw) -> None:
        self._path = item.path
        self.origin = item.origin
        self._named: list[str] = []
        self._reader = Reader(item.origin, _remembered(memory), self._overflow)
        self._pastes = _Pastes(item.path, self._named)

    @property
    def records(self) -> Sequence[Record]:
        return self._reader.records

    @property
    def facts(self) -> Sequence[Fact]:
        return self._reader.facts

    @property
    def problems(self) -> Sequence[Problem]:
        return self._reader.problems

    @property
    def noise(self) -> Mapping[str, int]:
        return self._reader.noise

    @property
    def lines(self) -> int:
        return self._reader.lines

    @property
    def torn(self) -> int:
        return self._reader.torn

    @property
    def memory(self) -> Memory:
        return self._reader.memory

    def read(self, piece: Piece, /) -> None:
        self._named.clear()
        self._reader.begin()
        if self.origin.kind == FileKind.HISTORY:
            _read_history(self._reader, piece, self._pastes)
        else:
            self._reader.read(piece.lines)
            self._reader.facts.extend(_run_facts(self._path, self._reader.records))

    def beside(self) -> Iterator[Change]:
        """Yield the files whose texts the records hold."""
        for path in dict.fromkeys(self._named):
            yield _read_elsewhere(path, self.origin)

    def _overflow(self, said: str) -> str | None:
        """Find the whole text of a result that the transcript only names, by base name."""
        for candidate in overflow_places(self._path, self.origin, persisted_path(said)):
            try:
                with open_regular(candidate) as file:
                    content = file.read()
            except OSError:
                # It is missing, or it is reported by itself; the preview stands.
                continue
            if b"\0" in content[:8192]:
                return None
            self._named.append(candidate)
            return content.decode("utf-8", "replace")
        return None


def _remembered(memory: msgspec.Raw) -> Memory:
    """Read what was remembered; a damaged memory is none."""
    try:
        return msgspec.json.decode(memory, type=Memory)
    except msgspec.MsgspecError:
        return Memory()


class _Age(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """When a transcript was written to, and how much of it is not indexed."""

    modified: int
    is_read: bool
    bytes_left: int


def _swept_below(item: Found) -> str | None:
    """Return the root of a transcript that Claude Code deletes with age.

    Those are the ones directly in a directory of a project. Agents and workflows below a session's directory were
    left by every version that was looked at.
    """
    projects = os.path.dirname(os.path.dirname(item.path))
    is_swept = item.origin.kind in TRANSCRIPTS and item.path.endswith(".jsonl")
    return os.path.dirname(projects) if is_swept and os.path.basename(projects) == "projects" else None


def _exposure(policy: Policy, ages: Sequence[_Age], now: int) -> Exposure:
    kept_for = policy.days * DAY_MILLISECONDS
    unread = [age for age in ages if not age.is_read]
    soon = now + SOON_DAYS * DAY_MILLISECONDS
    return Exposure(
        policy=policy,
        transcripts=len(ages),
        first_due=min((age.modified for age in ages), default=0) + kept_for if ages else None,
        overdue=sum(age.modified + kept_for < now for age in ages),
        unread=len(unread),
        unread_bytes=sum(age.bytes_left for age in unread),
        unread_soon=sum(age.modified + kept_for < soon for age in unread),
    )


class _Pastes:
    """The pasted texts that a history names, each read once."""

    def __init__(self, history: str, named: list[str]) -> None:
        self._history = history
        self._named = named
        self._known: dict[str, str | None] = {}
        self._left = MOST_PASTED

    def text(self, name: str) -> str | None:
        """Return a text by its hash, and note that its file is read; None where there is none to be had."""
        if name not in self._known:
            self._known[name] = self._read(name)
        said = self._known[name]
        self._left -= len(said or "")
        return said if self._left >= 0 else None

    def _read(self, name: str) -> str | None:
        path = paste_place(self._history, name)
        if path is None:
            return None
        try:
            with open_regular(path) as file:
                content = file.read(MOST_PASTED)
        except OSError:
            # It is reported by itself.
            return None
        if b"\0" in content[:8192]:
            return None
        self._named.append(path)
        return content.decode("utf-8", "replace")


def _run_facts(path: str, records: Sequence[Record]) -> Iterator[Fact]:
    """Say of which run of a workflow the agents are whose records a file below it holds."""
    run = run_of(path)
    if run is not None:
        for session, agent in sorted({(one.session or "", one.agent or "") for one in records}):
            if session and agent:
                yield Fact(session=session, agent=agent, name="run", value=run)


def _read_history(reader: Reader, piece: Piece, pastes: _Pastes) -> None:
    for number, line in piece.lines:
        data = decode(line)
        if data is not None:
            _add_history(reader, number, data, pastes)
        elif not line:
            reader.lose(number, OVERLONG)
        elif not line.isspace():
            kept = []
            for span in whole_objects(line):
                data = decode(line[span.start : span.end])
                if data is not None and (span.is_apart or isinstance(data.get("display"), str)):
                    kept.append(span)
                    _add_history(reader, number, data, pastes)
            for gap in gaps(line, kept):
                reader.lose(number, describe(gap))


def _add_history(reader: Reader, number: int, data: dict[str, object], pastes: _Pastes) -> None:
    reader.lines += 1
    record = read_history(number, data, pastes.text)
    if record is not None:
        reader.records.append(record)
        if record.session and record.context.cwd:
            # Any transcript knows the project better.
            fact = Fact(session=record.session, name="project", value=record.context.cwd, line=BEHIND_LINES)
            reader.facts.append(fact)


def _read_elsewhere(path: str, origin: Origin) -> Change:
    """Mark an overflow file or a pasted text as read, since the record that names it holds its text."""
    is_paste = origin.kind == FileKind.HISTORY
    return Change(
        file=path,
        origin=Origin(
            kind=FileKind.PASTE if is_paste else FileKind.OVERFLOW,
            session=origin.session,
            project_directory=origin.project_directory,
            is_document=True,
        ),
        checkpoint=whole(Shape.of(os.stat(path))),
        is_restart=True,
    )
