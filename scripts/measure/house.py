"""How the package is cut into modules, and how often a line and a query change from one file to another.

As a program, python -m measure.house, it prints the figures as JSON. Those of a line are of an index made from a
transcript of one line, those of a query of a hybrid search in it; libraries and their files do not count.
"""

import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent.parent / "searchkit"
SESSION = "11111111-1111-4111-8111-111111111111"
RECORD = {
    "type": "user",
    "uuid": "22222222-2222-4222-8222-222222222222",
    "parentUuid": None,
    "sessionId": SESSION,
    "timestamp": "2026-01-01T10:00:00.000Z",
    "cwd": "/shop",
    "message": {"role": "user", "content": "find the slow query of the shop"},
}
# Runs the command line and prints, on stderr, the files of ours in the order in which they are called.
TRACED = """
import os, sys, threading
from searchkit.cli import main as cli
before, changes, files, package = {}, 0, set(), sys.argv[1]
def profile(frame, event, argument):
    global changes
    if event != "call" or not frame.f_code.co_filename.startswith(package):
        return
    file, thread = frame.f_code.co_filename, threading.get_ident()
    changes += before.get(thread, file) != file
    before[thread] = file
    files.add(file)
threading.setprofile(profile)
sys.setprofile(profile)
status = cli.run(sys.argv[2:])
sys.setprofile(None)
print(status, changes, len(files), file=sys.stderr)
"""
LOADED = """
import sys
from searchkit.cli import main as cli
cli.run(sys.argv[1:])
print(sum(name.partition(".")[0] == "searchkit" for name in sys.modules), file=sys.stderr)
"""


def cut(package: Path = PACKAGE) -> dict[str, Any]:
    """Count modules, their lines, and those that a single other one imports."""
    files = [path for path in package.rglob("*.py") if "sample" not in path.relative_to(package).parts]
    modules = {_name(package, path): path for path in files}
    importers = defaultdict(set)
    for name, path in modules.items():
        for node in ast.walk(ast.parse(path.read_bytes())):
            for imported in _imported(node):
                target = imported if imported in modules else imported.rpartition(".")[0]
                if target in modules and target != name:
                    importers[target].add(name)
    lines = {name: len(path.read_bytes().splitlines()) for name, path in modules.items()}
    largest = max(lines, key=lambda name: lines[name])
    return {
        "modules": len(modules),
        "median_lines": statistics.median(lines.values()),
        "largest": {largest: lines[largest]},
        "lines": sum(lines.values()),
        "one_importer": sum(
            len(importers[name]) == 1
            for name, path in modules.items()
            if path.name not in ("__init__.py", "__main__.py")
        ),
        "used_more_than_once": sum(
            count > 1 for count in Counter(path.name for path in files if path.name != "__init__.py").values()
        ),
    }


def ways() -> dict[str, Any]:
    """Count the modules that a keyword search loads, and the changes of file on the way of a line and of a query."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        project = home / ".claude" / "projects" / "-shop"
        project.mkdir(parents=True)
        (project / f"{SESSION}.jsonl").write_text(json.dumps(RECORD) + "\n", encoding="utf-8")
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SEARCHKIT_", "XDG_"))},
            "HOME": str(home),
            "SEARCHKIT_INDEX": str(home / "index"),
            "SEARCHKIT_NO_RESIDENT": "1",
            "SEARCHKIT_MODEL": "fake",
            "PYTHONPATH": str(PACKAGE.parent),
        }
        _, line_changes, line_files = _child(TRACED, [str(PACKAGE), "index"], environment)
        _, query_changes, query_files = _child(TRACED, [str(PACKAGE), "search", "slow"], environment)
        (loaded,) = _child(LOADED, ["search", "slow", "--mode", "keyword"], environment)
    return {
        "loaded_by_keyword_search": loaded,
        "line": {"changes": line_changes, "files": line_files},
        "query": {"changes": query_changes, "files": query_files},
    }


def _child(program: str, arguments: list[str], environment: dict[str, str]) -> list[int]:
    command = [sys.executable, "-c", program, *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [int(number) for number in run.stderr.splitlines()[-1].split()]


def _name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def main() -> None:
    """Print all figures as JSON."""
    sys.stdout.write(json.dumps({**cut(), **ways()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
