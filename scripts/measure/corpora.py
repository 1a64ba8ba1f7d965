"""Makes the corpora that are measured, each in a process of its own so that the measuring one stays small."""

import os
import shutil
import sys
from pathlib import Path

from measure.child import run

MEGABYTE = 1_000_000
GROWING = (".jsonl", ".jsonl.backup")


def make(directory: Path, mb: float, seed: int) -> Path:
    """Write a corpus of about that many megabytes of transcripts."""
    run([sys.executable, "-m", "tests.corpus", str(directory), "--mb", str(mb), "--seed", str(seed)])
    return directory


def copy(corpus: Path, directory: Path) -> Path:
    """Copy a corpus, so that measuring may append to it."""
    shutil.copytree(corpus, directory, symlinks=True)
    return directory


def transcripts(root: Path) -> list[Path]:
    """List the files that grow: the transcripts and the history."""
    found = [Path(folder) / name for folder, _, names in os.walk(root / "projects") for name in names]
    history = root / "history.jsonl"
    return sorted(path for path in found if path.name.endswith(GROWING)) + [history] * history.exists()


def transcript_bytes(root: Path) -> int:
    """Add up the sizes of the transcripts."""
    return sum(path.stat().st_size for path in transcripts(root))
