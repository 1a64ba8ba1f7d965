"""What is answered over HTTP is what the commands print, and is described."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Route

from searchkit.cli import main
from searchkit.server.app import application, description
from searchkit.server.server import Server
from searchkit.server.service import Service
from tests.server.residence import Residence, request

# Sessions of the sample: one with agents, and one with branches and a compaction.
SESSIONS = ("d7273ac5-1b02-4834-a656-c3bf97d16b5a", "c36cf8c4-55a7-45d5-a739-199934e03836")
# A command and the address that answers the same.
EQUALS = [
    (["search", "cache", "--mode", "hybrid"], "/v1/search?q=cache"),
    (
        ["search", "cache", "--mode", "keyword", "--limit", "2", "--full"],
        "/v1/search?q=cache&mode=keyword&limit=2&full=1",
    ),
    (
        ["search", "the", "--group", "none", "--sort", "newest", "--thread", "0", "--facets", "kind,project"],
        "/v1/search?q=the&group=none&sort=newest&thread=0&facets=kind,project",
    ),
    (
        ["search", "--kind", "prompt", "--kind", "text", "--project", "teashop", "--mode", "keyword"],
        "/v1/search?kind=prompt&kind=text&project=teashop&mode=keyword",
    ),
    (["search", "nowhereatall", "--mode", "keyword"], "/v1/search?q=nowhereatall&mode=keyword"),
    (["search", "kind:prompt -cache after:2020-01-01"], f"/v1/search?q={quote('kind:prompt -cache after:2020-01-01')}"),
    (["show", SESSIONS[0], "--json"], f"/v1/sessions/{SESSIONS[0]}"),
    (["show", SESSIONS[1][:6], "--full"], f"/v1/sessions/{SESSIONS[1][:6]}?full=true"),
    (["tree", SESSIONS[1]], f"/v1/sessions/{SESSIONS[1]}/tree"),
    (["context", "cache"], "/v1/context?q=cache"),
    (["context", "cache", "--max-tokens", "900"], "/v1/context?q=cache&max_tokens=900"),
    (
        ["context", "cache", "--max-tokens", "900", "--exclude-session", SESSIONS[0]],
        f"/v1/context?q=cache&max_tokens=900&exclude_session={SESSIONS[0]}",
    ),
    (["stats"], "/v1/stats"),
    (["stats", "--by", "tool", "project:teashop"], "/v1/stats?by=tool&q=project:teashop"),
]


def printed(served: Residence, capsys: pytest.CaptureFixture[str], command: list[str]) -> Any:
    """Return what a command prints with --json, without the process."""
    main.run([*command, "--index", str(served.index), "--json"])
    return json.loads(capsys.readouterr().out)


def without_times(value: Any) -> Any:
    """Leave out how long it took."""
    return {name: each for name, each in value.items() if name != "took_ms"}


@pytest.fixture(autouse=True)
def same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands use the model that the process uses."""
    monkeypatch.setenv("SEARCHKIT_MODEL", "fake")


@pytest.mark.parametrize(("command", "address"), EQUALS, ids=lambda value: value if isinstance(value, str) else None)
def test_answers_what_the_command_prints(
    served: Residence, capsys: pytest.CaptureFixture[str], command: list[str], address: str
) -> None:
    """An address answers with the JSON that its command prints."""
    status, answer = served.get(address)

    assert 200 == status
    assert without_times(printed(served, capsys, command)) == without_times(answer)


def test_message_is_shown_as_the_command_shows_it(served: Residence, capsys: pytest.CaptureFixture[str]) -> None:
    """A message is meant by its id, a beginning of it, or the id of a part, and may have its agents beside it."""
    uuid = served.get("/v1/search?q=cache&limit=1")[1]["results"][0]["uuid"]
    command = ["show", uuid, "--before", "2", "--after", "0", "--agents"]

    _, answer = served.get(f"/v1/messages/{uuid}?before=2&after=0&agents=yes")
    _, by_part = served.get(f"/v1/messages/{uuid[:13]}%230?before=2&after=0&agents=yes")

    assert printed(served, capsys, command) == answer == by_part


def test_message_means_its_session(served: Residence) -> None:
    """Where a session is wanted, the id of a message or of a part of it will do, as it does for the commands."""
    result = served.get("/v1/search?q=cache&mode=keyword&limit=1")[1]["results"][0]

    shown = [served.get(f"/v1/sessions/{quote(result[name])}/tree") for name in ("session", "uuid", "part")]

    assert [200] * 3 == [status for status, _ in shown]
    assert [result["session"]] * 3 == [answer["session"] for _, answer in shown]


def test_whole_thread(served: Residence) -> None:
    """A thread has all turns of the conversation, so that nothing is earlier or later."""
    uuid = served.get("/v1/search?q=cache&limit=1")[1]["results"][0]["uuid"]

    _, answer = served.get(f"/v1/threads/{uuid}")

    assert (0, 0) == (answer["earlier"], answer["later"])
    assert uuid in [entry["uuid"] for entry in answer["thread"]]


def test_sessions_in_pages(served: Residence, capsys: pytest.CaptureFixture[str]) -> None:
    """Pages of sessions make up what the command lists."""
    listed = printed(served, capsys, ["sessions", "project:teashop", "--limit", "1000"])["sessions"]

    pages = [served.get(f"/v1/sessions?project=teashop&limit=3&offset={begin}")[1] for begin in range(0, 12, 3)]

    assert listed == [session for page in pages for session in page["sessions"]]
    assert {len(listed)} == {page["total"] for page in pages}


def test_status_is_that_of_the_command(served: Residence, capsys: pytest.CaptureFixture[str]) -> None:
    """Status over HTTP and on the command line are the same; the command also says who serves."""
    said = printed(served, capsys, ["status"])

    _, answer = served.get("/v1/status")

    # What SQLite keeps beside the catalog while it is open comes and goes.
    del said["index_bytes"], answer["index_bytes"]
    assert served.processes[0].pid == said.pop("resident")["pid"]
    assert said == answer


@pytest.mark.parametrize(
    ("address", "status", "hint"),
    [
        ("/v1/search", 400, "give words"),
        ("/v1/search?q=a&limti=3", 400, "did you mean limit?"),
        ("/v1/search?q=a&limit=0", 400, "from 1 to 1000"),
        ("/v1/search?q=a&limit=many", 400, "from 1 to 1000"),
        ("/v1/search?q=a&limit=1&limit=2", 400, "once"),
        ("/v1/search?q=a&mode=psychic", 400, "hybrid"),
        ("/v1/search?q=a&full=perhaps", 400, "full=true"),
        ("/v1/search?q=a&after=thursdayish", 400, ""),
        ("/v1/search?q=a&kind=poem", 400, ""),
        ("/v1/search?q=a&facets=colour", 400, ""),
        ("/v1/context?q=a&max_tokens=100&exclude_session=", 400, ""),
        ("/v1/context?q=cache&max_tokens=20", 400, "give max_tokens="),
        ("/v1/facets?q=a", 400, "facets="),
        ("/v1/messages/ffffffffffff", 404, "/v1/search"),
        ("/v1/messages/%20", 400, ""),
        ("/v1/threads/ffffffffffff", 404, "/v1/search"),
        ("/v1/sessions/ffffffffffff", 404, "/v1/sessions"),
        ("/v1/sessions/ffffffffffff/tree", 404, "/v1/sessions"),
        ("/v1/stats?by=mood", 400, "day"),
        ("/v1/nothing", 404, "/v1/openapi.json"),
    ],
)
def test_what_makes_no_sense_is_said(served: Residence, address: str, status: int, hint: str) -> None:
    """Bad parameters are errors with what to do, and what is not there is not found."""
    got, answer = served.get(address)

    assert status == got, answer
    assert hint in answer["error"]["hint"]


def test_everything_is_described(tmp_path: Path) -> None:
    """The description has every address that is answered, and no other, but for the page and for MCP."""
    service = Service(tmp_path, (), Server.__new__(Server))
    routes = [route for route in application(service).routes if isinstance(route, Route)]

    answered = {route.path: route.methods for route in routes if route.path.startswith("/v1/")}
    described = {path: {method.upper() for method in methods} for path, methods in description()["paths"].items()}

    assert described == {path: (methods or set()) - {"HEAD"} for path, methods in answered.items()}


@pytest.mark.parametrize(
    "address", ["/v1/health", "/v1/status", "/v1/facets?q=the&facets=kind", *(address for _, address in EQUALS)]
)
def test_answers_are_as_described(served: Residence, address: str) -> None:
    """What is answered fits the schema that the description has for it."""
    described = served.get("/v1/openapi.json")[1]

    _, answer = served.get(address)

    path = address.partition("?")[0]
    for session in (*SESSIONS, SESSIONS[1][:6]):
        path = path.replace(session, "{id}")
    content = described["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    Draft202012Validator({**content["schema"], "components": described["components"]}).validate(answer)


def test_errors_are_as_described(served: Residence) -> None:
    """Errors fit their schema, too."""
    components = description()["components"]

    replies = [served.send(request(path)) for path in ("/v1/search", "/v1/messages/ffff", "/nowhere", "/v1/run")]

    for reply in replies:
        Draft202012Validator({"$ref": "#/components/schemas/Error", "components": components}).validate(reply.json)


def test_command_is_run(served: Residence, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that a client sends is run, and white space before its answer does no harm."""
    command = ["stats", "--json", "--index", str(served.index)]
    asked = {
        "version": description()["info"]["version"],
        "index": str(served.index),
        "arguments": command,
        "environment": {"SEARCHKIT_MODEL": "fake"},
        "columns": None,
        "is_watching": False,
        "is_told": False,
        "is_ascii": False,
    }

    reply = served.send(request("/v1/run", "POST", json.dumps(asked).encode()))

    assert 200 == reply.status
    assert printed(served, capsys, ["stats"]) == json.loads(reply.json["printed"][0][1])


def test_no_command(served: Residence) -> None:
    """What is no command is refused."""
    assert 400 == served.send(request("/v1/run", "POST", b"{}")).status
