"""Issue 15: the gate, place by place, and that nothing goes around it."""

import ast
import json
import re
import shlex
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import click
import orjson
import pytest

from searchkit import Engine
from searchkit.mcp.caller import Caller, left_out
from searchkit.text import sanitize
from tests.cli.test_pager import on_terminal
from tests.support.hostile_history import EVIL, HIDING, harm
from tests.support.shells import SHELLS, has
from tests.support.transcript import Home

PACKAGE = Path(sanitize.__file__).parent.parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "sample" not in path.relative_to(PACKAGE).parts)
HIDDEN = re.compile(f"[{sanitize.HIDDEN}]")
# What makes a text fit for a shell, HTML or a URL, by module; and who may do so for paths that the user named.
GATES = {"shlex": {"quote", "join"}, "html": {"escape"}, "urllib.parse": {"quote", "quote_plus"}}
OWN_PATHS = {"backends/local/catalog/store.py", "system/files.py"}
PEOPLE_NEED = [
    "👩‍👩‍👧‍👦",
    "❤️‍🔥 and ☎︎",
    "1️⃣",
    "می‌خواهم",
    "क्‍ष",
    "naïve é ü",
    "日本語",
    "한국어",
    "עברית",
    "ไทย",
    "🇫🇷",
    "a\tb\nc",
]
SHELL_WORDS = [
    "",
    "it's",
    "=ls",
    "~",
    "a\\",
    "\\'a';touch ran;#",
    "a\\\\'\\",
    "$(touch ran)`x`!!*?{a,b}#",
    "-n",
    "中 文",
]


def test_list_has_all_that_is_hidden() -> None:
    """Every control and format character of Unicode is on it, but for signs that are seen, and line ends and tabs."""
    seen = {"ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN"}
    missing = [
        unicodedata.name(one, f"U+{ord(one):04X}")
        for one in map(chr, range(0x110000))
        if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") and one not in "\n\t" and not HIDDEN.match(one)
    ]

    assert [] == [name for name in missing if name.split()[0] not in seen]


def test_page_has_the_same_list() -> None:
    """What the page shows as what it is, is what a terminal does not get."""
    script = (PACKAGE / "web" / "page" / "script" / "harmless.js").read_text(encoding="utf-8")
    found = re.search(r"HIDDEN =\s+/\[(.+)\]/gu", script)
    assert found
    written = re.sub(r"\\u\{(\w+)\}|\\u(\w{4})", lambda one: chr(int(one[1] or one[2], 16)), found[1])
    theirs = re.compile(f"[{written}]")

    assert [] == [hex(one) for one in range(0x110000) if bool(theirs.match(chr(one))) != bool(HIDDEN.match(chr(one)))]


@pytest.mark.parametrize("text", PEOPLE_NEED)
def test_what_people_write_stays(text: str) -> None:
    """Joined pictures, Persian and Hindi are spelt with characters that show nothing."""
    assert text == sanitize.safe(text)


@pytest.mark.parametrize(
    "text",
    ["a\u200db", "a\ufe0fb", "🎉\u200d\u200d🎉", "🎉" + "\U000e0141" * 9, "a\u200c🎉", "1\ufe0f2", "م\u200c\u200cم"],
)
def test_same_characters_carry_nothing_elsewhere(text: str) -> None:
    """In a row, or between letters that need none, they would be a message to a program."""
    assert len(sanitize.safe(text)) < len(text)
    assert [] == HIDDEN.findall(sanitize.safe(text).replace("🎉\u200d🎉", ""))


@pytest.mark.parametrize("text", [EVIL, HIDING, *PEOPLE_NEED, "".join(map(chr, range(0x300)))])
def test_json_is_read_back_as_it_was(text: str) -> None:
    """All that is hidden is escaped, and every parser has the same text of it."""
    written = sanitize.escaped(orjson.dumps({text: text}).decode())

    assert [] == harm(written)
    assert {text: text} == json.loads(written) == orjson.loads(written)


def test_line_leaves_with_colours_alone() -> None:
    """Of what commands a terminal only the colours that we write get through."""
    line = f"\x1b[31mred\x1b[0m \x1b[8mhidden\x1b[2J {EVIL}"

    left = sanitize.printed(line)

    assert left.startswith("\x1b[31mred\x1b[0m [8mhidden[2J ")
    assert [] == harm(left.replace("\x1b[31m", "").replace("\x1b[0m", ""))


@pytest.mark.parametrize("colour", [None, "red", "green", "yellow", "blue", "magenta", "cyan"])
@pytest.mark.parametrize("is_bold", [None, False, True])
@pytest.mark.parametrize("is_dim", [None, False, True])
def test_colours_of_ours_get_through(colour: str | None, is_bold: bool | None, is_dim: bool | None) -> None:
    """Whatever lines are marked up with stays."""
    line = click.style("said", fg=colour, bold=is_bold, dim=is_dim)

    assert line == sanitize.printed(line)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("word", SHELL_WORDS)
def test_every_shell_reads_the_same_words(tmp_path: Path, shell: str, word: str) -> None:
    """`shlex` quotes for POSIX shells: in fish a backslash before a quote ran what followed."""
    if not has(shell):
        pytest.skip(f"there is no {shell} here")
    line = sanitize.command_line("printf", "%s", word)
    assert line

    said = subprocess.run([shell, "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert word == said == shlex.split(line)[2]
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("word", ["a\nb", "a\tb", "a\rb", "a\x1bb", "a\u200bb", "a\u202eb", "a\U000e0041"])
def test_what_cannot_be_typed_is_in_no_command(word: str) -> None:
    """Pasted, it would reach the terminal before the shell."""
    assert sanitize.command_line("claude", word) is None
    assert [] == sanitize.words([word], is_quoting=True)
    assert sanitize.file_name(word) is None


def test_shell_is_offered_words() -> None:
    """Whatever means something to a shell, there or at the beginning of a word, is left out."""
    fine = ["main", "fix/#12", "a.b", "a@b", "a+b", "a=b", "a:b", "50%", "日本語", "é", "/src/x", ".hidden", "_"]
    wrong = [
        "",
        "-x",
        "--x",
        "~x",
        "=ls",
        "%1",
        "#x",
        " x",
        "x ",
        "a  b",
        *(f"a{sign}b" for sign in "$`;&|()<>'\"*?[]{}!\\^,"),
    ]

    assert fine == sanitize.words([*fine, *fine, *wrong], is_quoting=True)
    assert fine == sanitize.words([*fine, "a b", *wrong])
    assert ["a b c"] == sanitize.words(["a b c"], is_quoting=True)


def test_names_of_files_lead_nowhere() -> None:
    """A name is one part of a path, and one that every file system takes."""
    assert "a b.jsonl" == sanitize.file_name("a b.jsonl")
    assert [None] * 7 == [sanitize.file_name(one) for one in ("", ".", "..", "../x", "a\\b", "a\0b", "é" * 128)]


def test_id_with_a_zero_byte_leads_nowhere(tmp_path: Path) -> None:
    """The transcript of a session that an agent may be in is looked for by its id, which ended in an error."""
    home = Home(tmp_path / "claude")
    home.session("some").line({"type": "ai-title", "aiTitle": "x", "sessionId": "a\0b", "cwd": home.cwd})

    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index(with_vectors=False)
        found = left_out(engine, Caller(cwd=home.cwd))

    assert [] == found


def test_pager_is_given_text(tmp_path: Path) -> None:
    """What is too long for the screen hides nothing either."""
    home = Home(tmp_path / "claude")
    said = home.session("11111111-1111-4111-8111-111111111111").prompt(f"{EVIL}\n" * 50)
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index(with_vectors=False)

    shown = on_terminal("show", str(said["uuid"]), "--full", "--index", str(tmp_path / "index"), PAGER="cat")

    assert [] == harm(re.sub("\x1b\\[(?:[012]|22|3[0-7])m", "", shown.replace("\r\n", "\n")))


def test_nothing_goes_around_the_gate() -> None:
    """No other module quotes for a shell, escapes for HTML or encodes for a URL by itself."""
    around = {
        f"{module.relative_to(PACKAGE).as_posix()} {name}"
        for module in MODULES
        for name in _used(ast.parse(module.read_bytes()))
    }

    assert {one for one in around if one.split()[0] not in {"text/sanitize.py", *OWN_PATHS}} == set()


def _used(tree: ast.AST) -> Iterator[str]:
    """Yield what a module uses of the things that only the gate should."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in GATES:
            yield from (f"{node.module}.{one.name}" for one in node.names if one.name in GATES[node.module])
        elif isinstance(node, ast.Attribute) and node.attr in GATES.get(getattr(node.value, "id", ""), ()):
            yield ast.unparse(node)
