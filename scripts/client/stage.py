"""What scenarios share: the client's home, the scripted API, and what was planted, sent and counted."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from client.api import Script, ScriptedApi
from client.home import Home, Ran, new_session

POLL_SECONDS = 0.1


class CannotPlay(Exception):
    """This client or this machine cannot play a scenario; the message says why."""


class WentWrong(Exception):
    """A scenario did not go as it must; the message says what was seen."""


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A made-up word, with the kind of part and the session that it must be found in."""

    word: str
    kind: str
    session: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a session was told that asked searchkit over MCP."""

    session: str
    result: dict[str, Any]


@dataclass
class Stage:
    """Where scenarios play, and what they leave for the checks."""

    home: Home
    api: ScriptedApi
    planted: list[Planted] = field(default_factory=list)
    # What was typed or sent, by session.
    prompts: Counter[str] = field(default_factory=Counter)
    # What the client said at the end of the last run of a session.
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    # What each run of a session cost by the client's own figures.
    costs: dict[str, list[float]] = field(default_factory=dict)
    resumed: set[str] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)
    # Sessions that began as a copy of another one.
    forks: dict[str, str] = field(default_factory=dict)
    # After how many runs of the original.
    forked_after: dict[str, int] = field(default_factory=dict)
    tools: set[str] = field(default_factory=set)
    # What those were told who asked over MCP, by when they asked.
    asked: dict[str, Asked] = field(default_factory=dict)
    # What each of searchkit's tools returned, by its name.
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    def plant(self, kind: str, session: str, hint: str) -> str:
        """Make up a word for one place, and remember what it must be found as."""
        word = f"zq{hint}"
        if any(one.word == word for one in self.planted):
            raise ValueError(f"{word} was planted before")
        self.planted.append(Planted(word=word, kind=kind, session=session))
        return word

    def session_of(self, word: str) -> str | None:
        """Return the session that a word was planted in."""
        return next((one.session for one in self.planted if one.word == word), None)

    def note(self, session: str, result: dict[str, Any], is_resumed: bool = False) -> None:
        """Remember what the client said at the end of a run."""
        self.results[session] = result
        self.costs.setdefault(session, []).append(float(result.get("total_cost_usd") or 0.0))
        if is_resumed:
            self.resumed.add(session)

    def fork(self, original: str, session: str) -> None:
        """Remember that a session begins as a copy of another one as it is now."""
        self.forks[session] = original
        self.forked_after[session] = len(self.costs[original])

    def forget(self, *words: str) -> None:
        """Drop words that a client had no chance to write."""
        self.planted = [one for one in self.planted if one.word not in words]

    def send(
        self,
        mark: str,
        script: Script,
        *options: str,
        session: str | None = None,
        said: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> Ran:
        """Send a prompt with a mark and a planted word; fails unless the client ends well."""
        id = session or new_session()
        is_new = not any(option in options for option in ("--resume", "--fork-session"))
        word = self.plant("prompt", id, f"{mark}prompt")
        self.api.scripts[mark] = script
        self.prompts[id] += 1
        words = f"{word} {said or 'please'} [[{mark}]]"
        before = self.home.extra
        self.home.extra = {**before, **(environment or {})}
        try:
            ran = self.home.prompt(words, *options, session=id if is_new else None)
        finally:
            self.home.extra = before
        if ran.status or not ran.result:
            raise WentWrong(f"status {ran.status}: {ran.error or ran.result.get('result') or 'no result'}")
        self.note(id, ran.result, is_resumed="--resume" in options and "--fork-session" not in options)
        self.tools.update(ran.init.get("tools") or ())
        if is_new:
            self.titles.setdefault(id, words)
        return ran


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait for something to become true; say whether it did in time."""
    ends_at = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends_at:
            return False
        time.sleep(POLL_SECONDS)
    return True
