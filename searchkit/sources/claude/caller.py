"""Finds the session that asks over MCP: the one whose transcript holds the call and no result of it yet.

Claude Code names the call in the request, and writes it into the transcript of the session, or of the agent, up to a
moment later. The index may be behind, so the ends of the transcripts are read.
"""

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import orjson

from searchkit.sources.jsonl import open_regular
from searchkit.text.sanitize import file_name, is_id

# Claude Code writes records every 100 ms; a busy machine takes some more.
WAIT_SECONDS = 0.4
PAUSE_SECONDS = 0.02
# One pass over the files takes no longer: over 1,000 transcripts it takes 5 ms.
PASS_SECONDS = 0.08
# A call may have waited for permission over a lunch. A session that has agents at work may be silent as long.
LIVE_SECONDS = 4 * 3_600.0
# More transcripts are hardly written to at once, and no more sessions have agents at work.
MAX_FILES = 48
MAX_SESSIONS = 24
# After the call stand those beside it with their results, of 50 KB at most; pictures are larger.
NEAR_BYTES = 128 * 1_024
FAR_BYTES = 4 * 1_024 * 1_024
# Some 300 bytes.
MAX_STATE_BYTES = 65_536
# `toolu_` and 24 characters, or what another provider has in its place.
_CALL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


class _File(msgspec.Struct, frozen=True):
    """A transcript, when it was last written to, and how long it is."""

    path: str
    written: float
    size: int


class _Holder(msgspec.Struct, frozen=True):
    """A session that holds the call; a copy, of a fork, counts less, and so does an earlier one."""

    is_original: bool
    time: str
    written: float
    session: str

    @property
    def rank(self) -> tuple[bool, str, float]:
        return (self.is_original, self.time, self.written)


def session_of_call(
    call: str, roots: Sequence[Path], wait_seconds: float = WAIT_SECONDS, now: Callable[[], float] = time.time
) -> str | None:
    """Return the id of the session that made a call which has no result yet; for an agent that of its parent.

    Waits for the call to be written down, but not where no transcript below the roots was written to for hours.
    """
    if not _CALL_ID.fullmatch(call):
        return None
    ends_at = time.monotonic() + wait_seconds
    # How long each file was when it was read.
    read: dict[str, int] = {}
    while True:
        began_at = time.monotonic()
        files = _live(roots, now() - LIVE_SECONDS)
        holder = _holder(call, files, read)
        if holder is not None:
            return holder.session
        # Where a pass takes long, no more than half the time is spent on passes.
        pause = max(PAUSE_SECONDS, time.monotonic() - began_at)
        if not files or time.monotonic() + pause > ends_at:
            return None
        time.sleep(pause)


def session_of_client(process: int, roots: Sequence[Path]) -> str | None:
    """Return the id of the session that a running Claude Code says it has open, by the number of its process."""
    for root in roots:
        try:
            with open_regular(os.path.join(root, "sessions", f"{process}.json")) as opened:
                said = _record(opened.read(MAX_STATE_BYTES))
        except OSError:
            continue
        session = said.get("sessionId")
        if said.get("pid") == process and isinstance(session, str) and is_id(session):
            return session
    return None


def last_written(session: str, project: str | None, root: Path) -> float | None:
    """Return when the transcript of a session was last written to, where it lies in the directory of its project."""
    name = file_name(f"{session}.jsonl")
    folder = re.sub("[^A-Za-z0-9]", "-", project or "")
    try:
        return (Path(root) / "projects" / folder / name).stat().st_mtime if name else None
    except OSError:
        return None


def _holder(call: str, files: Sequence[_File], read: dict[str, int]) -> _Holder | None:
    """Look for the call in files that have grown, at the ends of all before further up in any."""
    ends_at = time.monotonic() + PASS_SECONDS
    changed = [file for file in files if read.get(file.path) != file.size]
    for most in (NEAR_BYTES, FAR_BYTES):
        holders = []
        for file in changed:
            if time.monotonic() > ends_at:
                break
            if most == FAR_BYTES and file.size <= NEAR_BYTES:
                continue
            # What was half written, or not looked at closely, is read again.
            begin = max(0, file.size - most, read.get(file.path, 0) - most)
            holder = _held(call, file, begin)
            if holder is not None:
                holders.append(holder)
            if most == FAR_BYTES or file.size <= NEAR_BYTES:
                read[file.path] = file.size
        if holders:
            return max(holders, key=lambda one: one.rank)
    return None


def _held(call: str, file: _File, begin: int) -> _Holder | None:
    """Return the session that a transcript is of if it holds the call, and no result of it after that."""
    try:
        with open_regular(file.path, 0) as opened:
            opened.seek(begin)
            tail = opened.read(file.size - begin) or b""
    except OSError:
        return None
    # Quotation marks inside a text are escaped, so that a text that quotes a record does not match.
    needle = f'"{call}"'.encode()
    at = tail.rfind(needle)
    while at >= 0:
        first = tail.rfind(b"\n", 0, at) + 1
        last = tail.find(b"\n", at)
        record = _record(tail[first : last if last >= 0 else len(tail)])
        if _has_block(record, "user", "tool_result", "tool_use_id", call):
            return None
        if _has_block(record, "assistant", "tool_use", "id", call):
            return _told(record, file)
        at = tail.rfind(needle, 0, first)
    return None


def _told(record: dict[str, object], file: _File) -> _Holder | None:
    """Read which session the record of a call is of; the transcripts of agents name the session they work for."""
    named, time = record.get("sessionId"), record.get("timestamp")
    session = named if isinstance(named, str) else Path(file.path).stem
    if not is_id(session):
        return None
    return _Holder(
        is_original="forkedFrom" not in record and record.get("requestSessionId") in (None, named),
        time=time if isinstance(time, str) else "",
        written=file.written,
        session=session,
    )


def _record(line: bytes) -> dict[str, object]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _has_block(record: dict[str, object], type: str, block_type: str, field: str, value: str) -> bool:
    message = record.get("message")
    content = message.get("content") if record.get("type") == type and isinstance(message, dict) else None
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == block_type and block.get(field) == value for block in content
    )


def _live(roots: Sequence[Path], since: float) -> list[_File]:
    """List the transcripts that were written to since then, sessions' and agents', the latest first."""
    sessions: list[_File] = []
    # Nothing in the directory of a session changes while an agent writes: the transcript beside it says more.
    active: dict[str, float] = {}
    for root in roots:
        for project in _directories(os.path.join(root, "projects")):
            for entry in _entries(project):
                file = _seen(entry, since)
                if file is None:
                    continue
                if entry.name.endswith(".jsonl"):
                    sessions.append(file)
                place = file.path.removesuffix(".jsonl")
                active[place] = max(active.get(place, 0.0), file.written)
    newest = sorted(active, key=lambda place: active[place], reverse=True)[:MAX_SESSIONS]
    agents = [file for place in newest for file in _agents(os.path.join(place, "subagents"), since)]
    return sorted([*sessions, *agents], key=lambda file: file.written, reverse=True)[:MAX_FILES]


def _agents(directory: str, since: float) -> Iterator[_File]:
    """Yield the transcripts of agents below a directory, also of those that workflows started."""
    for place in (directory, *_directories(os.path.join(directory, "workflows"))):
        for entry in _entries(place):
            file = _seen(entry, since) if entry.name.endswith(".jsonl") else None
            if file is not None:
                yield file


def _seen(entry: "os.DirEntry[str]", since: float) -> _File | None:
    """Look at an entry; None for what is older, has gone, or is a link."""
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    is_wanted = seen.st_mtime >= since and not stat.S_ISLNK(seen.st_mode)
    return _File(entry.path, seen.st_mtime, seen.st_size) if is_wanted else None


def _directories(directory: str) -> list[str]:
    return [entry.path for entry in _entries(directory) if entry.is_dir(follow_symlinks=False)]


def _entries(directory: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []
