"""Write the sessions and what belongs beside them as the files of a Claude Code home directory."""

import json
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sample import (
    story_ci,
    story_driftlog,
    story_money,
    story_payments,
    story_release,
    story_security,
    story_speed,
    story_sync,
    story_twins,
)
from sample.session import Session
from sample.text import block, uuid
from sample.transcript import HOME, Json, Transcript

STORIES = (
    story_payments,
    story_ci,
    story_money,
    story_speed,
    story_security,
    story_driftlog,
    story_sync,
    story_twins,
    story_release,
)
# A session whose transcript is gone: these two prompts are all that is left of it.
LOST = (
    ("2026-02-01T16:02:11", "add an endpoint for the webhook of the new payment provider"),
    (
        "2026-02-01T16:44:50",
        "answer the webhook with 200 before doing the work, the provider gives up after 3 s",
    ),
)


def sessions() -> list[Session]:
    """Return all sessions of the sample, oldest first."""
    return sorted((s for story in STORIES for s in story.sessions()), key=lambda s: s.now)


def write(root: Path, sessions: Iterable[Session]) -> None:
    """Write the sample below the root, in place of whatever was there before."""
    sessions = list(sessions)
    shutil.rmtree(root, ignore_errors=True)
    for session in sessions:
        _write_session(root, session)
    _lines(root / "history.jsonl", _history(sessions))
    # Nobody deletes the sample, and nothing is to warn of it.
    _text(root / "settings.json", json.dumps({"cleanupPeriodDays": 99_999}, indent=2))
    _text(root / "plans" / "brisk-copper-kettle.md", story_money.PLAN)
    _text(root / "projects" / "-home-mira-work-teashop" / "memory" / "MEMORY.md", story_ci.MEMORY)
    tasks = root / "tasks" / uuid("session", "release")
    for row in story_release.tasks():
        _text(tasks / f"{row['id']}.json", json.dumps(row, indent=2))


def marks(session: Transcript) -> dict[str, str]:
    """Return the named messages of a session and of its agents."""
    found = dict(session.marks)
    for agent in session.agents:
        found |= marks(agent)
    return found


def _write_session(root: Path, session: Session) -> None:
    project = root / "projects" / f"-home-mira-work-{session.project}"
    _lines(project / f"{session.session_id}.jsonl", session.records)
    _write_agents(project / session.session_id / "subagents", session)
    for name, text in session.overflow.items():
        _text(project / session.session_id / "tool-results" / name, text)
    if session.todos:
        name = f"{session.session_id}-agent-{session.session_id}.json"
        _text(root / "todos" / name, json.dumps(session.todos, indent=2))


def _write_agents(directory: Path, session: Transcript) -> None:
    for agent in session.agents:
        _lines(directory / f"agent-{agent.agent_id}.jsonl", agent.records)
        _text(directory / f"agent-{agent.agent_id}.meta.json", json.dumps(agent.meta))
        _write_agents(directory, agent)


def _history(sessions: Iterable[Session]) -> list[Json]:
    """Return one line per prompt, and the prompts of the session that is gone."""
    rows = []
    for time, text in LOST:
        rows.append(_history_line(datetime.fromisoformat(time), text, "teashop", uuid("session", "lost")))
    for session in sessions:
        for moment, text in session.typed:
            rows.append(_history_line(moment, text, session.project, session.session_id))
    return sorted(rows, key=lambda row: int(row["timestamp"]))


def _history_line(moment: datetime, text: str, project: str, session_id: str) -> Json:
    milliseconds = int(moment.replace(tzinfo=UTC).timestamp() * 1000)
    line: Json = {"display": text, "pastedContents": {}, "timestamp": milliseconds}
    return {**line, "project": f"{HOME}/code/{project}", "sessionId": session_id}


def _lines(path: Path, records: Iterable[Any]) -> None:
    dumped = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records)
    _text(path, "\n".join(dumped))


def _text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block(text) + "\n", encoding="utf-8")
