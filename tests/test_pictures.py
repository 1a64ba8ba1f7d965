"""Pictures are found again in the transcript, by the record they belong to."""

import pytest

from searchkit.sources.claude.pictures import Picture, pictures, records_with_pictures
from tests.transcript import Home

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
