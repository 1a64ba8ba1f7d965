"""What the house rules say and a machine can check: file sizes, docstrings, imports, prints, scripts."""

import ast
import os
import re
import shutil
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "searchkit"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "sample" not in path.relative_to(PACKAGE).parts)
SCRIPTS = sorted(path for path in (ROOT / "scripts").iterdir() if path.is_file() and not path.suffix)

MACHINE_PATH = re.compile(r"(?<![\w.}*])/(?:home|root|Users|work|tmp)/\w")

# A module, a line that breaks a contract when it is added there, and the contract it breaks.
FORBIDDEN_IMPORTS = [
    ("types.py", "import searchkit.engine", "layers"),
    ("engine.py", "import searchkit.cli.main", "layers"),
    ("engine.py", "import searchkit.cli.console", "layers"),
    ("query/parse.py", "import searchkit.backends.base", "layers"),
    ("stowaway.py", "", "layers"),
    ("engine.py", "import sqlite3", "stores"),
    ("backends/costs.py", "import tantivy", "stores"),
    ("engine.py", "import searchkit.backends.local.layout", "backends"),
    ("__main__.py", "def later() -> None:\n    from searchkit.backends.local import CATALOG", "backends"),
    ("cli/main.py", "def later() -> None:\n    import lancedb", "stores"),
    ("engine.py", "import torch", "models"),
    ("backends/local/__init__.py", "from tokenizers import Tokenizer", "models"),
]


def name_of(path: Path) -> str:
    """Name a file the way a reader would."""
    return path.relative_to(ROOT).as_posix()


def test_every_module_opens_with_a_sentence() -> None:
    """Every module says in its docstring what it is for."""
    docstrings = {name_of(module): ast.get_docstring(ast.parse(module.read_bytes())) or "" for module in MODULES}

    assert [] == [name for name, docstring in docstrings.items() if "." not in docstring]


def test_no_module_prints() -> None:
    """The package writes through its shells and loggers, never with print."""
    calls = [(module, node) for module in MODULES for node in ast.walk(ast.parse(module.read_bytes()))]

    assert [] == [
        f"{name_of(module)}:{call.lineno}"
        for module, call in calls
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"
    ]


def test_no_module_names_a_path_of_a_machine() -> None:
    """No module names a directory that exists on one machine only."""
    texts = {name_of(module): module.read_text(encoding="utf-8") for module in MODULES}

    assert [] == [name for name, text in texts.items() if MACHINE_PATH.search(text) or str(ROOT) in text]


def test_every_script_can_be_run() -> None:
    """Every script is executable and names its interpreter."""
    scripts = [*SCRIPTS, ROOT / ".ci" / "run"]

    assert [] == [name_of(script) for script in scripts if not os.access(script, os.X_OK)]
    assert [] == [name_of(script) for script in scripts if not script.read_bytes().startswith(b"#!/usr/bin/env ")]


def test_import_contracts_hold() -> None:
    """The package keeps all of its import contracts."""
    run = lint_imports(ROOT)

    assert 0 == run.returncode, run.stdout


@pytest.mark.parametrize(("module", "line", "contract"), FORBIDDEN_IMPORTS)
def test_import_contract_fails_when_broken(tmp_path: Path, module: str, line: str, contract: str) -> None:
    """A forbidden import breaks the contract that forbids it."""
    shutil.copytree(PACKAGE, tmp_path / "searchkit", ignore=shutil.ignore_patterns("sample", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    changed = tmp_path / "searchkit" / module
    assert changed.exists() or not line, f"{module} is gone: choose another module for this case"
    with changed.open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")

    run = lint_imports(tmp_path, "--contract", contract)

    assert 1 == run.returncode
    assert f"{contract_name(contract)} BROKEN" in " ".join(run.stdout.split())


def lint_imports(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run lint-imports over the package in a directory."""
    program = Path(sysconfig.get_path("scripts")) / "lint-imports"
    command = [str(program), "--no-cache", "--no-logo", *arguments]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


def contract_name(identifier: str) -> str:
    """Look up the name under which lint-imports reports a contract."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return str(next(contract["name"] for contract in contracts if contract["id"] == identifier))
