"""What the corpus is meant to hold, counted by the rules of searchkit while it is written.

It is told every line, record and part by whoever writes them, and never reads a transcript.
"""

from collections import Counter
from typing import Any

# The order in which searchkit prefers secondary parts with the same text.
COPY, ASIDE, QUEUED, TITLED, SIDE = range(5)
SAID = {"prompt", "history", "command"}


class Ledger:
    """The running counts. Texts are remembered per session and only until `settle`."""

    def __init__(self) -> None:
        self.lines = self.torn = self.links = self.sessions = self.sessions_gone = 0
        self.agents = self.files = self.responses = self.repeats = self.bytes = 0
        self.messages = 0  # user and assistant records, each uuid once
        self.parts: Counter[str] = Counter()
        self.noise: Counter[str] = Counter()
        self.touched: set[str] = set()
        self._primary: set[tuple[str, str, int]] = set()
        self._secondary: dict[tuple[str, str, int], list[tuple[int, str]]] = {}
        self._without_uuid: set[tuple[str, str, str | None, str]] = set()
        self._said_once: set[tuple[str, str]] = set()
        self._listed: set[str] = set()

    def part(self, session: str, kind: str, text: str, rank: int | None = None) -> None:
        """Count a part; one with a rank is secondary, and may turn out to be a repeat at `settle`."""
        key = _key(session, kind, text)
        if rank is None:
            self.parts[kind] += 1
            self._primary.add(key)
        else:
            self._secondary.setdefault(key, []).append((rank, kind))

    def hold(self, session: str, kind: str, text: str) -> None:
        """Note that a session holds a part which was counted for another one (a fork)."""
        self._primary.add(_key(session, kind, text))

    def nameless(self, session: str, kind: str, record: dict[str, Any], text: str, rank: int | None) -> None:
        """Count the part of a record without uuid; the same line twice is one."""
        key = (session, str(record.get("type")), record.get("timestamp"), text)
        if key not in self._without_uuid:
            self._without_uuid.add(key)
            self.part(session, kind, text, rank)

    def listed(self, text: str) -> None:
        """Count a listing, which is one part however often and in however many sessions it comes."""
        if text not in self._listed:
            self._listed.add(text)
            self.parts["attachment"] += 1

    def first_time(self, session: str, text: str) -> bool:
        """Say whether a fixed machine text is new to the session, for texts whose repeats RULES leave open."""
        key = (session, text)
        if key in self._said_once:
            return False
        self._said_once.add(key)
        return True

    def settle(self) -> None:
        """Decide which secondary parts are repeats, and forget the texts of the sessions written so far."""
        for key, waiting in self._secondary.items():
            if key in self._primary:
                self.repeats += len(waiting)
            else:
                self.parts[min(waiting)[1]] += 1
                self.repeats += len(waiting) - 1
        self._primary.clear()
        self._secondary.clear()
        self._without_uuid.clear()
        self._said_once.clear()

    def counts(self) -> dict[str, Any]:
        """Return the counts under the names that `searchkit status --json` uses."""
        return {
            "lines": self.lines,
            "torn": self.torn,
            "records": self.lines - self.torn,
            "links": self.links,
            "sessions": self.sessions,
            "sessions_without_transcript": self.sessions_gone,
            "agents": self.agents,
            "parts": dict(sorted(self.parts.items())),
            "repeats": self.repeats,
            "noise": dict(sorted(self.noise.items())),
            "files": self.files,
            "responses": self.responses,
            "touched": len(self.touched),
        }


def _key(session: str, kind: str, text: str) -> tuple[str, str, int]:
    # The hash stands for the text, so that a session of 30 MB is not held in memory twice.
    return session, "said" if kind in SAID else kind, hash(text)
