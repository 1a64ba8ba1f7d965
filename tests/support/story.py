"""A session with everything that a conversation can go through, for what shows it: told once, looked at in many ways.

A failing test, edits, the same test passing; code and Chinese; a rewind; a night; a compaction; agents inside an
agent; a fork into another session.
"""

from typing import Any, NamedTuple

from tests.support.answers import OTHER, SESSION
from tests.support.transcript import Home, Record, Transcript, tool_id

COOKIE = "src/shop/cookie.py"
OLD = 'NAME = "sid"\n\n\ndef read(request):\n    """Return the session."""\n    return request.cookies[NAME]\n'
NEW = 'NAME = "session"\n\n\ndef read(request):\n    """Return the session."""\n    return request.cookies.get(NAME)\n'
ANSWER = """The cookie was renamed in `cookie.py`, and the middleware still reads the old name:

```python
def read(request):
    return request.cookies["sid"]  # raises KeyError since the rename
```

1. Use `NAME` in both places, so that one rename is enough from now on and nobody has to look for the other one.
2. Return `None` where there is no cookie.
"""
FAILURE = "\n".join(
    ["FAILED tests/test_login.py::test_cookie - KeyError: 'sid'", *(f"  frame {n}" for n in range(90)), "1 failed"]
)


class Story(NamedTuple):
    """The records that are asked for."""

    prompt: str
    failed: str
    answer: str
    left: str
    again: str
    asking: str
    task: str
    nested: str
    after: str
    fork: str


def write(home: Home) -> Story:
    """Write the session, its agents and its fork."""
    shop = home.session(SESSION, branch="fix/login")
    shop.line({"type": "custom-title", "customTitle": "Login fails since the cookie was renamed", "sessionId": SESSION})
    prompt = _at(shop, "03-01T10:00", "prompt", "Why does the login fail? 登录失败，请看日志。")
    _at(shop, "03-01T10:01", "thinking", "Probably the rename of the cookie.")
    read = _at(shop, "03-01T10:01", "call", "Read", {"file_path": f"/home/mira/src/shop/{COOKIE}"})
    _at(shop, "03-01T10:01", "result", read, f"     1→{OLD}")
    failing = _run_tests(shop, "03-01T10:02", FAILURE, is_error=True)
    answer = _at(shop, "03-01T10:03", "text", ANSWER)
    left = _at(shop, "03-01T10:04", "prompt", "just catch the KeyError")
    _at(shop, "03-01T10:04", "text", "Done, but this hides the cause.")
    again = _at(shop, "03-01T13:30", "prompt", "no: do it properly, as you said", parent=answer["uuid"])
    edits = {"file_path": f"/home/mira/src/shop/{COOKIE}", "old_string": OLD, "new_string": NEW, "replace_all": False}
    edit = _at(shop, "03-01T13:31", "call", "Edit", edits)
    _at(shop, "03-01T13:31", "result", edit, "The file has been updated.")
    _run_tests(shop, "03-01T13:32", "4 passed")
    passing = _at(shop, "03-01T13:33", "text", "The login works again: 4 tests pass.")
    asking = _at(shop, "03-02T09:00", "prompt", "who else reads the cookie?")
    task, nested = _agents(home, shop)
    _compact(shop, "03-02T09:04", "The login was fixed; the name of the cookie is now in one place.")
    after = _at(shop, "03-02T09:05", "prompt", "write the changelog")
    _at(shop, "03-02T09:06", "text", "Written.")
    fork = home.session(OTHER, branch="fix/login")
    for record in (prompt, passing):
        fork.line({**record, "sessionId": OTHER, "forkedFrom": {"sessionId": SESSION, "messageUuid": record["uuid"]}})
    forked = _at(fork, "03-01T15:00", "prompt", "try it with tokens instead", parent=passing["uuid"])
    _at(fork, "03-01T15:01", "text", "Tokens need a key.")
    return Story(
        *(str(one["uuid"]) for one in (prompt, failing, answer, left, again, asking, task, nested, after, forked))
    )


def _run_tests(shop: Transcript, when: str, output: str, is_error: bool = False) -> Record:
    command = {"command": "pytest -q tests/test_login.py", "description": "Run the login tests"}
    return _at(shop, when, "result", _at(shop, when, "call", "Bash", command), output, is_error)


def _compact(shop: Transcript, when: str, summary: str) -> None:
    """Write a boundary and its summary."""
    _at(shop, when, "system", "compact_boundary", parent=None, logicalParentUuid=shop.last, content="compacted")
    _at(shop, when, "prompt", summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def _agents(home: Home, shop: Transcript) -> tuple[Record, Record]:
    """Write a call, the agent that it started, and one that this one started; return both tasks."""
    call = _at(shop, "03-02T09:00", "call", "Task", {"description": "Find readers", "prompt": "Find all readers."})
    agent, inner = (home.agent(SESSION, name) for name in ("a1b2c3d", "e4f5a6b"))
    home.meta(SESSION, "a1b2c3d", agentType="Explore", description="Find readers", toolUseId=tool_id(call))
    task = _at(agent, "03-02T09:01", "prompt", "Find all readers.")
    below = _at(agent, "03-02T09:01", "call", "Task", {"description": "Look in tests", "prompt": "Look in tests/."})
    home.meta(SESSION, "e4f5a6b", agentType="Explore", description="Look in tests", toolUseId=tool_id(below))
    nested = _at(inner, "03-02T09:02", "prompt", "Look in tests/.")
    _at(inner, "03-02T09:02", "text", "Only test_login.py does.")
    _at(agent, "03-02T09:03", "result", below, "Only test_login.py does.")
    _at(agent, "03-02T09:03", "text", "cookie.py and test_login.py.")
    _at(shop, "03-02T09:04", "result", call, "cookie.py and test_login.py.")
    _at(shop, "03-02T09:04", "text", "Nobody else: only cookie.py and its test.")
    return task, nested


def _at(transcript: Transcript, when: str, what: str, *values: Any, **extra: Any) -> Record:
    """Append a record with a time of its own."""
    record: Record = getattr(transcript, what)(*values, timestamp=f"2026-{when}:00.000Z", **extra)
    return record
