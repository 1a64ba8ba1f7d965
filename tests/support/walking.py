"""Every way to run every command: what is typed comes from click itself, so that no new option can be forgotten."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import click
import orjson
import pytest

from searchkit.cli import main
from tests.support.hostile_history import EVIL, FIXING, IDS, PROMPT, REOPENED, SESSION, Hostile, evil, marker
from tests.support.running import Answer

# Far more than anything takes, also on a busy machine.
SECONDS_FOR_ANYTHING = 60.0
# Options that stay until they are interrupted, and what is printed before that.
STAYING = {"--watch": (b"Watching",), "--foreground": (b"serves", b'"pid"')}
# One that becomes another program, and what starts processes, which outlive it.
OUTSIDE = {*STAYING, "--run", "serve"}
# Whatever is no number and no choice: what it is given. `{}` is a file that the test writes.
VALUES: Mapping[str, tuple[str, ...]] = {
    "--index": ("{index}", evil("index")[:100].replace("\0", "")),
    "--root": ("{root}",),
    "--rerank": (f"./{evil('reranker')}".replace("\0", ""),),
    "--model": ("fake",),
    "--facets": (
        "project,session,title,branch,model,tool,kind,role,agent,agent-app,is,month,day,language,file",
        evil("facet"),
    ),
    "--queries": ("{questions}", evil("file")),
    "--output": ("{output}", f"{evil('nowhere')}/x"),
    "--exclude-session": (SESSION, IDS[0], evil("nobody")),
    "--session": (SESSION, IDS[-1], evil("nobody")),
    "--project": (marker("cwd"), evil("cwd"), evil("nothing")),
    "--agent": (marker("agent"), evil("nothing")),
    "--agent-app": ("claude,codex", evil("nothing")),
    "--branch": (marker("branch"), evil("branch"), evil("nothing")),
    "--tool": (marker("tool"), "Bash", evil("nothing")),
    "--kind": ("tool_call", evil("poem")),
    "--role": ("user", evil("nobody")),
    "--language": ("en", evil("nothing")),
    "--file": (marker("path"), evil("nothing")),
    "--title": (marker("ai"), evil("nothing")),
    "--is": ("error", evil("nothing")),
    "--after": ("2026-01-01", evil("when")),
    "--before": ("2026-12-31", "2020-01-01"),
    "--on": ("2026-03-01", evil("when")),
}
# A model is a filter for most commands, and what embeds for one.
OWN_VALUES = {("search", "--model"): (marker("model"), evil("nothing"))} | {
    (name, "--model"): (marker("model"), evil("nothing")) for name in ("context", "sessions", "stats")
}
IDENTIFIERS = (SESSION, FIXING, PROMPT, REOPENED, *IDS, evil("uuid")[:200], marker("ai"), evil("nobody"), "1")
# What commands are asked without any option; each with every option in turn.
ASKED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "completion": (("bash",), ("zsh",), ("fish",), (evil("shell"),)),
    "context": (("lantern",), (evil("nothing"), "xylophone")),
    "demo": ((),),
    "doctor": ((),),
    "eval": (("{questions}",), (evil("file"),)),
    "index": ((),),
    "install": (("claude",),),
    "keep": ((),),
    "mcp": ((),),
    "prune": (("--project", marker("cwd")), ()),
    "resume": tuple((id,) for id in IDENTIFIERS),
    "search": (("lantern",), ("lentern",), (evil("xylophone"), f"project:{evil('x')}"), (f"kind:{evil('poem')}",)),
    "serve": ((),),
    "sessions": ((), ("lantern",), (f"project:{evil('elsewhere')}", "branch:nowhere")),
    "show": tuple((id,) for id in IDENTIFIERS),
    "stats": ((), ("lantern",), ("project:elsewhere",)),
    "status": ((),),
    "tree": tuple((id,) for id in IDENTIFIERS),
    "uninstall": (("claude",),),
}
# Options without which a command only asks back.
ALSO = {("prune", "--yes"): ("--gone",), ("prune", "--dry-run"): ("--gone",)}


class Typed(NamedTuple):
    """A command as it is typed, and the options and arguments of click that it is for."""

    words: tuple[str, ...]
    of: frozenset[str]


def commands() -> dict[str, click.Command]:
    """Return every command that there is."""
    context = click.Context(main.cli)
    found = {name: main.cli.get_command(context, name) for name in main.cli.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def typed(name: str) -> list[Typed]:
    """Return every way to type a command: with each option in turn, and all of it for programs, too."""
    command = commands()[name]
    arguments = frozenset(one.human_readable_name for one in command.params if isinstance(one, click.Argument))
    plain = [Typed((name, *_after_dashes(asked)), arguments) for asked in ASKED[name]]
    for option in (one for one in command.params if isinstance(one, click.Option) and "--json" not in one.opts):
        long = option.opts[-1]
        # With the first of what it is asked, and conversations in all forms; what others do is seen without options.
        for asked in ASKED[name][: 3 if name == "show" else 1]:
            for value in _values(name, option):
                words = (name, *value, *ALSO.get((name, long), ()), *_after_dashes(asked))
                plain.append(Typed(words, arguments | {long}))
    json = [Typed((one.words[0], "--json", *one.words[1:]), one.of | {"--json"}) for one in plain]
    return [*plain, *json]


def completed(name: str) -> list[tuple[str, ...]]:
    """Return what is typed before each option or argument that a shell could be offered values of."""
    options = [one for one in commands()[name].params if isinstance(one, click.Option) and not one.is_flag]
    return [(name,), *((name, option.opts[-1]) for option in options)]


def missing(name: str) -> set[str]:
    """Name the options and arguments of a command that no way to type it is for."""
    walked = {one for way in typed(name) for one in way.of}
    known = {
        one.opts[-1] if isinstance(one, click.Option) else one.human_readable_name for one in commands()[name].params
    }
    return known - walked


def _values(name: str, option: click.Option) -> Iterator[tuple[str, ...]]:
    long = option.opts[-1]
    if option.is_flag:
        yield (long,)
    elif isinstance(option.type, click.Choice):
        yield from ((long, str(choice)) for choice in (*option.type.choices, evil("choice")))
    elif isinstance(option.type, click.IntRange):
        yield from ((long, number) for number in (str(max(1, option.type.min or 0)), "9", evil("number")))
    else:
        found = OWN_VALUES.get((name, long)) or VALUES.get(long)
        assert found, f"say in tests/walking.py what {name} {long} is given, so that its outputs are walked"
        yield from ((long, value) for value in found)


def _after_dashes(words: tuple[str, ...]) -> tuple[str, ...]:
    """Keep an id from being taken for an option."""
    return ("--", *words) if any(one in IDS for one in words) else words


class Terminal:
    """Runs commands in this process, before a real terminal or into files; what stays, or becomes another, outside."""

    def __init__(self, hostile: Hostile, directory: Path, is_seen: bool, patch: pytest.MonkeyPatch) -> None:
        self._is_seen, self._directory, self._patch = is_seen, directory, patch
        questions = directory / "questions.jsonl"
        asked = {"query": "lantern", "gold": [PROMPT, "nobody"], "type": evil("type"), "lang": evil("lang"), "id": EVIL}
        questions.write_bytes(orjson.dumps(asked) + b"\n")
        self.output = directory / "written"
        self._names = {
            "{index}": str(hostile.index),
            "{root}": str(hostile.root),
            "{questions}": str(questions),
            "{output}": str(self.output),
        }

    @staticmethod
    def is_outside(words: Iterable[str]) -> bool:
        """Say whether a command cannot run in this process."""
        return bool(OUTSIDE & set(words))

    def run(self, words: Iterable[str]) -> Answer:
        """Run a command, and return all that it printed; a file that it wrote counts as printed."""
        arguments = [self._names.get(word, word).replace("\0", "") for word in words]
        with Printed(self._is_seen) as out, Printed(self._is_seen) as err:
            if self.is_outside(arguments):
                status = self._run_outside(arguments, out, err)
            else:
                status = self._run_here(arguments, out, err)
        written = self.output.read_text() if self.output.exists() else ""
        self.output.unlink(missing_ok=True)
        return Answer(status, out.text + written, err.text)

    def _run_here(self, arguments: list[str], out: "Printed", err: "Printed") -> int:
        with self._patch.context() as patch, Path(os.devnull).open() as nothing:
            patch.setattr(sys, "argv", ["searchkit", *arguments])
            patch.setattr(sys, "stdin", nothing)
            patch.setattr(sys, "stdout", out.file)
            patch.setattr(sys, "stderr", err.file)
            with pytest.raises(SystemExit) as left:
                main.main()
            return int(left.value.code or 0)

    def _run_outside(self, arguments: list[str], out: "Printed", err: "Printed") -> int:
        command = [sys.executable, "-m", "searchkit.cli.main", *arguments]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out.file, stderr=err.file) as process:
            said = [text for option, texts in STAYING.items() if option in arguments for text in texts]
            ends_at = time.monotonic() + SECONDS_FOR_ANYTHING
            while process.poll() is None and said and not any(out.has(one) or err.has(one) for one in said):
                assert time.monotonic() < ends_at, f"{arguments} said nothing of what it does"
            if said and process.poll() is None:
                process.send_signal(signal.SIGINT)
            return process.wait(SECONDS_FOR_ANYTHING)


class Printed:
    """What is written to a file that is a terminal, or a pipe."""

    def __init__(self, is_terminal: bool) -> None:
        self._reading, writing = os.openpty() if is_terminal else os.pipe()
        if is_terminal:
            # Line ends as they are written.
            tty.setraw(writing)
        self.file = os.fdopen(writing, "w", encoding="utf-8")
        self._bytes = bytearray()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> "Printed":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.file.flush()
        self._is_over.set()
        self._thread.join()
        self.file.close()
        os.close(self._reading)

    @property
    def text(self) -> str:
        """All that was written."""
        return self._bytes.decode("utf-8", "surrogateescape")

    def has(self, text: bytes) -> bool:
        """Wait a moment, and say whether something was written."""
        self._is_over.wait(0.02)
        return text in self._bytes

    def _read(self) -> None:
        is_last = False
        while True:
            is_over = self._is_over.is_set()
            readable, _, _ = select.select([self._reading], [], [], 0 if is_over else 0.01)
            if readable:
                self._bytes += os.read(self._reading, 65_536)
            elif is_over:
                if is_last:
                    return
                is_last = True
