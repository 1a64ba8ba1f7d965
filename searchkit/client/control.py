"""Finds, starts and ends the process of an index, for `serve` and `status`."""

import json
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from searchkit import __version__
from searchkit.client import connect
from searchkit.errors import SearchkitError
from searchkit.system import locks as owner
from searchkit.system.files import write_private

# A cold disk and a busy machine: what it imports takes a third of a second otherwise.
STARTING_SECONDS = 30.0
# After this it is ended by force; it finishes its answers within `server.GRACE_SECONDS`.
ENDING_SECONDS = 6.0
RETRY_SECONDS = 0.05

Fields = dict[str, Any]


def health(index: Path) -> Fields | None:
    """Return what the process of an index says of itself, or None where there is none that answers."""
    try:
        return _asked(index, "GET", "/v1/health")
    except (connect.NobodyThere, connect.NoAnswer, SearchkitError):
        return None


def is_running(index: Path) -> bool:
    """Say whether a process has an index, though it may be silent for the moment; to be asked keeps it from leaving."""
    return health(index) is not None or owner.is_held(connect.lock_path(index))


def start(index: Path, roots: Sequence[str]) -> Fields:
    """Return what the process says of itself, starting it where it does not run, or is another than is wanted.

    Raises NotPrivate where somebody else could answer in its place, or read what it writes.
    """
    connect.check(index)
    running = health(index)
    if running is not None and not _is_wanted(running, roots):
        stop(index)
        running = None
    ends_at = time.monotonic() + STARTING_SECONDS
    if running is None:
        connect.start(str(index), [part for root in roots for part in ("--root", os.path.abspath(root))])
    while (running := health(index)) is None:
        if time.monotonic() > ends_at:
            hint = f"{connect.log_path(index)} says why"
            raise SearchkitError(f"the process for {index} did not start within {STARTING_SECONDS:.0f} s", hint)
        time.sleep(RETRY_SECONDS)
    return running


def listen(index: Path, port: int) -> str:
    """Let the process listen on a loopback port, too, and return the address to open."""
    return str(_asked(index, "POST", "/v1/listen", json.dumps({"port": port}).encode())["address"])


def address(index: Path) -> str | None:
    """Return the address of a loopback port that is open already, or None."""
    door = connect.door(index)
    return connect.address(door["port"], door["page_token"]) if door else None


def first_page(index: Path, address: str) -> Path:
    """Write a page that leads to an address: everybody sees what a browser is started with, and this has the token."""
    page = index / connect.FIRST_PAGE
    write_private(page, f'<meta http-equiv="refresh" content="0; url={address}">'.encode())
    return page


def socket(index: Path) -> str | None:
    """Return the path of the socket that requests are sent to; None where there are no sockets."""
    return str(connect.socket_path(index)) if connect.HAS_SOCKETS else None


def stop(index: Path) -> int | None:
    """End the process, and return its id once it is gone; None where none runs. One that hangs is killed.

    A client may start another meanwhile, which stays.
    """
    lock = connect.lock_path(index)
    try:
        process = int(_asked(index, "POST", "/v1/stop")["pid"])
    except connect.NobodyThere:
        return None
    except (connect.NoAnswer, SearchkitError):
        if not owner.is_held(lock):
            return None
        process = _holder(index)
        _signal(process, signal.SIGTERM)
    ends_at = time.monotonic() + ENDING_SECONDS
    while owner.is_held(lock) and _is_said_to_be(process, lock):
        if time.monotonic() > ends_at:
            _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
            ends_at += ENDING_SECONDS
        time.sleep(RETRY_SECONDS)
    return process


def _is_wanted(running: Fields, roots: Sequence[str]) -> bool:
    asked = [os.path.abspath(root) for root in roots]
    return running.get("version") == __version__ and (not asked or running.get("roots") == asked)


def _asked(index: Path, method: str, path: str, body: bytes = b"") -> Fields:
    status, answer = connect.ask(str(index), method, path, body)
    try:
        fields: Fields = json.loads(answer)
    except ValueError as error:
        raise connect.NoAnswer(f"it answered with no JSON: {error}") from error
    if status != 200:
        told = fields.get("error", {})
        raise SearchkitError(str(told.get("message", status)), str(told.get("hint", "")))
    return fields


def _holder(index: Path) -> int:
    """Return the process that has the lock, which it wrote its id into."""
    process = owner.holder(connect.lock_path(index))
    if process is None:
        hint = "end it by hand; its log is beside the index"
        raise SearchkitError(f"the process for {index} does not answer, and is not known", hint)
    return process


def _is_said_to_be(process: int, lock: Path) -> bool:
    """Say whether a lock names a process; one that names nobody has just been taken by another."""
    return owner.holder(lock) == process


def _signal(process: int, number: signal.Signals) -> None:
    """Tell a process to end; it may have done so meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(process, number)
