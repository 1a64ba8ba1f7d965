"""What a transcript tells, in the order of reading, noted by whoever writes it.

A story knows nothing of parents: it is told what is said next, what belongs to which response, what
is taken back, and which ending a line names. So a thread found by way of parents can be held against it.
Only what threads consist of is told: user and assistant records, boundaries, and typed queued commands.
"""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class Setting(Enum):
    """Where a story is told."""

    SESSION = "session"
    AGENT = "agent"
    NESTED = "nested"  # the agent of an agent
    FORK = "fork"
    COPY = "copy"  # below the copied records of a session that is there as well
    ALONE = "alone"  # a copy without its original
    BELOW = "below"  # an agent whose first record hangs off a record of the session


class Moment:
    """What stands together in a thread: one record, or a whole response with the results of its calls."""

    __slots__ = ("asides", "manner", "records", "results")

    def __init__(self, manner: str = "") -> None:
        self.manner = manner  # what is special about it: "boundary", "queued", or how several results came
        self.records: list[str] = []
        self.results: dict[str, str] = {}  # by the record of the call
        self.asides: list[str] = []  # typed while the assistant worked, and nothing hangs off it

    def uuids(self) -> Iterator[str]:
        """Yield the records in the order of reading: each call is followed by its own result."""
        for record in self.records:
            yield record
            if record in self.results:
                yield self.results[record]
        yield from self.asides


class Telling:
    """One version of the conversation: what a person would have read at its end, from the beginning."""

    __slots__ = ("is_torn", "last", "line", "moments")

    def __init__(self, moments: list[Moment], line: int = 0) -> None:
        self.moments = moments
        self.line = line  # the last line that added to it or named it
        self.last: str | None = None  # its last record of any type, once another telling has begun
        self.is_torn = False  # what follows it in the file has lost its parent


class Mark(NamedTuple):
    """A place in a conversation to which it may go back, or from which it may be forked."""

    tellings: int
    moments: int
    last: str | None
    kept: int


class Story:
    """All that one transcript tells. Its last telling is the one that goes on."""

    def __init__(self, session: str, setting: Setting = Setting.SESSION) -> None:
        self.session, self.setting = session, setting
        self.agent: str | None = None
        self.caller: str | None = None
        self.tellings = [Telling([])]
        self.borrowed: frozenset[str] = frozenset()  # told by another story before this one
        self.lent: dict[str, str] = {}  # the session in which a fork holds a record once more
        self.rival: Story | None = None  # a fork in whose file nothing tells that it is one
        self._answering: dict[str, Moment] = {}

    @property
    def now(self) -> Telling:
        """The telling that goes on."""
        return self.tellings[-1]

    def say(self, uuid: str, manner: str = "") -> None:
        """Tell a record that stands for itself."""
        moment = Moment(manner)
        moment.records.append(uuid)
        self.now.moments.append(moment)

    def respond(self, manner: str = "") -> Moment:
        """Tell that a response begins; its records are added as they are written."""
        self._answering.clear()
        moment = Moment(manner)
        self.now.moments.append(moment)
        return moment

    def add(self, moment: Moment, uuid: str) -> None:
        """Tell the next record of a response."""
        moment.records.append(uuid)
        self._answering[uuid] = moment

    def answer(self, call: str, uuid: str) -> None:
        """Tell the result of a call of the last response."""
        self._answering[call].results[call] = uuid

    def put_aside(self, uuid: str) -> None:
        """Tell what was typed while the last response was at work, and that nothing will hang off it."""
        self.now.moments[-1].asides.append(uuid)

    def go_back(self, moments: int, last: str | None) -> None:
        """Take back all but so many moments: another telling goes on from there. `last` ended the one before."""
        before = self.now
        before.last = last
        self.tellings.append(Telling(before.moments[:moments], before.line))

    def tear(self, last: str | None) -> None:
        """Tell that what comes next has lost its parent, so that no thread leads back from it."""
        self.go_back(0, last)
        self.tellings[-2].is_torn = True

    def branch_off(self, mark: Mark, session: str, setting: Setting) -> "Story":
        """Return the story of a transcript that begins with a copy of this one up to a mark."""
        other = Story(session, setting)
        told = self.tellings[: mark.tellings]
        other.tellings = [Telling(list(telling.moments), number - len(told)) for number, telling in enumerate(told)]
        for copied, telling in zip(other.tellings[:-1], told, strict=False):
            copied.is_torn = telling.is_torn
        del other.now.moments[mark.moments :]
        moments = (moment for telling in other.tellings for moment in telling.moments)
        other.borrowed = frozenset(uuid for moment in moments for uuid in moment.uuids())
        return other
