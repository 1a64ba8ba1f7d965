"""Sessions in which records hang together in every way that was ever seen, and in some that never were."""

import random

from tests.support.transcript import Home, Record, Transcript


def write_tangled(home: Home, session: str, seed: int, oddness: float) -> list[Record]:
    """Write a session, the same for the same seed; so large a share of its records hangs elsewhere than expected."""
    chance = random.Random(seed)
    transcript = home.session(session)
    records: list[Record] = []
    calls: list[Record] = []
    most = chance.randint(40, 160)
    while len(records) < most:
        what, number = chance.random(), len(records)
        if what < 0.15:
            records.append(transcript.prompt(f"do {number}", **_parent(chance, records, oddness)))
        elif what < 0.35:
            records.append(transcript.text(f"said {number}", **_parent(chance, records, oddness)))
        elif what < 0.7:
            _respond(chance, transcript, records, calls, oddness)
        elif what < 0.8:
            extra = _parent(chance, records, oddness)
            records.append(transcript.system("turn_duration", content=f"{number}", **extra))
        elif what < 0.85 and calls:
            recent = calls[-3:] if chance.random() > oddness else calls
            records.append(transcript.progress({"type": "hook_progress"}, chance.choice(recent)))
        elif what < 0.88:
            records.append(transcript.attachment("queued_command", prompt=f"queued {number}", commandMode="prompt"))
        elif what < 0.9:
            named = chance.choice(records)["uuid"] if records and chance.random() < oddness else None
            records.append(transcript.compact(f"summary {number}", named))
        elif what < 0.93 and calls and chance.random() < oddness:
            records.append(transcript.result(chance.choice(calls), f"late {number}"))
        elif what < 0.96 and records:
            leaf = chance.choice(records[-3:] if chance.random() > oddness else records)["uuid"]
            note = {"lastPrompt": f"note {chance.randint(0, 99)}", "leafUuid": leaf, "sessionId": session}
            transcript.line({"type": "last-prompt", **note})
    if chance.random() < 3 * oddness:
        _swap(chance, transcript)
    return records


def _parent(chance: random.Random, records: list[Record], oddness: float) -> Record:
    """Choose what a record hangs off, where it is not the one before it: another one, none, or one that is missing."""
    if not records or chance.random() >= oddness:
        return {}
    which = chance.random()
    if which < 0.75:
        return {"parent": chance.choice(records[-25:] if which < 0.5 else records)["uuid"]}
    if which < 0.85:
        return {"parent": None}
    return {"parent": f"deadbeef-0000-4000-8000-00000000000{chance.randint(0, 9)}"} if which < 0.9 else {}


def _respond(
    chance: random.Random, transcript: Transcript, records: list[Record], calls: list[Record], oddness: float
) -> None:
    """Write a response with one call or three, and most of the results, in any order."""
    made = [
        transcript.call(
            "Bash",
            {"command": f"run {chance.randint(0, 9)}"},
            **(_parent(chance, records, oddness) if not number else {}),
        )
        for number in range(chance.choice([1, 1, 1, 3]))
    ]
    records += made
    calls += made
    if chance.random() < 0.2:
        made = chance.sample(made, len(made))
    if chance.random() < 2 * oddness:
        made.pop()
    for call in made:
        extra = {"parent": records[-1]["uuid"]} if chance.random() < oddness else {}
        text = f"got {len(records)}"
        records.append(transcript.result(call, text, is_error=chance.random() < 0.2, **extra))


def _swap(chance: random.Random, transcript: Transcript) -> None:
    """Let some lines change places with the next ones: a parent may come after its child."""
    lines = transcript.path.read_bytes().splitlines(keepends=True)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(1, len(lines) - 1)
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    transcript.path.write_bytes(b"".join(lines))
