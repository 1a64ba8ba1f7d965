"""Issue 15: names in transcripts, and the keys Tab and Enter, in bash, zsh and fish as they are."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.conversation.resume import command
from searchkit.render.wording import Asked
from searchkit.types import Heading
from tests.support.shells import SHELLS, TAB, Shell, has
from tests.support.transcript import Home

RAN = "ran"
# Each is the name of a branch and, as far as it can be, the id of a session, behind a beginning of its own.
PAYLOADS = [
    f"$(touch {RAN})",
    f"`touch {RAN}`",
    f";touch {RAN};",
    f"\ntouch {RAN}\n",
    f"&touch {RAN}&",
    f"|touch {RAN}",
    f"(touch {RAN})",
    f"<(touch {RAN})",
    f">{RAN}",
    f"';touch {RAN};'",
    f'";touch {RAN};"',
    f"\\';touch {RAN};'",
    f"'a'$(touch {RAN})'",
    f"\x1b]52;c;eA==\x07;touch {RAN}",
    f"\u200b\U000e0041\u202e;touch {RAN}",
    "*",
    "!!",
    "{a,b}",
    "$HOME",
    "\\",
    ",x",
    "\x03",
    "\r",
]
# Nothing stands before these, so each is the only value of a filter.
LEADING = {"model": "=ls", "tool": "~root", "agent": "--dry-run"}
FINE = "fine/#12-1.2_x@y+z"
BLANK = "two words"
SESSION = "99999999-1111-4111-8111-111111111111"
OTHER = "99998888-1111-4111-8111-111111111111"
# What is said beside an id, where a shell shows it.
TITLE = f"zztitle %F{{red}} $(touch {RAN}) `touch {RAN}`\n;touch {RAN}\t\x1b]52;c;eA==\x07\x1b[8m:,\\\u200b_"
STRANGE = ("--run", "$(touch ran)", "it's", "a\\", "\\';touch ran;'", "=ls", "~", "!!", "*", "-x", "a b", "#", "{a,b}")

Start = Callable[[str], Shell]


def _marked(shell: str) -> object:
    """Run bash everywhere, and other shells where the script for slow tests has installed them."""
    reason = f"there is no {shell} here; scripts/test-slow installs it where it may"
    marks = [] if shell == "bash" else [pytest.mark.slow, pytest.mark.skipif(not has(shell), reason=reason)]
    return pytest.param(shell, marks=marks)


every_shell = pytest.mark.parametrize("name", [_marked(shell) for shell in SHELLS])


def _beginning(number: int) -> str:
    return f"b{number:02}x"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of sessions whose branches and ids are hostile."""
    place = tmp_path_factory.mktemp("shells")
    home = Home(place / "claude")
    for number, payload in enumerate(PAYLOADS):
        name = _beginning(number) + payload
        told = home.session(f"0000{number:04}-1111-4111-8111-111111111111", branch=name, model=LEADING["model"])
        told.session = name
        told.prompt("hello")
        told.text("hello to you, too")
    fine = home.session(SESSION, cwd=f"/src/{BLANK}", branch=FINE, model=LEADING["model"])
    fine.call(LEADING["tool"], {"x": "y"})
    home.agent(SESSION, LEADING["agent"], cwd=f"/src/{BLANK}", model=LEADING["model"]).prompt("hello")
    home.session(OTHER, cwd=f"/src/{BLANK}", branch=FINE, model=LEADING["model"]).prompt("hello")
    for id in (SESSION, OTHER):
        fine.line({"type": "custom-title", "customTitle": TITLE, "sessionId": id})
    with Engine(place / "index", [home.root]) as engine:
        engine.index(with_vectors=False)
    return place / "index"


@pytest.fixture
def start(index: Path, tmp_path: Path) -> Iterator[Start]:
    """Give a function that starts a shell in a directory of its own."""
    started: list[Shell] = []

    def start(name: str) -> Shell:
        started.append(Shell(name, tmp_path, {"SEARCHKIT_INDEX": str(index)}))
        return started[-1]

    yield start
    for shell in started:
        shell.close()


def _arguments(run: list[str]) -> list[str]:
    return run[2:]


@every_shell
def test_values_arrive_as_they_are(start: Start, tmp_path: Path, name: str) -> None:
    """What is offered is there after Tab and Enter; blanks only where the shell quotes what it inserts."""
    shell = start(name)

    branch = shell.press(f"searchkit sessions --branch fin{TAB}")
    project = shell.press(f"searchkit sessions --project tw{TAB}")
    session = shell.press(f"searchkit resume 99999{TAB}")

    assert ["sessions", "--branch", FINE] == _arguments(branch)
    assert ["sessions", "--project", "tw" if name == "bash" else BLANK] == _arguments(project)
    assert ["resume", SESSION] == _arguments(session)


@every_shell
def test_no_name_runs_a_command(start: Start, tmp_path: Path, name: str) -> None:
    """Whatever a branch, a session, a tool, a model or an agent is called, Tab and Enter run searchkit alone."""
    shell = start(name)

    for number in range(len(PAYLOADS)):
        for typed in (["sessions", "--branch"], ["resume"]):
            pressed = shell.press(f"searchkit {' '.join(typed)} {_beginning(number)}{TAB}")

            assert [*typed, _beginning(number)] == _arguments(pressed), (PAYLOADS[number], shell.said[-2_000:])
            assert not [*tmp_path.rglob(RAN)], PAYLOADS[number]
    for option in LEADING:
        pressed = shell.press(f"searchkit sessions --{option} {TAB}")

        assert ["sessions", f"--{option}"] == _arguments(pressed), LEADING[option]
    for hidden in ("\x1b]52;", "\U000e0041", "\u200b"):
        assert hidden not in shell.said


@every_shell
def test_title_beside_an_id_is_text(start: Start, tmp_path: Path, name: str) -> None:
    """Where several sessions begin so, zsh and fish list them with their titles, which do nothing."""
    shell = start(name)

    if name == "bash":
        pressed = shell.press(f"searchkit resume 9999{TAB}{TAB}", shows=SESSION)
    else:
        pressed = shell.press(f"searchkit resume 9999{TAB}", shows="zztitle")

    assert ["resume", "9999"] == _arguments(pressed)
    assert [] == [one for one in ("\x1b]52;", "\x1b[8m", "\u200b") if one in shell.said]
    assert not [*tmp_path.rglob(RAN)]


@every_shell
def test_pasted_command_is_what_it_says(start: Start, tmp_path: Path, name: str) -> None:
    """The lines that reopen a session, or show a message, are read by each shell as they were meant."""
    shell = start(name)
    directory = tmp_path / f"-it's $(touch {RAN}) `touch {RAN}` !! \\';touch {RAN};' * ~ \\"
    directory.mkdir()
    session = _session(str(directory))

    reopened = shell.press(str(command(session)))
    asked = [shell.press(str(Asked(index=one).command("show", one))) for one in STRANGE]

    assert ["claude", str(directory), "--resume", SESSION] == reopened
    assert [["show", "--index", one, *(["--"] if one.startswith("-") else []), one] for one in STRANGE] == [
        _arguments(one) for one in asked
    ]
    assert not [*tmp_path.rglob(RAN)]


def _session(directory: str) -> Heading:
    return Heading(id=SESSION, project=directory, title=None, branch=None, ended=None, is_gone=False)
