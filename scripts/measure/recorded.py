"""Keeps figures for the commit that they were measured on: a file for each below benchmarks/results."""

import subprocess
from typing import Any

import orjson

from measure.environment import ROOT

RESULTS = ROOT / "benchmarks" / "results"
# What decides the figures: with changes in here, they are of no commit.
MEASURED = ("searchkit", "scripts/measure", "pyproject.toml", "constraints.txt")
HASH_CHARACTERS = 12


def record(questions: str, mode: str, figures: dict[str, object]) -> str:
    """Keep the figures of a set of questions beside those of others, and say where, or why not."""
    try:
        if _git("status", "--porcelain", "--", *MEASURED):
            return "not kept: there are changes that are in no commit"
        commit, date = _git("show", "-s", "--format=%H %cs").split()
        path = RESULTS / f"{commit[:HASH_CHARACTERS]}.json"
        kept: dict[str, Any] = orjson.loads(path.read_bytes()) if path.exists() else {}
        kept |= {"commit": commit, "date": date}
        kept.setdefault("sets", {}).setdefault(questions, {})[mode] = figures
        RESULTS.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    except (OSError, subprocess.CalledProcessError, orjson.JSONDecodeError) as error:
        return f"not kept: {error}"
    return f"kept in {path.relative_to(ROOT)}"


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()
