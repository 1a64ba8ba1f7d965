"""`searchkit mcp`: passes what an agent asks on stdin to the resident process, and its answers to stdout.

There is one of these for every agent that is open, so it imports next to nothing. All it keeps is the version of
the protocol that was agreed on: the server keeps no state, so that a process that died is started again and
asked again. Where none can be had, the whole server is loaded here.
"""

import json
import os
import sys
import threading
import time

from searchkit import __version__
from searchkit.backends.registry import is_local_index
from searchkit.client import connect
from searchkit.errors import SearchkitError
from searchkit.mcp import jsonrpc
from searchkit.system import paths

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, BinaryIO

    from searchkit.mcp.http import Here

PATH = "/mcp"
# A process that was started may take so long until it answers; one that falls silent later is left alone for a while.
START_SECONDS = 10.0
# It can be connected to long before, within 0.2 s; one that waits for another to leave takes up to 5 s.
APPEAR_SECONDS = 2.5
# One start may fail by bad luck, and a process may be killed while it answers; more than that is no luck any more.
MOST_STARTS = 2
MOST_DEATHS = 3
SHUN_SECONDS = 30.0
PAUSE_SECONDS = 0.03
# Agents ask a few things at once, and further requests wait.
MOST_AT_ONCE = 16
OK, CONFLICT, BUSY, NOT_FOUND = 200, 409, 503, 404
WENT_WRONG = 2


def main(arguments: "Sequence[str]", environment: "Mapping[str, str]" = os.environ) -> int:
    """Answer until stdin ends."""
    named, is_alone = _read(arguments) or (None, False)
    try:
        index = paths.index_directory(named, environment)
    except SearchkitError as error:
        sys.stderr.write(f"error: {error.message}\n" + (f"  {error.hint}\n" if error.hint else ""))
        return WENT_WRONG
    has_resident = not is_alone and not environment.get(connect.SWITCH)
    bridge = Bridge(index, jsonrpc.caller(environment), has_resident, sys.stdout.buffer)
    try:
        bridge.run(sys.stdin.buffer)
    except (KeyboardInterrupt, BrokenPipeError):
        # Nobody reads on; and Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def is_plain(arguments: "Sequence[str]") -> bool:
    """Say whether these arguments need no help of click's."""
    return _read(arguments) is not None


def _read(arguments: "Sequence[str]") -> tuple[str | None, bool] | None:
    """Return the index that is named and whether to do without the resident process; None for anything else."""
    named, is_alone = None, False
    left = list(arguments)
    while left:
        one = left.pop(0)
        if one == "--no-resident":
            is_alone = True
        elif one.startswith("--index="):
            named = one.partition("=")[2]
        elif one == "--index" and left:
            named = left.pop(0)
        else:
            return None
    return named, is_alone


class Bridge:
    """What is known between two messages."""

    def __init__(self, index: str, caller: "Mapping[str, object]", has_resident: bool, out: "BinaryIO") -> None:
        """Open nothing yet."""
        self._index = index
        self._caller = caller
        self._has_resident = has_resident
        self._out = out
        self._writing = threading.Lock()
        self._places = threading.Semaphore(MOST_AT_ONCE)
        self._version: str | None = None
        # The ids of the requests that are worked on, each by the thread that does; one that is taken back goes.
        self._wanted: dict[threading.Thread, object] = {}
        self._wanting = threading.Lock()
        self._started_at = self._shunned_at = -1e9
        # How often the process was started since it last answered.
        self._starts = 0
        self._starting = threading.Lock()
        self._here: Here | None = None
        self._making = threading.Lock()

    def run(self, lines: "BinaryIO") -> None:
        """Answer every line; each in a thread, so that a short question does not wait for a long answer."""
        running: list[threading.Thread] = []
        for line in lines:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                self._write(jsonrpc.error(None, jsonrpc.PARSE_ERROR, "that is no JSON"))
                continue
            if not isinstance(message, dict) or not isinstance(message.get("method", ""), str):
                self._write(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, "that is no message of JSON-RPC 2.0"))
            elif message.get("method") == "notifications/cancelled":
                self._take_back(jsonrpc.cancelled(message))
            elif "method" not in message or message.get("id") is None:
                continue
            elif type(message["id"]) not in (str, int):
                said = "the id of a request is a string or a whole number"
                self._write(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, said))
            else:
                self._places.acquire()
                running = [one for one in running if one.is_alive()]
                running.append(threading.Thread(target=self._answer, args=(message,), daemon=True))
                with self._wanting:
                    self._wanted[running[-1]] = message["id"]
                running[-1].start()
                if message["method"] == "initialize":
                    # What is agreed on there is said with all that follows.
                    running[-1].join()
        for one in running:
            one.join()

    def close(self) -> None:
        """Let go of what was loaded here."""
        if self._here is not None:
            self._here.close()

    def _answer(self, message: "dict[str, Any]") -> None:
        try:
            answer = self._asked(message)
            if message["method"] == "initialize":
                self._version = jsonrpc.agreed(answer)
            if self._is_still_wanted():
                self._write(answer)
        except BrokenPipeError:
            pass
        finally:
            self._places.release()

    def _take_back(self, number: object) -> None:
        """Forget the requests with a number; one that is answered already has nothing to be forgotten."""
        with self._wanting:
            self._wanted = {one: id for one, id in self._wanted.items() if id != number}

    def _is_still_wanted(self) -> bool:
        """Say whether the request that this thread works on was not taken back; from now on it cannot be."""
        with self._wanting:
            return self._wanted.pop(threading.current_thread(), None) is not None

    def _asked(self, message: "dict[str, Any]") -> "dict[str, Any]":
        """Return the answer, or the error that stands for it."""
        try:
            answer = self._found(message)
        except Exception as fault:  # the outermost shell: an agent that waits for an answer is to get one
            return jsonrpc.error(message["id"], jsonrpc.INTERNAL_ERROR, f"{type(fault).__name__}: {fault}")
        return answer or jsonrpc.error(message["id"], jsonrpc.INTERNAL_ERROR, "there is no answer to that")

    def _found(self, message: "dict[str, Any]") -> "dict[str, Any] | None":
        """Return what the resident process answers, or, where it does not, what is answered here."""
        body = json.dumps(jsonrpc.stamped(message, self._caller)).encode()
        headers = {**jsonrpc.headers(message, self._version), "X-Searchkit-Version": __version__}
        answer = jsonrpc.answer(message, self._from_resident(body, headers)) if self._is_served() else None
        return answer or jsonrpc.answer(message, self._from_here(body, headers))

    def _is_served(self) -> bool:
        """Say whether to ask the resident process: not before there is an index, and not one that fell silent."""
        is_wanted = self._has_resident and not self._is_shunned()
        return is_wanted and is_local_index(self._index)

    def _is_shunned(self) -> bool:
        return time.monotonic() - self._shunned_at < SHUN_SECONDS

    def _from_resident(self, body: bytes, headers: "Mapping[str, str]") -> bytes:
        """Ask the resident process, starting it where need be; nothing where it cannot be had."""
        fault = "it does not come up"
        deaths = 0
        ends_at = time.monotonic() + START_SECONDS
        while time.monotonic() < ends_at:
            try:
                status, answer = connect.ask(self._index, "POST", PATH, body, headers)
            except connect.NobodyThere:
                if not self._is_coming():
                    break
            except connect.NoAnswer as silence:
                is_new = time.monotonic() - self._started_at < START_SECONDS
                is_slow = isinstance(silence.__cause__, TimeoutError)
                deaths += not is_slow
                if deaths == MOST_DEATHS or (is_slow and not is_new):
                    fault = str(silence)
                    break
            else:
                if status in (CONFLICT, NOT_FOUND) and not jsonrpc.is_answer(answer):
                    fault = "it is of another version"
                    break
                if status != BUSY:
                    self._starts = 0
                    return answer
            time.sleep(PAUSE_SECONDS)
        self._shunned_at = time.monotonic()
        self._starts = 0
        sys.stderr.write(f"note: the resident process gives no answer ({fault}); searchkit answers without it\n")
        sys.stderr.flush()
        return b""

    def _is_coming(self) -> bool:
        """Say whether a process is still to be waited for, starting one where none is on its way."""
        with self._starting:
            is_gone = _reaped()
            if not is_gone and time.monotonic() - self._started_at < APPEAR_SECONDS:
                return True
            if self._starts == MOST_STARTS or self._is_shunned():
                return False
            self._starts += 1
            self._started_at = time.monotonic()
            connect.start(self._index)
            return True

    def _from_here(self, body: bytes, headers: "Mapping[str, str]") -> bytes:
        with self._making:
            if self._here is None:
                # 1.7 s and 65 MB.
                from searchkit.mcp.http import Here

                self._here = Here(self._index)
        return self._here.ask(body, headers)

    def _write(self, message: "dict[str, Any]") -> None:
        # ASCII: a line is a message, and some line ends are no line ends to everybody.
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._writing:
            self._out.write(line)
            self._out.flush()


def _reaped() -> bool:
    """Let go of processes that were started here, all of them resident, and have ended; say whether there were any."""
    is_gone = False
    # Windows keeps nothing of a process that has ended.
    if hasattr(os, "WNOHANG"):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                is_gone = True
        except ChildProcessError:
            pass
    return is_gone
