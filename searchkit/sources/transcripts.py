"""Lists files below roots and reads what is new in them: the part that is the same for every program.

A source says which files there are, in which order to read them, and how lines and documents read. What is append,
truncation, replacement, renaming and disappearance is decided here, by checkpoints.
"""

import logging
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from searchkit.sources.apps import DEFAULT
from searchkit.sources.base import Share
from searchkit.sources.jsonl import Growth, Mark, Piece, Shape, compare, open_regular, pieces
from searchkit.types import Behind, Change, Fact, Origin, Problem, Record, Tally

log = logging.getLogger(__name__)

LINK_OUT = "a symbolic link out of the root is not followed"
NOTHING = msgspec.Raw(b"{}")

PassOver = Callable[[str, str], None]


class Found(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A file worth reading, with what its place says about it."""

    path: str
    shape: Shape
    origin: Origin


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a file was read, and what reading on must remember; only its source understands that."""

    mark: Mark
    memory: msgspec.Raw = NOTHING
    tally: Tally = Tally()
    is_gone: bool = False


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds that is read whole."""

    records: list[Record] = []
    facts: list[Fact] = []


class LineReader(Protocol):
    """Reads one growing file, piece by piece, and gathers what its lines tell."""

    @property
    def origin(self) -> Origin:
        """What the file is; its first line may know better than its place."""

    @property
    def records(self) -> Sequence[Record]:
        """The records of the piece."""

    @property
    def facts(self) -> Sequence[Fact]:
        """The facts of the piece."""

    @property
    def problems(self) -> Sequence[Problem]:
        """What was wrong in the piece."""

    @property
    def noise(self) -> Mapping[str, int]:
        """What was kept out of the piece, and why."""

    @property
    def lines(self) -> int:
        """How many lines the piece has."""

    @property
    def torn(self) -> int:
        """How many of them are no records."""

    @property
    def memory(self) -> msgspec.Struct:
        """What reading on must know."""

    def read(self, piece: Piece, /) -> None:
        """Forget what was gathered, not what is remembered, and read the next piece."""

    def beside(self) -> Iterable[Change]:
        """Yield changes of other files, which the records of the piece hold."""


class Format(Protocol):
    """What a source knows of its files."""

    def found(self, root: Path, pass_over: PassOver, /) -> Iterator[Found]:
        """Yield every file below a root that can hold something to search."""

    def is_growing(self, origin: Origin, /) -> bool:
        """Say whether a file grows line by line; any other is a document, read whole."""

    def order(self, item: Found, /) -> tuple[object, ...]:
        """Return what files are sorted by before they are read."""

    def reader(self, item: Found, memory: msgspec.Raw, /) -> LineReader:
        """Open a growing file to read on."""

    def document(self, item: Found, content: bytes, /) -> Document:
        """Read a document; raises ValueError where it is none."""


class Transcripts:
    """The files below one or many roots of one program."""

    def __init__(self, roots: Sequence[Path], format: Format, app: str = DEFAULT) -> None:
        """Read nothing yet; `app` is the name of the program that wrote them."""
        self.roots = tuple(roots)
        self._format = format
        self._app = app

    def changes(self, seen: Mapping[str, bytes], share: Share | None = None) -> Iterator[Change]:
        """Yield what is new, in the order of the format; what was gone or moved comes first."""
        checkpoints = {file: _decode(checkpoint) for file, checkpoint in seen.items()}
        passed_over: dict[str, str] = {}
        present = {item.path: item for item in self.found(passed_over.__setitem__)}
        moved = self._moved(present, checkpoints)
        if share is None or share.is_rest:
            yield from (_passed_over(path, why) for path, why in passed_over.items())
            yield from self._departures(present, checkpoints, set(moved.values()))
        changed = self._jobs(present, checkpoints, moved)
        if share is not None:
            changed = [job for job in changed if share.has(job.item.path, self._format.is_growing(job.item.origin))]
        # From here on only what is still to be read is kept: files are many.
        present.clear()
        checkpoints.clear()
        left = sum(job.size for job in changed)
        read_elsewhere: set[str] = set()
        changed.reverse()
        while changed:
            job = changed.pop()
            if job.item.path in read_elsewhere:
                left -= job.size
                continue
            before = left
            left -= job.size
            for change in self._read(job):
                if change.file != job.item.path:
                    read_elsewhere.add(change.file)
                before -= change.bytes_read
                yield msgspec.structs.replace(change, bytes_left=max(before, left))

    def behind(self, seen: Mapping[str, bytes]) -> Behind:
        """Say how much is new, without reading any of it."""
        jobs = [job for job in self.jobs(seen) if not job.is_same]
        return Behind(files=len(jobs), bytes=sum(job.size for job in jobs))

    def jobs(self, seen: Mapping[str, bytes]) -> Iterator["Job"]:
        """Yield all files, each with what is known of it, without reading any."""
        checkpoints = {file: _decode(checkpoint) for file, checkpoint in seen.items()}
        return (Job(item, checkpoints.get(item.path), None) for item in self.found())

    def found(self, pass_over: PassOver = lambda path, why: None) -> Iterator[Found]:
        """List the files below all roots, each once."""
        listed: set[str] = set()
        for root in dict.fromkeys(self.roots):
            for item in self._format.found(root, pass_over):
                if item.path not in listed:
                    yield item
                    if len(self.roots) > 1:
                        listed.add(item.path)

    def _departures(
        self, present: Mapping[str, Found], checkpoints: Mapping[str, Checkpoint], moved: set[str]
    ) -> Iterator[Change]:
        """Say which files below the roots are gone; one that merely cannot be listed now is not."""
        roots = tuple(str(root) + os.sep for root in self.roots)
        for file, checkpoint in checkpoints.items():
            is_known = checkpoint.is_gone or file in present or file in moved
            if not is_known and file.startswith(roots) and _is_absent(file):
                gone = _ENCODE(msgspec.structs.replace(checkpoint, is_gone=True))
                yield Change(file=file, origin=Origin(kind=""), checkpoint=gone, is_gone=True)

    def _moved(self, present: Mapping[str, Found], checkpoints: Mapping[str, Checkpoint]) -> dict[str, str]:
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
            if path not in checkpoints and self._format.is_growing(item.origin):
                old = missing.get((item.shape.device, item.shape.inode))
                if old is not None and _continues(path, item, checkpoints[old].mark):
                    pairs[path] = old
        return pairs

    def _jobs(
        self, present: Mapping[str, Found], checkpoints: Mapping[str, Checkpoint], moved: Mapping[str, str]
    ) -> "list[Job]":
        """List the files that are not as they were when last read, in the order to read them."""
        jobs = (
            Job(item, checkpoints.get(moved.get(path, path)), moved.get(path))
            for path, item in sorted(present.items(), key=lambda pair: self._format.order(pair[1]))
        )
        return [job for job in jobs if not job.is_same]

    def _read(self, job: "Job") -> Iterator[Change]:
        """Read what is new; a file that cannot be read is reported and tried again next time."""
        item = job.item
        try:
            yield from self._read_on(job) if self._format.is_growing(item.origin) else self._read_document(job)
        except FileNotFoundError:
            log.info("%s went away before it was read", item.path)
        except OSError as error:
            problem = Problem(kind="unreadable", line=0, detail=error.strerror or "")
            yield Change(file=item.path, origin=item.origin, checkpoint=None, problems=[problem])

    def _read_on(self, job: "Job") -> Iterator[Change]:
        item, checkpoint = job.item, job.checkpoint
        growth = compare(item.path, item.shape, checkpoint.mark) if checkpoint else Growth.REPLACED
        if growth is Growth.REPLACED or checkpoint is None:
            checkpoint = Checkpoint(mark=Mark())
        is_restart, moved_from = checkpoint.mark.offset == 0, job.moved_from
        tally = checkpoint.tally
        reader = self._format.reader(item, checkpoint.memory)
        for piece in pieces(item.path, checkpoint.mark):
            reader.read(piece)
            tally = _added(tally, reader, piece)
            yield from reader.beside()
            memory = msgspec.Raw(_ENCODE(reader.memory))
            yield Change(
                file=item.path,
                origin=reader.origin,
                checkpoint=_ENCODE(Checkpoint(mark=piece.mark, memory=memory, tally=tally)),
                records=reader.records,
                facts=[*reader.facts, *self._app_facts(reader.records)],
                problems=reader.problems,
                tally=tally,
                left_out=dict(reader.noise),
                is_restart=is_restart,
                moved_from=moved_from,
                bytes_read=piece.bytes_read,
            )
            is_restart, moved_from = False, None

    def _app_facts(self, records: Sequence[Record]) -> Iterator[Fact]:
        """Say which program wrote the sessions; those about which nothing says so are the default's."""
        if self._app != DEFAULT:
            for session in sorted({record.session for record in records if record.session}):
                yield Fact(session=session, name="app", value=self._app)

    def _read_document(self, job: "Job") -> Iterator[Change]:
        item = job.item
        with open_regular(item.path) as file:
            content = file.read()
        document = Document()
        problems: list[Problem] = []
        try:
            document = self._format.document(item, content)
        except ValueError as error:
            problems = [Problem(kind="not JSON", line=0, detail=str(error)[:200])]
        yield Change(
            file=item.path,
            origin=item.origin,
            checkpoint=whole(item.shape),
            records=document.records,
            facts=[*document.facts, *self._app_facts(document.records)],
            problems=problems,
            tally=Tally(bytes=len(content)),
            is_restart=True,
            moved_from=job.moved_from,
            bytes_read=len(content),
        )


class Job:
    """One file that may have something new."""

    __slots__ = ("checkpoint", "is_same", "item", "moved_from", "size")

    def __init__(self, item: Found, checkpoint: Checkpoint | None, moved_from: str | None) -> None:
        """Compare a file with what was read of it, by what the file system says."""
        self.item = item
        self.moved_from = moved_from
        self.checkpoint = checkpoint
        shape, mark = item.shape, checkpoint.mark if checkpoint else Mark()
        same = (shape.device, shape.inode, shape.size, shape.modified)
        is_known = checkpoint is not None and not checkpoint.is_gone and moved_from is None
        self.is_same = is_known and same == (mark.device, mark.inode, mark.size, mark.modified)
        self.size = max(0, shape.size - mark.offset)


def unread(checkpoint: bytes) -> bytes:
    """Return the checkpoint of the same file, of which nothing has been read."""
    known = _decode(checkpoint)
    mark = Mark(device=known.mark.device, inode=known.mark.inode, size=-1)
    return _ENCODE(Checkpoint(mark=mark, is_gone=known.is_gone))


def whole(shape: Shape) -> bytes:
    """Return the checkpoint of a file that was read whole."""
    mark = Mark(device=shape.device, inode=shape.inode, size=shape.size, modified=shape.modified)
    return _ENCODE(Checkpoint(mark=mark))


def walk(directory: str, root: str, pass_over: PassOver, depth: int = 100) -> Iterator[tuple[str, Shape]]:
    """Walk a directory; links that leave the root, pipes and what cannot be listed are passed over."""
    if os.path.islink(directory) and not stays_inside(directory, root):
        pass_over(directory, LINK_OUT)
        return
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        pass_over(directory, error.strerror or "cannot be listed")
        return
    for entry in entries:
        if not entry.name.isprintable() and not _is_text(entry.name):
            pass_over(os.fsencode(entry.path).decode("utf-8", "replace"), "its name is not UTF-8")
            continue
        try:
            if entry.is_symlink() and not stays_inside(entry.path, root):
                pass_over(entry.path, LINK_OUT)
                continue
            entry_stat = entry.stat()
        except FileNotFoundError:
            # It went away just now, or it is a link to nothing, as editors leave them.
            continue
        except OSError as error:
            pass_over(entry.path, error.strerror or "cannot be looked at")
            continue
        if stat.S_ISDIR(entry_stat.st_mode):
            # A link to a directory could lead in a circle; its files are found at their own place.
            if depth > 1 and not entry.is_symlink():
                yield from walk(entry.path, root, pass_over, depth - 1)
        elif stat.S_ISREG(entry_stat.st_mode):
            yield entry.path, Shape.of(entry_stat)


def one_file(path: str, root: str, origin: Origin, pass_over: PassOver) -> Iterator[Found]:
    """Yield a file that lies at a known place, if it is there."""
    if os.path.isfile(path):
        if stays_inside(path, root):
            yield Found(path=path, shape=Shape.of(os.stat(path)), origin=origin)
        else:
            pass_over(path, LINK_OUT)


def stays_inside(path: str, root: str) -> bool:
    """Say whether a path lies below a root, links followed."""
    return os.path.realpath(path).startswith(root + os.sep)


def _passed_over(path: str, why: str) -> Change:
    kind = "link out of the root" if why == LINK_OUT else "unreadable"
    return Change(
        file=path,
        origin=Origin(kind=""),
        checkpoint=None,
        problems=[Problem(kind=kind, line=0, detail=why)],
        is_passed_over=True,
    )


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


def _added(tally: Tally, reader: LineReader, piece: Piece) -> Tally:
    """Count a piece into what was counted of its file before."""
    return Tally(
        bytes=piece.mark.offset,
        lines=tally.lines + reader.lines,
        torn=tally.torn + reader.torn,
        noise=dict(Counter(tally.noise) + Counter(reader.noise)),
    )


def _is_text(name: str) -> bool:
    """Tell whether a name can be written down: bytes that are not UTF-8 come as lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _decode(checkpoint: bytes) -> Checkpoint:
    """Read a checkpoint; one that is damaged says that nothing was read."""
    try:
        return _DECODE(checkpoint)
    except msgspec.MsgspecError:
        log.warning("a checkpoint is damaged, so that its file is read again")
        return Checkpoint(mark=Mark())


_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(Checkpoint).decode
