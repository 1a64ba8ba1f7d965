"""Every output of everything, over a history with a secret in every field: none leaves, and all are masked."""

import json
import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from searchkit import Engine
from searchkit.errors import SearchkitError
from searchkit.mcp.server import MASKED, TOOLS
from searchkit.server.app import HAS_MASKS, answered, refused
from searchkit.server.routes import ENDPOINTS
from searchkit.text.secrets import MARK, mask, revealed
from searchkit.web.conversation_api import PAGE_ENDPOINTS
from searchkit.web.endpoints import Endpoint, Unread, parse
from tests.cli.test_every_output import CHANGING, calls, conversed, requests
from tests.support import hostile_history
from tests.support.hostile_history import FIELDS, PROMPT, REOPENED, SESSION, UNTOLD, Hostile, marker, write
from tests.support.secret_cases import MOST_LEFT, Case, cases
from tests.support.shells import SHELLS
from tests.support.walking import IDENTIFIERS, Terminal, commands, completed, typed

# Ids are what commands are given, and stay as they are.
IDS = frozenset({"uuid", "agent", "forked", "indexed", "call"})
# One secret for each field, each of another form.
_FORMS = [
    case
    for case in cases(7)
    if "\n" not in case.text and "%" not in case.text and "\\" not in case.text and case.text.isascii()
]
SECRETS: dict[str, Case] = dict(zip(FIELDS, random.Random(8).sample(_FORMS, len(FIELDS)), strict=True))


# The fields that the history has.
PLANTED: set[str] = set()


def planted(name: str) -> str:
    """Return what stands in a field: a text with a secret in it."""
    return f"lantern {marker(name)} " + ("an id" if name in IDS else SECRETS[name].text)


def plant(name: str) -> str:
    """Return what stands in a field of the history, and note that it has the field."""
    PLANTED.add(name)
    return planted(name)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    """The history, and the index of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hostile_history, "evil", plant)
        yield write(tmp_path_factory.mktemp("secrets"))


@pytest.fixture
def place(history: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to be in, and the settings of somebody who is no agent."""
    for name in ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_SANDBOX", "SEARCHKIT_NO_VECTORS"):
        monkeypatch.delenv(name, raising=False)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\n")
    (programs / "claude").chmod(0o755)
    for name, value in {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": tmp_path,
        "XDG_DATA_HOME": tmp_path / "data",
        "CLAUDE_CONFIG_DIR": tmp_path / "configuration",
        "SEARCHKIT_ROOTS": history.root,
        "SEARCHKIT_INDEX": history.index,
        "SEARCHKIT_MODEL": "fake",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(text: str) -> list[str]:
    """Name the fields whose secrets a text tells, but for what Claude Code makes of a path that it calls a file by."""
    text = text.replace(re.sub(r"[^A-Za-z0-9]", "-", f"/src/{planted('cwd')}"), "")
    return [
        name
        for name, case in SECRETS.items()
        if name not in IDS
        and any(case.secret[at : at + MOST_LEFT] in text for at in range(max(1, len(case.secret) - MOST_LEFT + 1)))
    ]


def test_every_field_has_a_secret() -> None:
    """What is planted would be seen, and is masked where it stands."""
    for name in set(FIELDS) - IDS:
        assert name in told(planted(name))
        assert [] == told(mask(planted(name)))


@pytest.mark.parametrize("name", commands())
def test_no_command_tells_a_secret(history: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whatever a command is asked with, secrets are masked in what it prints, writes and logs."""
    if name in CHANGING:
        shutil.copytree(history.index, place / "index")
        history = Hostile(history.root, place / "index", history.directory)
        monkeypatch.setenv("SEARCHKIT_INDEX", str(place / "index"))
    terminal = Terminal(history, place, False, monkeypatch)
    for way in typed(name):
        if Terminal.is_outside(way.words) or "--reveal" in way.words:
            continue
        answer = terminal.run(way.words)

        assert [] == told(answer.out + answer.err), (way.words, answer.out[:2_000], answer.err[:2_000])
        assert "Traceback" not in answer.err


def test_every_secret_is_masked_somewhere(history: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The history is full of secrets where it is read: around each field that is shown there is a mask."""
    terminal = Terminal(history, place, False, monkeypatch)
    ways: list[tuple[str, ...]] = [("show", one, "--full", "--agents", "--json") for one in IDENTIFIERS[:5]]
    ways += [("search", marker(name), "--group", "none", "--full", "--json") for name in FIELDS]
    ways += [("sessions", "--json"), ("stats", "--json", "--by", "file"), ("doctor", "--full"), ("resume", SESSION)]
    ways += [("tree", SESSION, "--json"), ("stats", "--json")]
    out = "".join(terminal.run(words).out for words in ways)

    assert [] == told(out)
    shown = {name for name in FIELDS if re.search(rf"{marker(name)}.{{1,200}}\[masked: ", out)}
    assert PLANTED - shown <= IDS | UNTOLD
    assert len(shown) > len(FIELDS) / 2


@pytest.mark.parametrize("form", [(), ("--json",), ("--markdown",), ("--html",)], ids=lambda form: "".join(form))
def test_it_is_said_once_that_secrets_are_masked(
    history: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    """Who sees masks is told, in one line beside the result, how to see what is behind them."""
    answer = Terminal(history, place, False, monkeypatch).run(["show", SESSION, "--full", *form])

    assert MARK in answer.out
    assert 1 == answer.err.count("--reveal")


@pytest.mark.parametrize("words", [["search", "zztextzz", "--full", "--json"], ["show", PROMPT, "--full"]])
def test_owner_may_see_secrets(
    history: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """With --reveal nothing is masked, unless an agent runs the command."""
    terminal = Terminal(history, place, False, monkeypatch)

    shown = terminal.run([*words, "--reveal"])

    assert told(shown.out)
    assert MARK not in shown.out
    assert not told(terminal.run(words).out)
    monkeypatch.setenv("CLAUDECODE", "1")
    refused = terminal.run([*words, "--reveal"])
    assert (2, []) == (refused.status, told(refused.out + refused.err))


def test_secret_that_is_searched_for_is_found(history: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret can be looked for; what is shown of where it is has a mask in its place, and marks that."""
    secret = next(case for name, case in SECRETS.items() if name == "prompt")
    terminal = Terminal(history, place, False, monkeypatch)

    answer = terminal.run(["search", f'"{secret.secret}"', "--json"])

    (best, *_) = results = answer.json["results"]
    assert MARK in best["snippet"]
    assert [] == told(json.dumps(results))


@pytest.mark.parametrize("shell", SHELLS)
def test_no_shell_is_offered_a_secret(
    history: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    """What a shell completes tells no secret, neither as a value nor as what is said of it."""
    terminal = Terminal(history, place, False, monkeypatch)
    monkeypatch.setenv("_SEARCHKIT_COMPLETE", f"{shell}_complete")
    for words in (words for name in ("search", "show") for words in completed(name)):
        line = " ".join(("searchkit", *words))
        monkeypatch.setenv("COMP_WORDS", f"{line} " if shell == "fish" else line)
        monkeypatch.setenv("COMP_CWORD", "" if shell == "fish" else str(len(words) + 1))

        assert [] == told(terminal.run([]).out), words


@pytest.mark.parametrize("address", [*ENDPOINTS, *PAGE_ENDPOINTS], ids=lambda address: address.path)
def test_no_address_tells_a_secret(history: Hostile, place: Path, address: Endpoint) -> None:
    """What the page and programs are sent has masks, and a header that says so, unless it is to be revealed."""
    with Engine(history.index, [history.root], "fake") as engine:
        for pairs in requests(address):
            if ("reveal", "true") in pairs:
                continue
            for id in IDENTIFIERS if "{id}" in address.path else ("",):
                try:
                    found = address.answer(engine, parse(address.parameters, pairs), id)
                    response = answered(found.read() if isinstance(found, Unread) else found)
                except SearchkitError as error:
                    response = refused(error)
                text = bytes(response.body).decode()

                assert [] == told(text), (address.path, pairs, id, text[:2_000])
                assert (MARK in text) == (HAS_MASKS in response.headers)
                json.loads(text)


def test_address_reveals_what_it_is_asked_to(history: Hostile, place: Path) -> None:
    """A program of the owner is sent secrets where it asks for them; a pack for agents never has any."""
    known = {address.path: address for address in ENDPOINTS}
    with Engine(history.index, [history.root], "fake") as engine, revealed():
        address = known["/v1/messages/{id}"]
        given = parse(address.parameters, [("full", "true"), ("reveal", "true")])

        assert told(bytes(answered(address.answer(engine, given, PROMPT)).body).decode())
        address = known["/v1/context"]
        with pytest.raises(SearchkitError, match="agents"):
            address.answer(engine, parse(address.parameters, [("q", "lantern"), ("reveal", "true")]), "")


@pytest.mark.parametrize("name", [*TOOLS, "resources"])
def test_no_agent_is_told_a_secret(history: Hostile, place: Path, name: str) -> None:
    """Neither a tool nor a resource tells one, in text or in fields; a mask is explained once."""
    asked: list[tuple[str, dict[str, Any]]]
    if name in TOOLS:
        asked = [("tools/call", {"name": name, "arguments": given}) for given in calls(name)]
    else:
        (listed,) = conversed(history, {}, [("resources/list", {})])
        assert [] == told(json.dumps(listed))
        asked = [("resources/read", {"uri": one["uri"]}) for one in listed["result"]["resources"]]
    for reply in conversed(history, {}, asked):
        text = json.dumps(reply, ensure_ascii=False)

        assert [] == told(text), text[:3_000]
        for content in reply.get("result", {}).get("content", []):
            assert content["text"].count(MASKED) == int(MARK in content["text"]), content["text"][:2_000]


def test_session_in_a_secret_directory_is_reopened(
    history: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path is masked where it is printed, and is what it is where it is used."""
    assert 0 == Terminal(history, place, False, monkeypatch).run(["resume", REOPENED, "--run"]).status
