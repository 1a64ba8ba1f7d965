"""One session of 100,000 records, longer than any that a corpus holds: each hangs below the one before."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

BEGIN = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
RECORDS = 100_000
# About what was seen: a prompt, then calls and results until the answer.
STEPS_PER_TURN = 24
SESSION = "aaaaaaaa-0000-4000-8000-00000000000a"
_WORDS = "lamp door cable window shelf ladder bucket hinge socket valve filter sensor relay cart queue".split()


def write(root: Path) -> None:
    """Write the session below a new root; the same bytes every time."""
    chance = random.Random(1)
    folder = root / "projects" / "-src-shop"
    folder.mkdir(parents=True)
    with (folder / f"{SESSION}.jsonl").open("w", encoding="utf-8") as file:
        for number in range(RECORDS):
            file.write(json.dumps(_record(number, chance)) + "\n")


def _record(number: int, chance: random.Random) -> dict[str, object]:
    text = f"{' '.join(chance.choices(_WORDS, k=30))} number{number // 100}"
    step = number % STEPS_PER_TURN
    content: object = text
    role = "user" if step % 2 == 0 else "assistant"
    if step % 2 == 1:
        last = step == STEPS_PER_TURN - 1
        values = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": text}}
        content = [{"type": "text", "text": text} if last else values]
    elif step:
        content = [{"type": "tool_result", "tool_use_id": f"toolu_{number - 1}", "content": text}]
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message["id"] = f"msg_{number}"
    return {
        "parentUuid": _uuid(number - 1) if number else None,
        "isSidechain": False,
        "cwd": "/src/shop",
        "sessionId": SESSION,
        "version": "2.1.100",
        "type": role,
        "message": message,
        "uuid": _uuid(number),
        "timestamp": (BEGIN + timedelta(seconds=number)).isoformat(timespec="milliseconds"),
    }


def _uuid(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"
