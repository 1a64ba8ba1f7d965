"""The made-up corpus has the shape of the measured one, and its manifest tells what was written."""

import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.build import build

ROOT = Path(__file__).resolve().parent.parent.parent
MB = 20
SEED = 1

# FORMAT section 2, every type that was seen.
TYPES = set(
    "assistant progress user queue-operation attachment file-history-snapshot system last-prompt ai-title "
    "permission-mode custom-title mode agent-name bridge-session summary file-history-delta pr-link tool started "
    "result worktree-state tool_result frame-link fork-context-ref agent-setting (none)".split()
)

# FORMAT section 7: the share of all bytes, in percent, and how far a corpus of 20 MB may be off.
SHARES = [
    ("tool_result", 20.8, 6),
    ("toolUseResult", 21.4, 6),
    ("progress", 15.7, 6),
    ("attachment", 5.4, 3),
    ("input", 4.9, 2),
    ("text", 5.3, 2.5),
    ("image", 2.3, 1.5),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of 20 MB."""
    root = tmp_path_factory.mktemp("corpus")
    build(root, MB, SEED)
    return root


def test_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two processes with the same seed write the same files."""
    command = [sys.executable, "-m", "tests.corpus", str(tmp_path / "other"), "--mb", "2", "--seed", "7"]

    build(tmp_path / "one", 2, 7)
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    assert digests(tmp_path / "one") == digests(tmp_path / "other")


def test_another_seed_gives_other_bytes(tmp_path: Path) -> None:
    """Another seed writes other files."""
    build(tmp_path / "one", 1, 7)
    build(tmp_path / "other", 1, 8)

    assert digests(tmp_path / "one") != digests(tmp_path / "other")


def test_every_record_type_occurs(corpus: Path) -> None:
    """At 20 MB the corpus holds every record type that was ever seen."""
    types = {str(record.get("type", "(none)")) for record in records(corpus)}

    assert set() == TYPES - types


@pytest.mark.parametrize(("name", "percent", "tolerance"), SHARES)
def test_bytes_are_shared_out_as_measured(corpus: Path, name: str, percent: float, tolerance: float) -> None:
    """The parts of a record take about the share of all bytes that they take in real transcripts."""
    shares = byte_shares(corpus)

    assert percent == pytest.approx(shares[name], abs=tolerance)


def test_size_is_near_the_one_asked_for(corpus: Path) -> None:
    """The manifest knows the bytes of the transcripts, and they are about as many as were asked for."""
    manifest = json.loads((corpus / "manifest.json").read_bytes())

    written = sum(path.stat().st_size for path in [*transcripts(corpus), corpus / "history.jsonl"])

    assert written == manifest["bytes"]
    assert MB * 1_000_000 == pytest.approx(written, rel=0.2)


def test_manifest_counts_the_lines(corpus: Path) -> None:
    """The counted lines are the lines of the transcripts and of the history that are not blank."""
    manifest = json.loads((corpus / "manifest.json").read_bytes())

    files = [*transcripts(corpus), corpus / "history.jsonl"]
    lines = sum(bool(line.strip()) for path in files for line in path.read_bytes().split(b"\n"))

    assert manifest["counts"]["lines"] == lines


def test_planted_words_are_where_the_manifest_says(corpus: Path) -> None:
    """Each planted word is in the record that the manifest names."""
    planted = {entry["uuid"]: entry["word"] for entry in json.loads((corpus / "manifest.json").read_bytes())["planted"]}

    missing = set(planted)
    for record in records(corpus):
        uuid = record.get("uuid")
        if uuid in missing and planted[uuid] in json.dumps(record["message"]):
            missing.remove(uuid)

    assert planted
    assert set() == missing


def transcripts(root: Path) -> list[Path]:
    """List the transcripts below a root."""
    found = (root / "projects").rglob("*")
    return sorted(path for path in found if path.name.endswith((".jsonl", ".jsonl.backup")))


def records(root: Path) -> Iterator[dict[str, Any]]:
    """Read every line that is a JSON object."""
    for path in transcripts(root):
        for line in path.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record


def byte_shares(root: Path) -> dict[str, float]:
    """Measure, in percent of all transcript bytes, what FORMAT section 7 measured."""
    sizes: Counter[str] = Counter()
    for record in records(root):
        if record.get("type") in ("progress", "attachment"):
            sizes[str(record["type"])] += size(record)
        if "toolUseResult" in record:
            sizes["toolUseResult"] += size(record["toolUseResult"])
        content = (record.get("message") or {}).get("content", [])
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            inner = block.get("content")
            pictures = [item for item in inner if item["type"] == "image"] if isinstance(inner, list) else []
            sizes[BLOCKS.get(block["type"], "other")] += size(block)
            if pictures:
                sizes["image"] += size(pictures)
                sizes["tool_result"] -= size(pictures)
    total = sum(path.stat().st_size for path in transcripts(root))
    return {name: 100 * share / total for name, share in sizes.items()}


BLOCKS = {"tool_result": "tool_result", "tool_use": "input", "text": "text", "image": "image"}


def size(value: Any) -> int:
    """Return how many bytes a value takes in a transcript."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def digests(root: Path) -> dict[str, str]:
    """Return a digest per file."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
