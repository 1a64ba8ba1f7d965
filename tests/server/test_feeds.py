"""What only the page asks for: conversations to leaf through, folded steps, whole texts, pictures."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator

from tests.server.residence import Residence

# Of the sample: with an agent, and with a branch and a compaction.
SESSIONS = ("d7273ac5-1b02-4834-a656-c3bf97d16b5a", "30175143-37c7-489a-a4fd-8071c9f05dc8")
ADDRESSES = {
    "/v1/readings/{id}": ["/v1/readings/{id}", "/v1/readings/{id}?q=the&begin=3&count=2"],
    "/v1/readings/{id}/fold": ["/v1/readings/{id}/fold?row={row}"],
    "/v1/parts/{id}": ["/v1/parts/{part}?q=the"],
    "/v1/pictures/{id}": ["/v1/pictures/{uuid}"],
}


def asked(served: Residence, address: str) -> Any:
    """Return what is answered, which is no error."""
    status, answer = served.get(address)
    assert 200 == status, answer
    return answer


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize("path", ADDRESSES)
def test_feeds_are_as_described(served: Residence, path: str, session: str) -> None:
    """What is answered fits the schema that the description has for it."""
    described = asked(served, "/v1/openapi.json")
    reading = asked(served, f"/v1/readings/{session}")
    fold = next(number for number, row in enumerate(reading["rows"]) if row["kind"] == "steps")
    part = quote(next(row["part"] for row in reading["rows"] if "part" in row), safe="")
    known = {"id": session, "row": fold, "part": part, "uuid": reading["record"]}

    answers = [asked(served, address.format(**known)) for address in ADDRESSES[path]]

    schema = described["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    for answer in answers:
        Draft202012Validator({**schema, "components": described["components"]}).validate(answer)


def test_steps_are_counted_alike(served: Residence) -> None:
    """A conversation, its tree, and what a line says of the steps that it folds have the same numbers."""
    # Of the sample: without agents, whose calls are rows of their own.
    session = "98df36ba-d538-426e-ade6-60793f564115"
    rows = asked(served, f"/v1/readings/{session}?begin=0&count=200")["rows"]
    folds = [row for row in rows if row["kind"] == "steps"]
    told = [sum(int(number) for number in re.findall(r"\b(\d+) ", fold["text"].split(":")[0])) for fold in folds]

    (way,) = asked(served, f"/v1/sessions/{session}/tree")["ways"]

    assert told == [fold["steps"] for fold in folds]
    assert sum(told) == sum(turn["steps"] for turn in way["turns"]) > 1


@pytest.mark.parametrize("session", SESSIONS)
def test_pages_are_the_conversation(served: Residence, session: str) -> None:
    """Page by page, with the moment that the first answer names, a conversation is read once and whole."""
    whole = asked(served, f"/v1/readings/{session}?begin=0&count=200")
    rows: list[object] = []

    while len(rows) < whole["total"]:
        address = f"/v1/readings/{session}?begin={len(rows)}&count=3&as_of={whole['as_of']}"
        rows += asked(served, address)["rows"]

    assert whole["rows"] == rows


def test_moment_that_is_not_kept_is_named_anew(served: Residence) -> None:
    """Asked as of a moment that is not kept, an answer names another, and steps of what may be another row are none."""
    reading = asked(served, f"/v1/readings/{SESSIONS[0]}?as_of=1")
    fold = next(number for number, row in enumerate(reading["rows"], reading["begin"]) if row["kind"] == "steps")

    before = asked(served, f"/v1/readings/{SESSIONS[0]}/fold?row={fold}&as_of=1")
    now = asked(served, f"/v1/readings/{SESSIONS[0]}/fold?row={fold}&as_of={reading['as_of']}")

    assert reading["as_of"] == now["as_of"]
    assert now["rows"]
    assert before["as_of"] not in ("1", now["as_of"])
    assert [] == before["rows"]


def test_hits_are_told_with_their_marks(served: Residence) -> None:
    """Asked with words, a conversation says which rows hold them, and where."""
    found = asked(served, "/v1/search?q=webhook&mode=keyword")["results"][0]

    reading = asked(served, f"/v1/readings/{found['uuid']}?q=webhook&begin=0&count=200")

    assert reading["here"] in reading["hits"]
    row = reading["rows"][reading["here"]]
    assert found["uuid"] == row["uuid"]
    assert {row["text"][start:end].lower() for start, end in row["marks"]} <= {"webhook", "webhooks"}


def test_message_of_an_agent_leads_up(served: Residence) -> None:
    """A call tells the agent that it started, whose conversation tells the call."""
    reading = asked(served, f"/v1/readings/{SESSIONS[0]}?begin=0&count=200")
    call = next(row for row in reading["rows"] if row.get("agent"))

    inside = asked(served, f"/v1/readings/{quote(call['agent']['first'])}")

    assert call["uuid"] == inside["above"][-1]["caller"]
    assert inside["rows"]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/v1/readings/nowhere", 404),
        ("/v1/readings/%20", 400),
        ("/v1/parts/x%230", 404),
        (f"/v1/readings/{SESSIONS[0]}/fold?row=999", 404),
    ],
)
def test_what_is_not_there_is_said(served: Residence, address: str, expected: int) -> None:
    """An id that means nothing is an error that says so."""
    status, answer = served.get(address)

    assert expected == status
    assert answer["error"]["message"]


def test_pictures_of_nothing_are_none(served: Residence) -> None:
    """A message without pictures has an empty list of them."""
    assert {"pictures": []} == asked(served, "/v1/pictures/nowhere")
