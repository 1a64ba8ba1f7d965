"""What a crash leaves on a line: torn objects joined to whole ones, NUL bytes, and what is nested too deeply."""

import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchkit.backends.base import Backend
from searchkit.sources.claude.reader import Memory, Reader
from searchkit.types import Change, Origin
from tests.support.answers import SESSION, found, link_of, problems_of, read, records_of, spoken, texts
from tests.support.running import Run
from tests.support.transcript import Home

Index = Callable[[], Backend]
# Four times the length may take so many times as long; what is quadratic takes sixteen times.
MOST_RATIO = 9
HOSTILE_BYTES = 1 << 16
TORN = b'{"parentUuid":null,"type":"user","message":{"role":"user","content":"half a sen'
DEPTHS = (900, 1_000, 1_030, 1_500, 20_000)


def record(uuid: str, said: str = "whole", **extra: Any) -> bytes:
    """Write a record as Claude Code does, without its newline."""
    fields = {"parentUuid": None, "sessionId": SESSION, "type": "assistant", "timestamp": "2026-03-01T10:00:00.000Z"}
    content = [{"type": "text", "text": said}, {"type": "tool_use", "id": "t" + uuid, "name": "Bash", "input": {}}]
    message = {"id": "msg_1", "role": "assistant", "content": content, "usage": {"input_tokens": 1}}
    return orjson.dumps(fields | {"uuid": uuid, "message": message} | extra)


def pool(home: Home) -> list[bytes]:
    """Write a line of each type, with texts that hold braces, quotes, backslashes and other scripts."""
    transcript = home.session(SESSION)
    transcript.prompt('say {"type":"user","uuid":"no"} {"')
    transcript.prompt([{"type": "text", "text": "C:\\dir\\{"}, {"type": "image", "source": {"data": "aGk="}}])
    transcript.text('naïve {"é": "中文 🎉"} \\" {')
    call = transcript.call("Edit", {"file_path": "/x", "edits": [{"old": "{", "new": '"}'}, [[1.5e3, True, None]]]})
    transcript.result(call, [{"type": "text", "text": '{"a": [1, 2'}], toolUseResult={"files": [{}], "n": -1})
    transcript.attachment("queued_command", prompt="and {then}")
    transcript.system("api_error", content="no", error={"status": 529, "headers": {}})
    transcript.progress({"type": "bash_progress", "output": "}{"}, call)
    transcript.compact("so far {}")
    transcript.line({"type": "summary", "summary": "A {title}", "leafUuid": "x"})
    transcript.line({"type": "custom-title", "customTitle": '"', "sessionId": SESSION})
    lines = transcript.path.read_bytes().splitlines()
    transcript.path.unlink()
    return lines


def read_line(line: bytes) -> Reader:
    """Read one line of a transcript."""
    reader = Reader(Origin(kind="session", session=SESSION), Memory(), lambda said: None)
    reader.read([(1, line)])
    return reader


def test_whole_record_behind_a_torn_one_is_indexed_and_told(home: Home, indexed: Index, run: Run) -> None:
    """Issue 15: the record is in the catalog and found by its words; `doctor` tells of the torn one, on its line."""
    transcript = home.session(SESSION)
    transcript.prompt("before")
    transcript.raw(TORN)
    joined = transcript.text("the joined marmoset")
    transcript.prompt("after")

    backend = indexed()

    assert ["before", "the joined marmoset", "after"] == texts(backend)
    assert [2] == [place.line for place in link_of(backend, joined["uuid"]).places]
    assert ["the joined marmoset"] == [hit.part.text for hit in found(backend, "marmoset")]
    assert [(f"{SESSION}.jsonl", 2)] == problems_of(backend, "torn line")
    assert (4, 1, 3) == (
        backend.catalog.counts().lines,
        backend.catalog.counts().torn,
        backend.catalog.counts().records,
    )
    run("index")
    assert f"{len(TORN)} bytes" in run("doctor").out


LINES = {
    "torn, whole": TORN + record("w1"),
    "whole, torn": record("w1") + TORN,
    "torn, whole, torn": TORN + record("w1") + TORN,
    "torn twice, whole": TORN + TORN + record("w1"),
    "cut behind a colon": b'{"parentUuid":' + record("w1"),
    "cut behind a bracket": b'{"message":{"content":[' + record("w1"),
    "cut behind a bracket, whole twice": b'{"message":{"content":[' + record("w1") + record("w2"),
    "tail of another, whole": b'llo {","b":{"c":1}}],"uuid":"x"}' + record("w1"),
    "garbage around": b"\xff\xfe garbage [" + record("w1") + b"more \x1b garbage",
    "whole three times": record("w1") + record("w2") + b" " + record("w3"),
    "NUL bytes before": b"\0" * 5_000 + record("w1"),
    "NUL bytes behind": record("w1") + b"\0" * 5_000,
    "NUL bytes between": record("w1") + b"\0" * 5_000 + record("w2"),
    "NUL bytes in a string that was cut": TORN + b"\0" * 5_000 + record("w1"),
    "two megabytes of NUL bytes": b"\0" * (2 << 20) + record("w1") + b"\0" * (2 << 20),
    "NUL bytes in a string of the record": record("w1", "zero @ zero").replace(b"@", b"\0\0\0"),
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_every_whole_record_of_a_damaged_line_is_kept(line: bytes) -> None:
    """Issue 15: whatever stands around it, a whole record is read, and nothing is made of what is torn."""
    reader = read_line(line + b"\n")

    wanted = [uuid for uuid in ("w1", "w2", "w3") if f'"{uuid}"'.encode() in line]
    assert wanted == [item.uuid for item in reader.records]
    assert [0] * len(wanted) == [item.blocks[0].number for item in reader.records]
    assert reader.lines - reader.torn == len(wanted)
    assert reader.torn == len(reader.problems)


@pytest.mark.parametrize("before", [b"", b"\0" * 300, record("w1") + b"\0" * 300], ids=["alone", "NUL", "record, NUL"])
def test_object_that_nobody_knows_is_kept_behind_nul_bytes(before: bytes) -> None:
    """Issue 15: nothing torn stands before it, so it is an object of its own, whatever its type."""
    reader = read_line(before + b'{"type":"of tomorrow","note":"whole"}\n')

    assert 1 + before.count(b'"uuid"') == reader.lines - reader.torn


def test_nul_bytes_are_told(home: Home) -> None:
    """Issue 15: a run of NUL bytes is told as such, since something was to be there."""
    home.session(SESSION).raw(b"\0" * 5_000 + record("w1") + b"\n" + b"\0" * 300 + b"\n")

    (change,) = read(home.root)

    assert [(1, "5000 NUL bytes"), (2, "300 NUL bytes")] == [(item.line, item.detail) for item in change.problems]


def test_any_cut_of_a_line_keeps_the_whole_line_behind_it(home: Home) -> None:
    """Issue 15: every line, cut at every place, leaves every line that is joined to it."""
    lines = pool(home)
    lost = []
    for torn in lines:
        for place in range(len(torn)):
            for whole in (record("w1"), lines[place % len(lines)]):
                joined = read_line(torn[:place] + whole + b"\n")
                if read_line(whole).records != joined.records:
                    lost.append((torn[:place], whole))

    assert [] == lost


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab{"\\:,é ', max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(torn=st.dictionaries(st.text(max_size=6), JSON, min_size=1), cut=st.floats(0, 1), said=st.text(min_size=1))
def test_any_object_cut_anywhere_keeps_the_record_behind_it(torn: dict[str, Any], cut: float, said: str) -> None:
    """Issue 15: whatever object was torn, and wherever, the record that is joined to it is read as if it were alone."""
    whole = record("w1", said.encode(errors="replace").decode())
    torn_bytes = orjson.dumps(torn)

    reader = read_line(torn_bytes[: int(cut * (len(torn_bytes) - 1))] + whole + b"\n")

    assert read_line(whole).records == reader.records


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(
        st.sampled_from(
            [record("w1"), record("w2", "other"), TORN, b"\0\0\0", b"\n", b"\n", b" ", b"\r\n", b"}", b"{}", b'{"a":']
        ),
        max_size=12,
    ),
    stops=st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_reading_in_steps_equals_reading_at_once(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], stops: list[float]
) -> None:
    """Issue 15: wherever reading stops meanwhile, records, their lines, counts, problems and the mark end the same."""
    content = b"".join(pieces) + b"\n"
    home = Home(tmp_path_factory.mktemp("steps"))
    transcript = home.session(SESSION)
    seen: dict[str, bytes] = {}
    steps: list[Change] = []
    for stop in (*sorted(stops), 1):
        transcript.raw(content[transcript.path.stat().st_size : round(stop * len(content))])
        steps += read(home.root, seen)
    last = dict(seen)

    at_once = read(home.root, seen := {})

    assert records_of(at_once) == records_of(steps)
    assert at_once[-1].tally == steps[-1].tally
    assert [item for change in at_once for item in change.problems] == [
        item for change in steps for item in change.problems
    ]
    assert seen == last


def test_object_before_nul_bytes_does_not_wait_for_a_newline(home: Home) -> None:
    """Issue 15: after a power failure no newline may ever come; what comes later stands on the same line."""
    transcript = home.session(SESSION)
    transcript.raw(record("w1", "first") + b"\0" * 100)
    seen: dict[str, bytes] = {}

    (first,) = read(home.root, seen)
    transcript.raw(b"\0" * 20 + record("w2", "second") + b"\n" + record("w3", "third") + b"\n")
    (second,) = read(home.root, seen)

    assert [("w1", 1)] == [(item.uuid, item.line) for item in first.records]
    assert [("w2", 1), ("w3", 2)] == [(item.uuid, item.line) for item in second.records]
    assert [(1, "120 NUL bytes")] == [(item.line, item.detail) for item in second.problems]


def test_same_record_twice_on_one_line_is_one(home: Home, indexed: Index) -> None:
    """Issue 15: a record that was written again behind its torn copy and itself has one place."""
    home.session(SESSION).raw(record("w1")[:-30] + record("w1") + record("w1") + b"\n")

    backend = indexed()

    assert [1] == [place.line for place in link_of(backend, "w1").places]
    assert ["whole", "Bash"] == texts(backend)


def test_history_keeps_a_whole_line_behind_a_torn_one(home: Home) -> None:
    """Issue 15: the history of prompts is a file of lines like any other."""
    home.history("a whole prompt")
    path = home.root / "history.jsonl"
    path.write_bytes(b'{"display":"a torn pro' + path.read_bytes()[:-1] + b"\0\0" + path.read_bytes())

    (change,) = read(home.root)

    assert [("history", "user", "a whole prompt")] * 2 == spoken([change])
    assert [(1, "22 bytes"), (1, "2 NUL bytes")] == [(item.line, item.detail) for item in change.problems]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", ["toolUseResult", "unknown", "data", "attachment", "origin", "cwd"])
def test_record_with_a_deep_field_is_kept(name: str, depth: int) -> None:
    """Issue 15: a field nested deeper than any decoder follows costs neither the record nor its words and links."""
    deep = b'{"a":[' * (depth // 2) + b'"x"' + b"]}" * (depth // 2)
    line = record("w1", "still said", parentUuid="p1")[:-1] + b',"%s":%s}\n' % (name.encode(), deep)

    (kept,) = read_line(line).records

    assert ("w1", "p1", "still said") == (kept.uuid, kept.parent, kept.blocks[0].text)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", ["user", "assistant", "attachment", "system", "progress", "result", "novelty"])
def test_text_in_a_deep_place_is_found(home: Home, indexed: Index, kind: str, depth: int) -> None:
    """Issue 15: what lies deeper than any decoder follows is found by its words."""
    deep = b'{"a":[1,' * (depth // 2) + b'"the deep axolotl"' + b"]}" * (depth // 2)
    call = b'[{"type":"tool_use","id":"t1","name":"Calc","input":%s}]' % deep
    said = {
        "user": b'"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[%s]}]}' % deep,
        "assistant": b'"message":{"content":%s}' % call,
        "attachment": b'"attachment":{"type":"novelty","what":%s}' % deep,
        "system": b'"error":%s' % deep,
        "progress": b'"parentToolUseID":"t1","data":{"type":"bash_progress","what":%s}' % deep,
        "result": b'"result":%s' % deep,
        "novelty": b'"what":%s' % deep,
    }
    transcript = home.session(SESSION)
    transcript.raw(b'{"type":"%s","uuid":"w1","sessionId":"%s",' % (kind.encode(), SESSION.encode()))
    transcript.raw(said[kind] + b',"timestamp":"2026-03-01T10:00:00.000Z"}\n')
    transcript.prompt("after")

    backend = indexed()

    assert ["w1"] == [hit.part.uuid for hit in found(backend, "axolotl")]
    assert "after" == texts(backend)[-1]
    assert [] == problems_of(backend, "torn line")


def test_deep_line_that_was_cut_keeps_the_record_behind_it() -> None:
    """Issue 15: a torn line may be cut thousands of levels deep."""
    deep = b'{"a":[' * 2_000

    assert ["w1"] == [item.uuid for item in read_line(deep + record("w1") + b"\n").records]


HOSTILE = {
    "braces": b"{",
    "keys": b'{"a":',
    "brackets": b"[",
    "lists of keys": b'{"a":[',
    "braces in strings": b'{"{',
    "empty objects": b"{}",
    "nested and torn": b'{"a":{"b":1},"c":[',
    "escaped quotes": b'{"\\"',
    "values that end in a brace": b'{"a":"{",',
    "blanks": b'{        "',
    "NUL bytes and braces": b"{\0\0\0\0\0\0\0\0",
    "records": b'{"type":"x","uuid":"y"}',
    "closing": b"}]",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_hostile_line_takes_time_by_its_length(unit: bytes) -> None:
    """Issue 15: a line of four times the length takes some four times as long, not sixteen times."""
    short = unit * (HOSTILE_BYTES // len(unit)) + b"\n"

    ratio = measured(short[:-1] * 4 + b"\n") / max(measured(short), 1e-4)

    assert ratio < MOST_RATIO


def measured(line: bytes) -> float:
    """Return the least processor time of three readings."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        read_line(line)
        times.append(time.process_time() - begin)
    return min(times)


def test_problems_of_a_hostile_line_are_bounded() -> None:
    """Issue 15: a line of a hundred thousand objects and gaps is counted, and only some of it noted one by one."""
    reader = read_line(b'{"type":"x","uuid":"y"}}' * 100_000)

    assert (200_000, 100_000) == (reader.lines, reader.torn)
    assert 2_000 == len(reader.problems)


def test_long_key_is_not_repeated_for_all_that_is_below_it() -> None:
    """Issue 15: the text of a call is as long as its input, not as its longest key times all its values."""
    call = {"type": "tool_use", "id": "t1", "name": "Calc", "input": {"k" * 100_000: {"in": [1] * 1_000}}}

    (kept,) = read_line(record("w1", message={"content": [call]})).records

    assert len(kept.blocks[0].text) < 2_000_000
    assert kept.blocks[0].text.endswith("k.999: 1")
