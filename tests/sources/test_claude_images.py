"""Pictures are found again in the transcript, by the record they belong to."""

import os
import subprocess
import sys

import pytest

from searchkit.sources.claude.images import pictures, records_with_pictures
from searchkit.types import Picture
from tests.server.residence import SECONDS_FOR_ANYTHING
from tests.support.transcript import Home

SESSION = "55555555-5555-4555-8555-555555555555"


def shown(type: str = "image/png", data: str = "aGVsbG8=") -> dict[str, object]:
    """Make a block that shows a picture."""
    return {"type": "image", "source": {"type": "base64", "media_type": type, "data": data}}


def test_pictures_of_prompts_and_results_are_found(home: Home) -> None:
    """What a person pasted and what a tool returned are both found, in order."""
    told = home.session(SESSION)
    told.prompt('no picture, only the word "image"')
    pasted = told.prompt([{"type": "text", "text": "look"}, shown(), shown("image/webp")])
    read = told.result(told.call("Read"), [shown("image/jpeg", "d29ybGQ=")])
    file = str(told.path)

    assert {pasted["uuid"]: 2, read["uuid"]: 1} == records_with_pictures(file)
    assert [Picture(type="image/png", data="aGVsbG8="), Picture(type="image/webp", data="aGVsbG8=")] == pictures(
        file, pasted["uuid"]
    )
    assert [Picture(type="image/jpeg", data="d29ybGQ=")] == pictures(file, read["uuid"])


@pytest.mark.parametrize("type", ["image/svg+xml", "text/html", "", "image/png;x"])
def test_what_could_run_is_no_picture(home: Home, type: str) -> None:
    """Only formats that hold nothing but pixels are shown."""
    told = home.session(SESSION)
    told.prompt([shown(type)])

    assert {} == records_with_pictures(str(told.path))


def test_transcript_that_is_gone_or_torn_has_none(home: Home) -> None:
    """A missing file, an empty one and a line that was cut are no errors."""
    told = home.session(SESSION)
    torn = home.session("66666666-6666-4666-8666-666666666666")
    torn.raw(b'{"uuid": "x", "message": {"content": [{"type": "image", "source"')

    assert {} == records_with_pictures(str(told.path))
    assert {} == records_with_pictures(str(torn.path))
    assert {} == records_with_pictures(str(told.path) + ".gone")
    assert [] == pictures(str(told.path) + ".gone", "x")


def test_new_pictures_are_noticed(home: Home) -> None:
    """A transcript that has grown is looked at again."""
    told = home.session(SESSION)
    first = told.prompt([shown()])
    assert {first["uuid"]: 1} == records_with_pictures(str(told.path))

    second = told.prompt([shown()])

    assert {first["uuid"]: 1, second["uuid"]: 1} == records_with_pictures(str(told.path))


def test_pipe_is_no_transcript(home: Home) -> None:
    """A pipe in place of a transcript is not waited for: opening one waits for whoever writes to it (issue 15)."""
    told = home.session(SESSION)
    pipe = told.path.with_name("pipe.jsonl")
    os.mkfifo(pipe)

    done = in_another_process(
        "from searchkit.sources.claude.images import pictures, records_with_pictures",
        f"print(records_with_pictures({str(pipe)!r}), pictures({str(pipe)!r}, 'x'))",
    )

    assert (0, "{} []\n") == (done.returncode, done.stdout)


def test_transcript_that_shrinks_while_it_is_read(home: Home) -> None:
    """Who reads behind the new end of a file is not killed for it, and finds what came before (issue 15)."""
    told = home.session(SESSION)
    first = told.prompt([shown()])
    for _ in range(50):
        told.prompt([{"type": "text", "text": "x" * 100_000}, shown()])

    done = in_another_process(
        "import os",
        "from searchkit.sources.claude.images import _records",
        f"records = _records({str(told.path)!r})",
        "first = next(records)['uuid']",
        f"os.truncate({str(told.path)!r}, 0)",
        "print(first, len(list(records)) < 50)",
    )

    assert (0, f"{first['uuid']} True\n") == (done.returncode, done.stdout)


def test_line_past_the_limit_is_left_out(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is too long is not read whole, and those around it are found."""
    told = home.session(SESSION)
    before = told.prompt([shown()])
    told.prompt([{"type": "text", "text": "x" * 10_000}, shown()])
    after = told.prompt([shown()])
    monkeypatch.setattr("searchkit.sources.claude.images.MOST_LINE_BYTES", 3_000)

    assert {before["uuid"]: 1, after["uuid"]: 1} == records_with_pictures(str(told.path))


def in_another_process(*lines: str) -> subprocess.CompletedProcess[str]:
    """Run a program of a few lines, which may hang or be killed."""
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=SECONDS_FOR_ANYTHING
    )
