"""The source itself: lists what is below its roots and reads what is new."""

import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from searchkit.sources.claude.layout import (
    GROWING,
    LINK_OUT,
    TRANSCRIPTS,
    FileKind,
    Found,
    PassOver,
    check,
    found,
    overflow_places,
    paste_place,
    run_of,
)
from searchkit.sources.claude.messages import persisted_path
from searchkit.sources.claude.reader import Memory, Reader
from searchkit.sources.claude.readings import READING
from searchkit.sources.claude.retention_settings import policy
from searchkit.sources.claude.side_files import BEHIND_LINES, read_document, read_history
from searchkit.sources.files import open_regular
from searchkit.sources.jsonl import OVERLONG, Growth, Mark, Piece, Shape, compare, decode, pieces
from searchkit.sources.salvage import describe, gaps, whole_objects
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
    Tally,
)

log = logging.getLogger(__name__)

# Characters of pasted texts that are taken into the history at one reading. The same text may be named on every line.
MOST_PASTED = 1 << 26


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a file was read, and what reading on must remember."""

    mark: Mark
    memory: Memory = Memory()
    tally: Tally = Tally()
    is_gone: bool = False


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What is not read yet, and, for each root, what Claude Code will delete."""

    behind: Behind
    exposures: Sequence[Exposure]


class ClaudeSource:
    """The transcripts and side files below one or many roots."""

    def __init__(self, roots: Sequence[Path]) -> None:
        """Raise for a root that cannot be one, before anything is read."""
        for root in roots:
            check(root)
        self._roots = tuple(roots)

    @property
    def roots(self) -> Sequence[Path]:
        """The directories to watch for changes."""
        return self._roots

    @property
    def reading(self) -> Reading:
        """How this version reads."""
        return READING

    def changes(self, seen: Mapping[str, bytes], /) -> Iterator[Change]:
        """Yield what is new: newest transcripts first, copies after originals, side files last."""
        checkpoints = {file: _decode(checkpoint) for file, checkpoint in seen.items()}
        passed_over: dict[str, str] = {}
        present = {item.path: item for item in self._found(passed_over.__setitem__)}
        yield from (_passed_over(path, why) for path, why in passed_over.items())
        moved = _moved(present, checkpoints)
        yield from self._departures(present, checkpoints, set(moved.values()))
        changed = _jobs(present, checkpoints, moved)
        # From here on only what is still to be read is kept: files are many.
        present.clear()
        checkpoints.clear()
        left = sum(job.size for job in changed)
        overflowed: set[str] = set()
        changed.reverse()
        while changed:
            job = changed.pop()
            if job.item.path in overflowed:
                left -= job.size
                continue
            before = left
            left -= job.size
            for change in job.changes():
                if change.origin.kind in (FileKind.OVERFLOW, FileKind.PASTE):
                    overflowed.add(change.file)
                before -= change.bytes_read
                yield msgspec.structs.replace(change, bytes_left=max(before, left))

    def unread(self, checkpoint: bytes, /) -> bytes:
        """Return the checkpoint of the same file, of which nothing has been read."""
        known = _decode(checkpoint)
        mark = Mark(device=known.mark.device, inode=known.mark.inode, size=-1)
        return _ENCODE(Checkpoint(mark=mark, is_gone=known.is_gone))

    def behind(self, seen: Mapping[str, bytes], /) -> Behind:
        """Say how much is new, without reading any of it."""
        checkpoints = {file: _decode(checkpoint) for file, checkpoint in seen.items()}
        files = size = 0
        for item in self._found():
            job = _Job(item, checkpoints.get(item.path), None)
            if not job.is_same:
                files, size = files + 1, size + job.size
        return Behind(files=files, bytes=size)

    def survey(self, seen: Mapping[str, bytes], now: int) -> Survey:
        """Say how much is new, and what of it Claude Code will delete and when; reads nothing but settings."""
        checkpoints = {file: _decode(checkpoint) for file, checkpoint in seen.items()}
        files = size = 0
        ages: dict[str, list[_Age]] = {str(root): [] for root in self._roots}
        for item in self._found():
            job = _Job(item, checkpoints.get(item.path), None)
            if not job.is_same:
                files, size = files + 1, size + job.size
            root = _swept_below(item)
            if root in ages:
                modified = item.shape.modified // 1_000_000
                ages[root].append(_Age(modified=modified, is_read=job.is_same, bytes_left=job.size))
        exposures = [_exposure(policy(Path(root)), found, now) for root, found in ages.items()]
        return Survey(behind=Behind(files=files, bytes=size), exposures=exposures)

    def _found(self, pass_over: PassOver = lambda path, why: None) -> Iterator[Found]:
        """List the files below all roots, each once."""
        listed: set[str] = set()
        for root in dict.fromkeys(self._roots):
            for item in found(root, pass_over):
                if item.path not in listed:
                    yield item
                    if len(self._roots) > 1:
                        listed.add(item.path)

    def _departures(
        self, present: Mapping[str, Found], checkpoints: Mapping[str, Checkpoint], moved: set[str]
    ) -> Iterator[Change]:
        """Say which files below the roots are gone; one that merely cannot be listed now is not."""
        roots = tuple(str(root) + os.sep for root in self._roots)
        for file, checkpoint in checkpoints.items():
            is_known = checkpoint.is_gone or file in present or file in moved
            if not is_known and file.startswith(roots) and _is_absent(file):
                gone = _ENCODE(msgspec.structs.replace(checkpoint, is_gone=True))
                yield Change(file=file, origin=Origin(kind=""), checkpoint=gone, is_gone=True)


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


class _Job:
    """One file that may have something new."""

    __slots__ = ("_checkpoint", "_moved_from", "is_same", "item", "size")

    def __init__(self, item: Found, checkpoint: Checkpoint | None, moved_from: str | None) -> None:
        self.item = item
        self._moved_from = moved_from
        self._checkpoint = checkpoint
        shape, mark = item.shape, checkpoint.mark if checkpoint else Mark()
        same = (shape.device, shape.inode, shape.size, shape.modified)
        is_known = checkpoint is not None and not checkpoint.is_gone and moved_from is None
        self.is_same = is_known and same == (mark.device, mark.inode, mark.size, mark.modified)
        self.size = max(0, shape.size - mark.offset)

    def changes(self) -> Iterator[Change]:
        """Read what is new; a file that cannot be read is reported and tried again next time."""
        try:
            yield from self._read() if self.item.origin.kind in GROWING else self._read_document()
        except FileNotFoundError:
            log.info("%s went away before it was read", self.item.path)
        except OSError as error:
            problem = Problem(kind="unreadable", line=0, detail=error.strerror or "")
            yield Change(file=self.item.path, origin=self.item.origin, checkpoint=None, problems=[problem])

    def _read(self) -> Iterator[Change]:
        checkpoint = self._checkpoint
        growth = compare(self.item.path, self.item.shape, checkpoint.mark) if checkpoint else Growth.REPLACED
        if growth is Growth.REPLACED or checkpoint is None:
            checkpoint = Checkpoint(mark=Mark())
        is_restart, moved_from = checkpoint.mark.offset == 0, self._moved_from
        named: list[str] = []
        tally = checkpoint.tally
        reader = Reader(self.item.origin, checkpoint.memory, lambda said: self._overflow(said, named))
        pastes = _Pastes(self.item.path, named)
        for piece in pieces(self.item.path, checkpoint.mark):
            reader.begin()
            if self.item.origin.kind == FileKind.HISTORY:
                _read_history(reader, piece, pastes)
            else:
                reader.read(piece.lines)
                reader.facts.extend(_run_facts(self.item.path, reader.records))
            tally = _added(tally, reader, piece)
            for path in dict.fromkeys(named):
                yield _read_elsewhere(path, self.item.origin)
            named.clear()
            yield Change(
                file=self.item.path,
                origin=self.item.origin,
                checkpoint=_ENCODE(Checkpoint(mark=piece.mark, memory=reader.memory, tally=tally)),
                records=reader.records,
                facts=reader.facts,
                problems=reader.problems,
                tally=tally,
                left_out=dict(reader.noise),
                is_restart=is_restart,
                moved_from=moved_from,
                bytes_read=piece.bytes_read,
            )
            is_restart, moved_from = False, None

    def _overflow(self, said: str, named: list[str]) -> str | None:
        """Find the whole text of a result that the transcript only names, by base name."""
        recorded = persisted_path(said)
        for candidate in overflow_places(self.item.path, self.item.origin, recorded):
            try:
                with open_regular(candidate) as file:
                    content = file.read()
            except OSError:
                # It is missing, or it is reported by itself; the preview stands.
                continue
            if b"\0" in content[:8192]:
                return None
            named.append(candidate)
            return content.decode("utf-8", "replace")
        return None

    def _read_document(self) -> Iterator[Change]:
        path, origin, shape = self.item.path, self.item.origin, self.item.shape
        with open_regular(path) as file:
            content = file.read()
        records: list[Record] = []
        facts: list[Fact] = []
        problems: list[Problem] = []
        try:
            document = read_document(path, content, origin, shape.modified // 1_000_000)
            records, facts = document.records, document.facts
        except ValueError as error:
            problems = [Problem(kind="not JSON", line=0, detail=str(error)[:200])]
        yield Change(
            file=path,
            origin=origin,
            checkpoint=_ENCODE(Checkpoint(mark=_whole(shape))),
            records=records,
            facts=facts,
            problems=problems,
            tally=Tally(bytes=len(content)),
            is_restart=True,
            moved_from=self._moved_from,
            bytes_read=len(content),
        )


def _jobs(present: Mapping[str, Found], checkpoints: Mapping[str, Checkpoint], moved: Mapping[str, str]) -> list[_Job]:
    """List the files that are not as they were when last read, in the order to read them."""
    jobs = (
        _Job(item, checkpoints.get(moved.get(path, path)), moved.get(path))
        for path, item in sorted(present.items(), key=lambda pair: _reading_order(pair[1]))
    )
    return [job for job in jobs if not job.is_same]


def _passed_over(path: str, why: str) -> Change:
    kind = "link out of the root" if why == LINK_OUT else "unreadable"
    return Change(
        file=path,
        origin=Origin(kind=""),
        checkpoint=None,
        problems=[Problem(kind=kind, line=0, detail=why)],
        is_passed_over=True,
    )


def _reading_order(item: Found) -> tuple[bool, bool, int, str]:
    is_side = item.origin.kind not in GROWING
    return is_side, item.origin.is_copy, -item.shape.modified, item.path


def _moved(present: Mapping[str, Found], checkpoints: Mapping[str, Checkpoint]) -> dict[str, str]:
    """Pair new paths with known transcripts of the same inode and content that are no longer at theirs.

    Inodes are used again, so what was read of the old file must be in the new one. Of a document
    nothing is remembered that could tell, so it never moves: it goes, and another comes.
    """
    missing = {
        (checkpoint.mark.device, checkpoint.mark.inode): file
        for file, checkpoint in checkpoints.items()
        if file not in present and checkpoint.mark.offset and _is_absent(file)
    }
    pairs = {}
    for path, item in present.items():
        if path not in checkpoints and item.origin.kind in GROWING:
            old = missing.get((item.shape.device, item.shape.inode))
            if old is not None and _continues(path, item, checkpoints[old].mark):
                pairs[path] = old
    return pairs


def _is_absent(path: str) -> bool:
    """Whether a file is really gone, and does not merely lie where nobody can look now."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _continues(path: str, item: Found, mark: Mark) -> bool:
    try:
        return compare(path, item.shape, mark) is not Growth.REPLACED
    except OSError:
        return False


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


def _added(tally: Tally, reader: Reader, piece: Piece) -> Tally:
    """Count a piece into what was counted of its file before."""
    return Tally(
        bytes=piece.mark.offset,
        lines=tally.lines + reader.lines,
        torn=tally.torn + reader.torn,
        noise=dict(Counter(tally.noise) + reader.noise),
    )


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
        checkpoint=_ENCODE(Checkpoint(mark=_whole(Shape.of(os.stat(path))))),
        is_restart=True,
    )


def _whole(shape: Shape) -> Mark:
    return Mark(device=shape.device, inode=shape.inode, size=shape.size, modified=shape.modified)


def _decode(checkpoint: bytes) -> Checkpoint:
    """Read a checkpoint; one that is damaged says that nothing was read."""
    try:
        return _DECODE(checkpoint)
    except msgspec.MsgspecError:
        log.warning("a checkpoint is damaged, so that its file is read again")
        return Checkpoint(mark=Mark())


_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(Checkpoint).decode
