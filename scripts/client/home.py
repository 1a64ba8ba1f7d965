"""A home of its own for Claude Code: nothing of the machine's environment, credentials or settings reaches it."""

import json
import os
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# An invented key; the client shows the last 20 characters of a key when it asks whether to use it.
KEY = "sk-ant-none-0000-scripted-api-on-loopback"
KEY_TAIL = 20
RUN_SECONDS = 120.0
# Programs that the client's tools need; nothing else of the user's PATH counts.
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(kw_only=True)
class Ran:
    """What a run of the client printed, and what it says of itself in the last line."""

    status: int
    messages: list[dict[str, Any]]
    error: str

    @property
    def result(self) -> dict[str, Any]:
        """The line of type `result`; empty where there is none."""
        return next((one for one in reversed(self.messages) if one.get("type") == "result"), {})

    @property
    def init(self) -> dict[str, Any]:
        """The line that lists tools, servers and the session."""
        return next((one for one in self.messages if one.get("subtype") == "init"), {})


@dataclass(kw_only=True)
class Home:
    """A home directory, a project in it, and the client that runs there."""

    directory: Path
    binary: Path
    api: str
    # Put before the system's programs, so that the client finds `searchkit`.
    programs: Path | None = None
    extra: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the directories, a trusted project with a repository, and what answers the client's first questions."""
        self.project.mkdir(parents=True)
        self.root.mkdir()
        trusted = {
            "hasTrustDialogAccepted": True,
            "hasCompletedProjectOnboarding": True,
            "projectOnboardingSeenCount": 9,
        }
        state = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "numStartups": 9,
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [KEY[-KEY_TAIL:]], "rejected": []},
            "projects": {str(self.project): trusted},
        }
        (self.directory / ".claude.json").write_text(json.dumps(state))
        git = ["git", "-c", "user.name=dev", "-c", "user.email=dev@example.invalid"]
        (self.project / "README.md").write_text("A small shop.\n")
        for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
            subprocess.run([*git, *arguments], cwd=self.project, env=self.environment, check=True, timeout=30)

    @property
    def root(self) -> Path:
        """Where the client writes its transcripts."""
        return self.directory / ".claude"

    @property
    def project(self) -> Path:
        """Where it works."""
        return self.directory / "work" / "shop"

    @property
    def environment(self) -> dict[str, str]:
        """All variables that the client gets."""
        path = SYSTEM_PATH if self.programs is None else f"{self.programs}{os.pathsep}{SYSTEM_PATH}"
        return {
            "PATH": path,
            "HOME": str(self.directory),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "TMPDIR": str(self.temporary),
            "ANTHROPIC_BASE_URL": self.api,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            **self.extra,
        }

    @property
    def temporary(self) -> Path:
        """Where it keeps files for a while."""
        place = self.directory / "tmp"
        place.mkdir(parents=True, exist_ok=True)
        return place

    def settings(self, **values: object) -> None:
        """Write the user's settings."""
        (self.root / "settings.json").write_text(json.dumps(values, indent=1))

    def run(self, arguments: Sequence[str], seconds: float = RUN_SECONDS) -> Ran:
        """Run the client to its end with these arguments."""
        command = [str(self.binary), *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=self.project,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return Ran(status=-1, messages=_messages(late.stdout), error=f"did not end within {seconds:.0f} s")
        return Ran(status=done.returncode, messages=_messages(done.stdout), error=done.stderr.strip()[-500:])

    def prompt(self, words: str, *options: str, session: str | None = None, seconds: float = RUN_SECONDS) -> Ran:
        """Send one prompt with `-p` and wait for the answer."""
        named = ["--session-id", session] if session else []
        fixed = ["-p", "--verbose", "--output-format", "stream-json"]
        return self.run([*fixed, *named, *options, "--", words], seconds)


def new_session() -> str:
    """Return an id for a session."""
    return str(uuid.uuid4())


def _messages(printed: str | bytes | None) -> list[dict[str, Any]]:
    decoded = printed.decode(errors="replace") if isinstance(printed, bytes) else printed or ""
    found = []
    for line in decoded.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict):
            found.append(message)
    return found
