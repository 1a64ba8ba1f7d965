"""Which threads the manifest tells: some of each situation, every record of it as likely as the others.

A sample names a record and the thread around it:

    uuid, session, agent   the record and where it was written first
    situations             what makes its thread hard to find; the first is the one it was chosen for
    caller                 the record of the call that started its agent, None where no file tells
    sessions               the sessions that its lines and the files of sessions it lies in name
    thread                 length: how many records the thread has
                           digest: SHA-256 over their uuids, joined by newlines
                           place: how many of them come before this one
                           before, after: up to 30 uuids on either side, in the order of the thread
    otherwise              another thread that is as right, where nothing tells which file is the original; or None

A thread holds the user and assistant records, the compaction boundaries, and the queued commands that
were typed, in the order of reading. What else has a uuid (progress, other attachments and system records)
is left out.
"""

import hashlib
import random
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from tests.corpus.story import Moment, Setting, Story, Telling

Sample = dict[str, Any]
SHOWN_AROUND = 30
ROOM = 64
# How many samples are kept of each situation. Of several that fit, the first one counts; all make a thousand.
SITUATIONS = {
    "below": 40,
    "alone": ROOM,
    "copy": 40,
    "queued": ROOM,
    "boundary": 40,
    "torn": 40,
    "abandoned": ROOM,
    "fork": ROOM,
    "shared": ROOM,
    "interleaved": ROOM,
    "reordered": ROOM,
    "parallel": ROOM,
    "nested": ROOM,
    "agent": ROOM,
    "after": ROOM,
    "before": ROOM,
    "plain": 72,
}


class Samples:
    """The samples so far; whoever has told a story to its end lets it be sampled."""

    def __init__(self, seed: int) -> None:
        # Numbers of its own: what is written must not depend on what is sampled.
        self._rng = random.Random(seed)
        self._kept: dict[str, list[Sample]] = {situation: [] for situation in SITUATIONS}
        self._seen = dict.fromkeys(SITUATIONS, 0)

    def take(self, story: Story) -> None:
        """Offer each record of a story once, in the newest of the threads that it belongs to."""
        rivals: dict[str, Thread] = {}
        if story.rival is not None:
            rivals = {thread.uuids[place]: thread for thread in _threads(story.rival) for place in thread.places}
        for thread in _threads(story):
            for place in thread.places:
                uuid = thread.uuids[place]
                if uuid in story.borrowed:
                    continue
                situations = list(_situations(story, thread, place)) or ["plain"]
                slot = self._slot(situations[0])
                if slot is None:
                    continue
                rival = rivals.get(uuid)
                self._kept[situations[0]][slot : slot + 1] = [
                    {
                        "uuid": uuid,
                        "session": story.session,
                        "agent": story.agent,
                        "situations": situations,
                        "caller": story.caller,
                        "sessions": sorted({story.session, story.lent.get(uuid, story.session)}),
                        "thread": thread.around(place),
                        "otherwise": rival.around(rival.uuids.index(uuid)) if rival else None,
                    }
                ]

    def listed(self) -> list[Sample]:
        """Return the samples, situation by situation."""
        return [sample for kept in self._kept.values() for sample in kept]

    def _slot(self, situation: str) -> int | None:
        """Choose where a record is kept so that each one seen is as likely to be there; None for nowhere."""
        seen = self._seen[situation]
        self._seen[situation] = seen + 1
        chosen = seen if seen < SITUATIONS[situation] else int(self._rng.random() * (seen + 1))
        return chosen if chosen < SITUATIONS[situation] else None


class Thread:
    """A telling as a list of records, and the places of those that no newer telling has."""

    def __init__(self, telling: Telling, is_newest: bool, seen: set[str]) -> None:
        self.telling, self.is_newest = telling, is_newest
        self.uuids: list[str] = []
        self.moments: list[Moment] = []
        for moment in telling.moments:
            for uuid in moment.uuids():
                self.uuids.append(uuid)
                self.moments.append(moment)
        self.places = [place for place, uuid in enumerate(self.uuids) if uuid not in seen]
        boundaries = [place for place, moment in enumerate(self.moments) if moment.manner == "boundary"]
        self.first_boundary, self.last_boundary = boundaries[:1], boundaries[-1:]

    @cached_property
    def digest(self) -> str:
        """What all uuids together come to."""
        return hashlib.sha256("\n".join(self.uuids).encode()).hexdigest()

    def around(self, place: int) -> dict[str, Any]:
        """Tell the thread as the manifest does."""
        return {
            "length": len(self.uuids),
            "digest": self.digest,
            "place": place,
            "before": self.uuids[max(0, place - SHOWN_AROUND) : place],
            "after": self.uuids[place + 1 : place + 1 + SHOWN_AROUND],
        }


def _threads(story: Story) -> Iterator[Thread]:
    """Yield the tellings, newest first."""
    seen: set[str] = set()
    for number, telling in enumerate(sorted(story.tellings, key=lambda telling: telling.line, reverse=True)):
        thread = Thread(telling, number == 0, seen)
        yield thread
        seen.update(thread.uuids)


def _situations(story: Story, thread: Thread, place: int) -> Iterator[str]:
    """Name what is special about a record of a thread, in the order in which situations count."""
    moment, uuid = thread.moments[place], thread.uuids[place]
    if story.setting in (Setting.BELOW, Setting.ALONE, Setting.COPY):
        yield story.setting.value
    if moment.manner in ("queued", "boundary"):
        yield moment.manner
    elif uuid in moment.asides:
        yield "queued"
    if not thread.is_newest:
        yield "torn" if thread.telling.is_torn else "abandoned"
    if story.setting is Setting.FORK:
        yield "fork"
    if uuid in story.lent:
        yield "shared"
    if moment.manner in ("interleaved", "reordered", "parallel"):
        yield moment.manner
    if story.setting in (Setting.NESTED, Setting.AGENT):
        yield story.setting.value
    if thread.first_boundary and place > thread.first_boundary[0]:
        yield "after"
    if thread.last_boundary and place < thread.last_boundary[0]:
        yield "before"
