"""The process that reads transcripts for another one."""

import os
import signal
import struct
import subprocess
import sys
import time

import msgspec

from searchkit.indexing.worker import Request
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
# More than a pipe holds.
LONG_TEXT = "word " * 200_000
# By then it waits for somebody to take the rest.
BLOCKED_SECONDS = 0.3


def test_request_that_is_cut_off_ends_the_process_without_a_traceback() -> None:
    """Where the asking process was killed while it wrote, nothing is printed, and the status says so."""
    request = msgspec.msgpack.encode(Request(roots=["/nowhere"], seen={}, preparation=None))
    command = [sys.executable, "-c", "from searchkit.indexing.worker import main; main()"]

    done = [subprocess.run(command, input=sent, capture_output=True, check=False) for sent in (b"", request[:-3])]

    assert [(1, b"", b"")] * 2 == [(one.returncode, one.stdout, one.stderr) for one in done]


def test_answer_is_whole_though_the_process_was_stopped_while_writing_it(home: Home) -> None:
    """Ctrl-Z and fg cut no answer short, also where PYTHONUNBUFFERED makes stdout write what it can at once."""
    home.session(SESSION).prompt(LONG_TEXT)
    request = msgspec.msgpack.encode(Request(roots=[str(home.root)], seen={}, preparation=None))
    command = [sys.executable, "-c", "from searchkit.indexing.worker import main; main()"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}

    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request)
        process.stdin.close()
        (length,) = struct.unpack("<Q", process.stdout.read(8))
        time.sleep(BLOCKED_SECONDS)
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
        answer = process.stdout.read()

    assert (0, True, length) == (process.returncode, length > len(LONG_TEXT), len(answer))
