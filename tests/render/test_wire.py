"""The JSON of commands is what its structs say: field by field, and nothing else."""

from typing import Any

import msgspec
import pytest

from searchkit.errors import UsageError
from searchkit.render.wire import context, conversation, health, search, sessions
from searchkit.render.wire.base import Error, Wire, encode, error
from searchkit.server.app import description
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
COMMANDS: list[tuple[list[str], type[Wire]]] = [
    (["search", "lantern"], search.Answer),
    (["search", "nonesuch"], search.Answer),
    (["search", "lantern", "--full", "--facets", "kind", "--group", "none"], search.Answer),
    (["show", SESSION], conversation.Outline),
    (["show", "1"], conversation.Conversation),
    (["tree", SESSION], conversation.Outline),
    (["context", "lantern"], context.Pack),
    (["sessions"], sessions.Listing),
    (["prune", "--gone", "--dry-run"], sessions.Pruned),
    (["stats"], sessions.Stats),
    (["status"], health.Status),
    (["doctor"], health.Examination),
    (["index"], health.Summary),
    (["show", "nonesuch"], Error),
]


@pytest.mark.parametrize(
    ("command", "kind"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_command_prints_its_struct(home: Home, run: Run, command: list[str], kind: type[Wire]) -> None:
    """What is printed can be read as the struct, and is written again as it was, so that no field is lost or moved."""
    told = home.session(SESSION)
    told.prompt("light the lantern")
    told.result(told.call("Bash", {"command": "make lantern"}), "error: no oil", is_error=True)
    run("index")
    run("search", "lantern")

    answer = run(*command, "--json")

    assert answer.out.strip() == encode(msgspec.json.decode(answer.out, type=kind), is_indented=True)


def test_error_is_written_with_its_hint() -> None:
    """An error says what is wrong and what to do."""
    assert '{"error":{"kind":"UsageError","message":"no","hint":"yes"}}' == encode(error(UsageError("no", "yes")))


def test_schemas_are_made_of_the_structs() -> None:
    """Every struct has one name in the description, its fields in their order, and what must be there."""
    schemas: dict[str, Any] = description()["components"]["schemas"]

    assert [] == [name for name in schemas if not name.isalpha()]
    for kind in (search.Answer, search.Result, sessions.Session, conversation.Outline, health.Status):
        assert kind.__struct_fields__ == tuple(schemas[kind.__name__]["properties"])
    assert {"cut", "steps", "agent", "thread"} == {*schemas["Entry"]["properties"]} - {*schemas["Entry"]["required"]}
