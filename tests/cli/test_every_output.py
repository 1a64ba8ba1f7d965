"""Issue 15: every output of every command, over a history in which everything is hostile."""

import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from searchkit import Engine, __version__
from searchkit.__main__ import COMMANDS as FORWARDED
from searchkit.errors import SearchkitError
from searchkit.mcp.bridge import Bridge
from searchkit.mcp.server import TOOLS
from searchkit.server.app import answered, refused
from searchkit.server.routes import ENDPOINTS
from searchkit.server.run_command import run as run_for_client
from searchkit.web.conversation_api import PAGE_ENDPOINTS
from searchkit.web.endpoints import Endpoint, Parameter, Unread, parameters, parse
from tests.support.hostile_history import (
    EVIL,
    FIELDS,
    HIDING,
    RAN,
    REOPENED,
    SESSION,
    UNTOLD,
    Hostile,
    evil,
    harm,
    marker,
    write,
)
from tests.support.shells import SHELLS
from tests.support.walking import IDENTIFIERS, VALUES, Terminal, Typed, commands, completed, missing, typed

# Colours that `click.style` is told to write somewhere; a text could bring others, such as 8, which hides.
COLOURS = re.compile("\x1b\\[(?:0|1|2|22|3[0-7])m")
# How the bar that shows progress goes back to the beginning of its line.
BAR = re.compile("\r\x1b\\[K")
CHANGING = ("index", "prune")
# A word of any shell, or an option.
WORD = re.compile(r"(?:--)?[\w./@+][\w./@+:=%#-]*")
TAGS = frozenset(
    "html head meta title style body main h1 h2 p code article header a span time div pre details summary".split()
)


def _words(name: str) -> list[tuple[str, ...]]:
    return [way.words for way in typed(name)]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    """The history, and the index of it."""
    return write(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def place(hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to be in, with programs that stand for Claude Code and for what opens a browser."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("claude", "xdg-open"):
        (programs / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path / name}"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "configuration"))
    monkeypatch.setenv("CLAUDE_SESSION_ID", evil("session").replace("\0", ""))
    monkeypatch.setenv("SEARCHKIT_ROOTS", str(hostile.root))
    monkeypatch.setenv("SEARCHKIT_INDEX", str(hostile.index))
    monkeypatch.setenv("SEARCHKIT_MODEL", "fake")
    monkeypatch.delenv("SEARCHKIT_NO_VECTORS", raising=False)
    # Nothing of it is to be in a line that is broken in the middle of a name.
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_harmless(text: str, about: object) -> None:
    """Fail where a text holds anything but text."""
    assert [] == harm(text), about


def assert_nothing_ran(hostile: Hostile, place: Path) -> None:
    """Fail where a command of the history was run."""
    assert not [one for one in (place, Path.cwd(), hostile.directory, hostile.root) if (one / RAN).exists()]


def values(text: str) -> Iterator[Any]:
    """Yield the JSON values that a text is made of."""
    decoder, rest = json.JSONDecoder(), text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        yield value
        rest = rest[end:].strip()


def assert_pasteable(value: Any) -> None:
    """Fail where a command that reopens a session could be anything else in a shell."""
    if isinstance(value, dict):
        if isinstance(line := value.get("resume"), str):
            assert_harmless(line, line)
            *directory, program, option, id = shlex.split(line)
            assert ("claude", "--resume") == (program, option)
            assert re.fullmatch(r"[0-9a-f-]{36}", id)
            assert not directory or ["cd", "&&"] == [directory[0], directory[2]]
        for one in value.values():
            assert_pasteable(one)
    elif isinstance(value, list):
        for one in value:
            assert_pasteable(one)


class Page(HTMLParser):
    """Gathers the elements and attributes of a page that are not ours."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at an element."""
        self.foreign += [tag] if tag not in TAGS else []
        self.foreign += [name for name, _ in attrs if name.startswith("on")]


@pytest.mark.parametrize("name", commands())
def test_every_option_is_walked(name: str) -> None:
    """A command or an option that nobody says how to walk fails here."""
    assert set() == missing(name)


def test_what_is_walked_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """So many commands, options and arguments, and ways to type them; a run in one process shows the numbers."""
    known = commands()
    ways = {name: typed(name) for name in known}
    counts = {
        "commands": len(known),
        "options and arguments": sum(len(command.params) for command in known.values()),
        "ways to type them": sum(map(len, ways.values())),
        "outputs (two for each way, in a pipe and before a terminal)": 4 * sum(map(len, ways.values())),
        "outputs through the resident process": 2 * sum(len(ways[name]) for name in FORWARDED),
        "options and arguments that three shells complete": sum(len(completed(name)) for name in known) * len(SHELLS),
        "addresses": len((*ENDPOINTS, *PAGE_ENDPOINTS)),
        "requests": sum(len(requests(address)) for address in (*ENDPOINTS, *PAGE_ENDPOINTS)),
        "tools of agents": len(TOOLS),
        "calls of tools": sum(len(calls(name)) for name in TOOLS),
        "hostile fields": len(FIELDS),
    }
    with capsys.disabled():
        sys.stdout.write("".join(f"\n{number:>7,} {name}" for name, number in counts.items()) + "\n")

    assert counts["ways to type them"] > counts["options and arguments"] > counts["commands"] > 0


@pytest.mark.parametrize("is_seen", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize("name", commands())
def test_command_prints_text_and_nothing_else(
    hostile: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_seen: bool
) -> None:
    """Whatever a command is asked with, nothing of a transcript commands the terminal, hides, or runs."""
    walk(hostile, place, monkeypatch, name, is_seen, [way for way in typed(name) if not Terminal.is_outside(way.words)])


@pytest.mark.slow
@pytest.mark.parametrize("is_seen", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize("name", [name for name in commands() if any(map(Terminal.is_outside, _words(name)))])
def test_command_that_stays_prints_text_and_nothing_else(
    hostile: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_seen: bool
) -> None:
    """So does a command that follows changes, starts a process, or becomes another program."""
    walk(hostile, place, monkeypatch, name, is_seen, [way for way in typed(name) if Terminal.is_outside(way.words)])


def walk(
    hostile: Hostile, place: Path, patch: pytest.MonkeyPatch, name: str, is_seen: bool, ways: Iterable[Typed]
) -> None:
    """Type commands, and fail at the first that prints more than text."""
    if name in CHANGING:
        shutil.copytree(hostile.index, place / "index")
        patch.setenv("SEARCHKIT_INDEX", str(place / "index"))
        hostile = Hostile(hostile.root, place / "index", hostile.directory)
    terminal = Terminal(hostile, place, is_seen, patch)
    try:
        for way in ways:
            answer = terminal.run(way.words)

            about = (way.words, answer.out[:2_000], answer.err[:2_000])
            assert answer.status in (0, 1, 2, 130), about
            assert "Traceback" not in answer.err, about
            assert "fault of searchkit" not in answer.err, about
            assert_harmless(COLOURS.sub("", answer.out), about)
            assert_harmless(COLOURS.sub("", BAR.sub("", answer.err)), about)
            if "--json" in way.of:
                for value in values(answer.out):
                    assert_pasteable(value)
            if "--html" in way.of and "--json" not in way.of:
                assert [] == Page(answer.out).foreign, about
    finally:
        if name == "serve":
            terminal.run(["serve", "--stop"])
    assert_nothing_ran(hostile, place)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", commands())
def test_shell_is_offered_words_and_nothing_else(
    hostile: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, shell: str
) -> None:
    """Of every option and argument a shell is offered what it can take for a word, with a title beside it at most."""
    terminal = Terminal(hostile, place, False, monkeypatch)
    monkeypatch.setenv("_SEARCHKIT_COMPLETE", f"{shell}_complete")
    for words in completed(name):
        typed = " ".join(("searchkit", *words))
        monkeypatch.setenv("COMP_WORDS", f"{typed} " if shell == "fish" else typed)
        monkeypatch.setenv("COMP_CWORD", "" if shell == "fish" else str(len(words) + 1))

        answer = terminal.run([])

        assert (0, "") == (answer.status, answer.err)
        assert_harmless(answer.out, (words, answer.out))
        for value in _offered(answer.out, shell):
            assert WORD.fullmatch(value), (words, value)


def _offered(out: str, shell: str) -> list[str]:
    """Return the values that a script of click finds in what it is told."""
    lines = out.splitlines()
    if shell == "zsh":
        return [value for kind, value in zip(lines[::3], lines[1::3], strict=False) if kind == "plain"]
    return [line[len("plain,") :].partition("\t")[0] for line in lines if line.startswith("plain,")]


@pytest.mark.parametrize("name", sorted(FORWARDED))
def test_client_is_sent_text_and_nothing_else(hostile: Hostile, place: Path, name: str) -> None:
    """What the resident process prints for the terminal of a client is as harmless."""
    with Engine(hostile.index, [hostile.root], "fake") as engine:
        for way in typed(name):
            asked = {
                "version": __version__,
                "index": str(hostile.index),
                "arguments": [word.replace("\0", "") for word in way.words],
                "environment": dict(os.environ),
                "columns": 400,
                "is_watching": True,
                "is_told": True,
                "is_ascii": False,
            }
            said = msgspec.json.decode(run_for_client(engine, msgspec.json.encode(asked)))

            for _, text in said.get("printed", ()):
                assert_harmless(COLOURS.sub("", text), way.words)

    assert_nothing_ran(hostile, place)


def test_every_field_is_told_somewhere(hostile: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The history is hostile where it is read: each field, but for those that nobody is told, comes out."""
    terminal = Terminal(hostile, place, False, monkeypatch)
    ways: list[tuple[str, ...]] = [("show", one, "--full", "--agents", "--json") for one in IDENTIFIERS[:5]]
    ways += [("show", one, "--full", "--agents") for one in IDENTIFIERS[:2]]
    ways += [("search", f"lantern {marker(name)}", "--group", "none", "--full", "--json") for name in FIELDS]
    ways += [("sessions", "--json"), ("stats", "--json"), ("stats", "--by", "file", "--json"), ("doctor", "--full")]
    ways += [("resume", SESSION), ("tree", SESSION, "--json")]
    told = "".join(_told(terminal.run(words).out) for words in ways)

    assert sorted(UNTOLD) == sorted(name for name in FIELDS if marker(name) not in told)


def _told(out: str) -> str:
    """Return what a command printed, without the question that it was asked."""
    return json.dumps(json.loads(out).get("results", out)) if out.startswith("{") else out


def test_program_is_told_the_exact_text(hostile: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON escapes what is hidden, and read back it is what the transcript says."""
    terminal = Terminal(hostile, place, True, monkeypatch)

    answer = terminal.run(["sessions", "--json", "--session", SESSION])

    (session,) = answer.json["sessions"]
    assert (evil("custom"), evil("branch")) == (session["title"], session["branch"])
    assert "\\udb40\\udc41" in answer.out
    assert "\\u009b" in answer.out


@pytest.mark.parametrize("is_seen", [False, True], ids=["pipe", "terminal"])
def test_session_is_reopened_in_its_directory_and_nothing_else(
    hostile: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, is_seen: bool
) -> None:
    """A directory may be called anything that can be typed; what Claude Code is given is the id."""
    terminal = Terminal(hostile, place, is_seen, monkeypatch)

    answer = terminal.run(["resume", REOPENED, "--run"])

    assert 0 == answer.status, answer
    assert ["--resume", REOPENED] == (place / "claude").read_text().split()
    assert_nothing_ran(hostile, place)


def requests(address: Endpoint) -> list[list[tuple[str, str]]]:
    """Return every way to ask an address: with each of its parameters in turn."""
    taken = parameters(address.parameters)
    required = [(one.name, "0") for one in taken if one.is_required]
    found = [required, *([*required, (one.name, value)] for one in taken for value in _given(one))]
    words = [("q", "lantern")] if any(one.name == "q" for one in taken) else []
    asked = [words + [pair for pair in one if pair[0] != "q"] for one in found]
    return [*asked, *([[*required, ("q", EVIL)]] if words else [])]


def _given(parameter: Parameter) -> list[str]:
    if parameter.choices:
        return [*parameter.choices, EVIL]
    if parameter.kind == "boolean":
        return ["true", "false", EVIL]
    if parameter.kind == "integer":
        return [str(max(1, parameter.least)), EVIL]
    return [*VALUES.get(f"--{parameter.name.replace('_', '-')}", ("lantern",)), EVIL]


@pytest.mark.parametrize("address", [*ENDPOINTS, *PAGE_ENDPOINTS], ids=lambda address: address.path)
def test_address_answers_with_text_and_nothing_else(hostile: Hostile, place: Path, address: Endpoint) -> None:
    """What the page and programs are sent over HTTP can be printed on a terminal as it is."""
    with Engine(hostile.index, [hostile.root], "fake") as engine:
        for pairs in requests(address):
            for id in IDENTIFIERS if "{id}" in address.path else ("",):
                try:
                    found = address.answer(engine, parse(address.parameters, pairs), id)
                    body = answered(found.read() if isinstance(found, Unread) else found).body
                except SearchkitError as error:
                    body = refused(error).body
                text = bytes(body).decode()

                assert_harmless(text, (address.path, pairs, id))
                assert_pasteable(json.loads(text))


def calls(name: str) -> list[dict[str, object]]:
    """Return every way to call a tool: with each of its arguments in turn."""
    properties = TOOLS[name].input_schema["properties"]
    required: dict[str, object] = dict.fromkeys(TOOLS[name].input_schema.get("required", ()), "lantern")
    found = [required]
    for one, schema in properties.items():
        kind = schema.get("type")
        given: list[object] = [EVIL, evil("nothing")[:90]]
        given += [True] if kind == "boolean" else [1] if kind == "integer" else [["prompt"]] if kind == "array" else []
        found += [{**required, one: value} for value in given]
    identified: list[dict[str, object]] = [{"id": id} for id in IDENTIFIERS] if "id" in properties else []
    touched: list[dict[str, object]] = [{"path": marker("path")}] if "path" in properties else []
    failed: list[dict[str, object]] = (
        [{"error": f"KeyError: lantern {marker('error')}"}] if "error" in properties else []
    )
    return [*found, *identified, *touched, *failed]


@pytest.mark.parametrize("name", [*TOOLS, "resources"])
def test_agent_is_told_nothing_that_is_hidden(
    hostile: Hostile, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A model would read what no person sees: no answer holds it, neither as text nor in a field, ids included."""
    # Whoever asks is told apart by what was written to just now, by names that the transcripts give.
    caller = {"session": "", "cwd": f"/src/{evil('cwd')}0"}
    asked = [("tools/call", {"name": name, "arguments": given}) for given in calls(name)] if name in TOOLS else []
    asked = asked or [("resources/list", {}), ("resources/templates/list", {})]
    replies = conversed(hostile, caller, asked)
    if name not in TOOLS:
        listed = [one["uri"] for one in replies[0]["result"]["resources"]]
        replies += conversed(hostile, caller, [("resources/read", {"uri": uri}) for uri in (*listed, EVIL)])
        assert all(re.fullmatch(r"searchkit://session/[\w.~%-]+", uri) for uri in listed)
        assert len(listed) == sum("result" in one for one in replies[2:])

    for reply in replies:
        for text in _texts(reply):
            assert_harmless(text, reply)
    assert sum("result" in reply for reply in replies) > 1
    assert_nothing_ran(hostile, place)


def conversed(
    hostile: Hostile, caller: dict[str, str], asked: list[tuple[str, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Ask the server of agents, and return its answers in order."""
    out = io.BytesIO()
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": given}).encode()
        for number, (method, given) in enumerate(asked)
    ]
    bridge = Bridge(str(hostile.index), caller, False, out)
    bridge.run(io.BytesIO(b"\n".join(lines) + b"\n"))
    bridge.close()
    return sorted((json.loads(line) for line in out.getvalue().splitlines()), key=lambda one: int(one["id"]))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for one in pair for text in _texts(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in _texts(one))


def test_history_is_hostile() -> None:
    """What every field holds would be seen by the walk."""
    assert set(harm(evil("x"))) > {"U+001B", "U+009B", "U+202E", "U+200B", "U+E0041", "U+FE00", "U+3164"}
    assert HIDING in EVIL
