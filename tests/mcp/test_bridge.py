"""What the bridge makes of lines: requests get their answers, and what is no request an error of the protocol's own."""

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from searchkit.client import connect
from searchkit.mcp import bridge, jsonrpc
from searchkit.mcp.bridge import Bridge
from tests.mcp.history import FIXED, LATER, History

NOBODY = {"session": "", "cwd": ""}
VERSION = "io.modelcontextprotocol/protocolVersion"


def answers(index: Path, *lines: bytes, has_resident: bool = False) -> list[dict[str, Any]]:
    """Say lines to a bridge and return what it answers, in the order of the numbers."""
    out = io.BytesIO()
    made = Bridge(str(index), NOBODY, has_resident, out)
    made.run(io.BytesIO(b"\n".join(lines) + b"\n"))
    made.close()
    return sorted((json.loads(line) for line in out.getvalue().splitlines()), key=lambda one: str(one["id"]))


def request(number: int, method: str, **params: object) -> bytes:
    """Write a request."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc": "2.0", ', -32700),
        (b"\xff\xfe", -32700),
        (b"[1, 2]", -32600),
        (b'"ping"', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b"[" * 200_000, -32700),
    ],
)
def test_line_that_is_no_message_is_an_error(history: History, line: bytes, code: int) -> None:
    """The protocol's own errors come back, and what follows is answered as if nothing had been."""
    wrong, ping = sorted(answers(history.index, line, b"", request(4, "ping")), key=lambda one: "result" in one)

    assert (None, code) == (wrong["id"], wrong["error"]["code"])
    assert {"jsonrpc": "2.0", "id": 4, "result": {}} == ping


def test_requests_that_make_no_sense_are_answered_by_their_number(history: History) -> None:
    """A method that is not there and parameters of another form are errors with the number of the request."""
    unknown, odd, late = answers(
        history.index,
        request(1, "tools/destroy"),
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": 4}',
        request(3, "tools/list", _meta={VERSION: "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}}),
    )

    assert (1, -32601) == (unknown["id"], unknown["error"]["code"])
    assert (2, -32602) == (odd["id"], odd["error"]["code"])
    assert (3, ["2026-07-28"]) == (late["id"], late["error"]["data"]["supported"])


def test_name_that_is_no_text_is_answered(history: History) -> None:
    """A name with half a character in it cannot be said in a header; whoever asks learns that."""
    (answer,) = answers(history.index, request(1, "tools/call", name="\ud800", _meta={VERSION: "2026-07-28"}))

    assert (1, -32603) == (answer["id"], answer["error"]["code"])


def test_notifications_are_not_answered(history: History) -> None:
    """Only requests are."""
    said = answers(history.index, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', request(1, "ping"))

    assert [1] == [one["id"] for one in said]


def test_missing_index_is_told(tmp_path: Path) -> None:
    """Before anything is indexed there is nothing to start a process for: a call says what to run."""
    call = request(1, "tools/call", name="search", arguments={"query": "ledger"})

    (answer,) = answers(tmp_path / "none", call, has_resident=True)

    assert answer["result"]["isError"]
    assert "searchkit index" in answer["result"]["content"][0]["text"]


def test_call_may_say_itself_who_asks(history: History) -> None:
    """What a client says of itself counts more than what the bridge knows of it."""
    call = request(
        1,
        "tools/call",
        name="search",
        arguments={"query": "ledger"},
        _meta={jsonrpc.CALLER: {"session": LATER}},
    )

    (answer,) = answers(history.index, call)

    assert [LATER] == [one["session"] for one in answer["result"]["structuredContent"]["left_out"]]


def test_nonsense_about_who_asks_says_nothing(history: History) -> None:
    """A client that says something else there is answered all the same."""
    call = request(1, "tools/call", name="show", arguments={"id": FIXED}, _meta={jsonrpc.CALLER: [1]})

    (answer,) = answers(history.index, call)

    assert FIXED == answer["result"]["structuredContent"]["session"]


def test_cancelled_request_is_not_answered(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a request that is taken back while it is worked on, nothing comes; those beside it are answered."""
    is_cancelled = threading.Event()

    class Lines(io.BytesIO):
        def __next__(self) -> bytes:
            try:
                return super().__next__()
            except StopIteration:
                is_cancelled.set()
                raise

    def ask(index: str, method: str, path: str, body: bytes, headers: object) -> tuple[int, bytes]:
        asked = json.loads(body)
        if asked["id"] == 1:
            assert is_cancelled.wait(60)
        return 200, json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).encode()

    monkeypatch.setattr(connect, "ask", ask)
    out = io.BytesIO()
    cancel = b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}'

    Bridge(str(history.index), NOBODY, True, out).run(
        Lines(b"\n".join([request(1, "tools/list"), cancel, request(2, "tools/list")]))
    )

    assert [2] == [json.loads(line)["id"] for line in out.getvalue().splitlines()]


def test_number_that_was_taken_back_too_late_can_be_used_again(history: History) -> None:
    """A cancellation that comes after the answer says nothing about later requests with that number."""
    out = io.BytesIO()
    made = Bridge(str(history.index), NOBODY, False, out)
    cancel = b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}'
    made.run(io.BytesIO(request(1, "ping")))

    made.run(io.BytesIO(b"\n".join([cancel, request(1, "ping")])))

    made.close()
    assert [1, 1] == [json.loads(line)["id"] for line in out.getvalue().splitlines()]


def test_process_that_dies_at_every_question_is_done_without(
    history: History, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After three deaths the bridge answers by itself, and says why."""
    asked = []

    def ask(*_: object) -> tuple[int, bytes]:
        asked.append(1)
        raise connect.NoAnswer("it died before it answered")

    monkeypatch.setattr(connect, "ask", ask)

    said = answers(history.index, request(1, "ping"), has_resident=True)

    assert ([{"jsonrpc": "2.0", "id": 1, "result": {}}], 3) == (said, len(asked))
    assert "it died before it answered" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "WNOHANG"), reason="a process that has ended is not noticed here")
def test_process_that_ends_at_once_is_done_without(
    history: History, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is started twice and then not waited for; none of the two is left as a zombie."""
    started = []

    def ask(*_: object) -> tuple[int, bytes]:
        raise connect.NobodyThere

    def start(index: str) -> None:
        started.append(os.posix_spawn(sys.executable, [sys.executable, "-S", "-c", ""], os.environ))

    monkeypatch.setattr(connect, "ask", ask)
    monkeypatch.setattr(connect, "start", start)
    # Longer than any test takes: only the end of the process can be what is noticed.
    monkeypatch.setattr(bridge, "APPEAR_SECONDS", 600.0)
    monkeypatch.setattr(bridge, "START_SECONDS", 600.0)

    said = answers(history.index, request(1, "ping"), has_resident=True)

    assert ([{"jsonrpc": "2.0", "id": 1, "result": {}}], 2) == (said, len(started))
    assert "it does not come up" in capsys.readouterr().err
    for one in started:
        with pytest.raises(ChildProcessError):
            os.waitpid(one, os.WNOHANG)


def test_process_that_never_appears_is_started_twice(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that neither ends nor answers is waited for as long as a start takes, and so is the next."""
    started: list[str] = []

    def ask(*_: object) -> tuple[int, bytes]:
        raise connect.NobodyThere

    monkeypatch.setattr(connect, "ask", ask)
    monkeypatch.setattr(connect, "start", started.append)
    monkeypatch.setattr(bridge, "APPEAR_SECONDS", 0.1)
    monkeypatch.setattr(bridge, "START_SECONDS", 600.0)

    said = answers(history.index, request(1, "ping"), has_resident=True)

    assert ([{"jsonrpc": "2.0", "id": 1, "result": {}}], 2) == (said, len(started))


def test_broken_configuration_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that does not know where its index is says what to do, on stderr, and ends."""
    (tmp_path / "searchkit").mkdir()
    (tmp_path / "searchkit" / "config.toml").write_text("index = [")

    status = bridge.main([], {"XDG_CONFIG_HOME": str(tmp_path)})

    out, err = capsys.readouterr()
    assert (2, "") == (status, out)
    assert "config.toml" in err
    assert "correct or remove that file" in err


@pytest.mark.parametrize(
    ("arguments", "is_plain"),
    [([], True), (["--index", "x", "--no-resident"], True), (["--index=x"], True), (["--help"], False), (["x"], False)],
)
def test_only_odd_arguments_need_the_command_line(arguments: list[str], is_plain: bool) -> None:
    """What every agent says is read without loading what reads commands."""
    assert is_plain == bridge.is_plain(arguments)


def test_name_that_no_header_can_hold_is_encoded() -> None:
    """A resource is named in a header as the protocol has it."""
    message = {"method": "resources/read", "params": {"uri": "searchkit://session/é", "_meta": {VERSION: "2026-07-28"}}}

    found = jsonrpc.headers(message, None)

    assert ("2026-07-28", "resources/read") == (found["MCP-Protocol-Version"], found["Mcp-Method"])
    assert "=?base64?c2VhcmNoa2l0Oi8vc2Vzc2lvbi/DqQ==?=" == found["Mcp-Name"]


def test_bridge_loads_next_to_nothing() -> None:
    """There is one for every agent that is open, so it holds neither the SDK nor what commands and engines need."""
    program = "import sys, searchkit.mcp.bridge; print(*{name.partition('.')[0] for name in sys.modules})"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.split()

    heavy = {"asyncio", "click", "mcp", "msgspec", "orjson", "pathlib", "pydantic", "sqlite3", "tantivy", "typing"}
    assert set() == heavy.intersection(loaded)
