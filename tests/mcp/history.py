"""Writes the history that tests of agents ask about."""

from pathlib import Path

import msgspec

from searchkit import Engine
from tests.support.transcript import Home

FIXED = "11111111-1111-4111-8111-111111111111"
LATER = "22222222-2222-4222-8222-222222222222"
OTHER = "33333333-3333-4333-8333-333333333333"
SHOP = "/home/mira/src/shop"
ERROR = "KeyError: 'sid' in the cookie middleware"
HOSTILE = "before\u202eafter \x1b[31mred\x1b[0m \u200bhidden"
LONG = "A long story about the ledger. " * 1_000


class History(msgspec.Struct, frozen=True):
    """Where it is, and the uuids of what tests look for."""

    root: Path
    index: Path
    prompt: str
    failed: str
    passed: str
    edit: str
    long: str


def write(place: Path) -> History:
    """Write sessions and index them, without vectors."""
    home = Home(place / "claude", cwd=SHOP)
    first = home.session(FIXED)
    prompt = first.prompt("The login page answers 500 since the rename, please look at the cookie middleware")
    test = {"command": "pytest -q tests/test_login.py"}
    failed = first.result(first.call("Bash", test), f"Exit code 1\nE   {ERROR}\n1 failed", is_error=True)
    edit = first.call(
        "Edit",
        {"file_path": f"{SHOP}/src/cookie.py", "old_string": 'cookies["sid"]', "new_string": "cookies.get(NAME)"},
    )
    first.result(edit, "The file has been updated.")
    passed = first.result(first.call("Bash", test), "1 passed in 0.2s")
    first.text("The middleware read the old name of the cookie; it is mended.")
    later = home.session(LATER)
    later.prompt("why is the ledger so slow?")
    long = later.text(LONG)
    later.text(HOSTILE)
    other = home.session(OTHER, cwd="/home/mira/src/notes")
    other.prompt("add a ledger to the notes")
    other.result(other.call("Read", {"file_path": f"{SHOP}/src/cookie.py"}), "NAME = 'session'")
    index = place / "index"
    with Engine(index, [home.root]) as engine:
        engine.index()
    return History(home.root, index, prompt["uuid"], failed["uuid"], passed["uuid"], edit["uuid"], long["uuid"])
