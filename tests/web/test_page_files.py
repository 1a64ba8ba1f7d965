"""The files of the page: all of them shipped, none of them reaching elsewhere, all of them short."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from searchkit.query.filters import FILTERS
from searchkit.web.files import FILTERS_SCRIPT, TYPES, contents

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "searchkit" / "web" / "page"
FILES = sorted(path for path in PAGE.rglob("*") if path.is_file())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
MAX_LINES = 400  # CONVENTIONS 2
# The names that XML has for its vocabularies are no addresses that anything is loaded from.
NAMESPACE = "http://www.w3.org/2000/svg"
ELSEWHERE = re.compile(r"""(?:https?:)?//[\w-]+\.[\w.-]+|@import|url\((?!["']?data:)""")


def name_of(path: Path) -> str:
    """Name a file the way the page does."""
    return path.relative_to(PAGE).as_posix()


def test_every_file_is_served() -> None:
    """What lies in the directory is what is served, beside the script of the filters, and each has a type."""
    assert {FILTERS_SCRIPT, *map(name_of, FILES)} == set(contents())
    assert {path.suffix for path in FILES} <= set(TYPES)


def test_every_file_is_in_the_wheel(tmp_path: Path) -> None:
    """An installation of searchkit has the whole page; scripts/check-install looks at the model."""
    environment = {**os.environ, "SEARCHKIT_WHEEL_WITHOUT_MODELS": "1"}
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)

    (wheel,) = tmp_path.glob("*.whl")

    assert {f"searchkit/web/page/{name_of(path)}" for path in FILES} <= set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_is_loaded_from_elsewhere(path: Path) -> None:
    """No file names another host, or imports what is not beside it."""
    text = path.read_text(encoding="utf-8").replace(NAMESPACE, "")

    assert [] == ELSEWHERE.findall(text)


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_nothing_is_parsed_as_html(path: Path) -> None:
    """Texts become text nodes: no script hands a string to anything that parses or runs it."""
    text = path.read_text(encoding="utf-8")

    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|\beval\(|new Function"
    assert [] == re.findall(forbidden, text)


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_script_is_short_and_says_what_it_is_for(path: Path) -> None:
    """Every script opens with a sentence, is short enough to read, and imports only files that there are."""
    lines = path.read_text(encoding="utf-8").splitlines()

    assert lines[0].startswith("// ")
    assert lines[0].endswith((".", ",")) or lines[1].startswith("// ")
    assert len(lines) <= MAX_LINES
    for line in lines:
        for target in re.findall(r'from "(\./[\w-]+\.js)"', line):
            assert f"script/{Path(target).name}" in contents()


def test_page_knows_the_filters() -> None:
    """The script that the page imports has the aliases, and those filters in order whose values it shows."""
    constants = dict(re.findall(r"export const (\w+) = (.*);", contents()[FILTERS_SCRIPT].decode()))

    shown = json.loads(constants["PANEL"])

    assert {"lang": "language"} == json.loads(constants["ALIASES"])
    assert ("project", "Project") == next(iter(shown.items()))
    assert {spec.name for spec in FILTERS if spec.panel} == set(shown)


def test_page_allows_no_inline_code() -> None:
    """The page itself has no script, style or listener in it, which its policy would refuse."""
    page = (PAGE / "index.html").read_text(encoding="utf-8")

    assert [] == re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)
