"""Holds threads against what the manifest of a corpus tells of them."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol


class Found(Protocol):
    """A thread as it was found."""

    @property
    def uuids(self) -> Sequence[str]:
        """The records in order, of the kinds that the manifest tells of (see `samples`) and no others."""

    @property
    def caller(self) -> str | None:
        """The record of the call that started the agent."""

    @property
    def sessions(self) -> Sequence[str]:
        """The sessions in which the record lies, in any order."""


def differences(manifest: Mapping[str, Any], threads: Callable[[str], Found]) -> list[str]:
    """Return a line for each thing that is not as the manifest says; `threads` finds the thread of a uuid."""
    return [line for sample in manifest["threads"] for line in _compared(sample, threads(sample["uuid"]))]


def _compared(sample: Mapping[str, Any], found: Found) -> Iterator[str]:
    name = f"{' '.join(sample['situations'])} {sample['uuid']}"
    wrong = _misplaced(sample["uuid"], sample["thread"], found.uuids)
    if wrong and sample["otherwise"] is not None and not _misplaced(sample["uuid"], sample["otherwise"], found.uuids):
        wrong = ""
    if wrong:
        yield f"{name}: {wrong}"
    if sample["caller"] != found.caller:
        yield f"{name}: called by {found.caller}, not {sample['caller']}"
    if sample["sessions"] != sorted(found.sessions):
        yield f"{name}: in sessions {sorted(found.sessions)}, not {sample['sessions']}"


def _misplaced(uuid: str, thread: Mapping[str, Any], uuids: Sequence[str]) -> str:
    """Say where a thread first leaves the expected one, going out from the record; "" if nowhere."""
    if uuid not in uuids:
        return f"not in its own thread of {len(uuids)} records"
    place = list(uuids).index(uuid)
    before, after = list(uuids[:place])[::-1], list(uuids[place + 1 :])
    for where, expected, got, is_all in (
        ("before", thread["before"][::-1], before, thread["place"] == len(thread["before"])),
        ("after", thread["after"], after, thread["length"] == thread["place"] + 1 + len(thread["after"])),
    ):
        wanted = [*expected, None] if is_all else expected
        for steps, (one, other) in enumerate(zip(wanted, [*got, None], strict=False), 1):
            if one != other:
                return f"{steps} {where} it comes {other or 'nothing'}, not {one or 'nothing'}"
    if hashlib.sha256("\n".join(uuids).encode()).hexdigest() != thread["digest"]:
        lengths = f"{len(before)} before it and {len(after)} after it"
        expected_after = thread["length"] - thread["place"] - 1
        return f"differs further away: {lengths}, not {thread['place']} and {expected_after}"
    return ""
