"""Asks searchkit by its command line, as users do, with the home that the client wrote."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client.home import SYSTEM_PATH

COMMAND_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a command printed, and its exit status."""

    status: int
    output: str
    error: str

    @property
    def json(self) -> Any:
        """The one JSON value that was printed."""
        return json.loads(self.output)


@dataclass(frozen=True, kw_only=True)
class Product:
    """The command `searchkit`, in an environment of its own."""

    home: Path
    programs: Path

    def run(self, *arguments: str, has_resident: bool = False, stdin: str = "") -> Said:
        """Run a command; without the resident process, unless the check is about it."""
        alone = {} if has_resident else {"SEARCHKIT_NO_RESIDENT": "1"}
        environment = {
            "PATH": f"{self.programs}{os.pathsep}{SYSTEM_PATH}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            **alone,
        }
        command = [str(self.programs / "searchkit"), *arguments]
        done = subprocess.run(
            command, env=environment, input=stdin, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
        )
        return Said(status=done.returncode, output=done.stdout, error=done.stderr.strip()[-500:])

    def search(self, words: list[str], kind: str = "") -> dict[str, list[dict[str, Any]]]:
        """Search for each word by itself, all in one process, in parts of one kind if one is named."""
        limit = {"limit": 50, **({"kind": kind} if kind else {})}
        questions = "".join(json.dumps({"id": word, "query": word, **limit}) + "\n" for word in words)
        file = self.home / "questions.jsonl"
        file.write_text(questions)
        said = self.run("search", "--mode", "keyword", "--queries", str(file), "--json")
        answers = [json.loads(line) for line in said.output.splitlines()]
        return {answer["id"]: answer["results"] for answer in answers}

    def stop(self) -> None:
        """End the resident process."""
        self.run("serve", "--stop", has_resident=True)


def programs(directory: Path, binary: Path) -> Path:
    """Make a directory that holds `searchkit` and `claude` and nothing else."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "searchkit").symlink_to(Path(sys.prefix) / "bin" / "searchkit")
    (directory / "claude").symlink_to(binary)
    return directory
