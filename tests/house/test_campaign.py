"""The checker of scripts/campaign, which must see what is lost, doubled or silent, and the disk that it plays."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from measure.environment import for_children
from trials import disks
from trials.checker import Checker, records
from trials.roots import ChangingRoot


@pytest.fixture
def root(tmp_path: Path) -> ChangingRoot:
    return ChangingRoot(tmp_path / "root", seed=3)


@pytest.fixture
def checker(tmp_path: Path, root: ChangingRoot) -> Checker:
    """A checker of an index that is up to date."""
    checker = Checker(root.root, tmp_path / "index", for_children())
    assert checker.index("--no-vectors")
    return checker


def test_sound_index_is_called_sound(checker: Checker, root: ChangingRoot) -> None:
    """Nothing is lost, doubled or silent after changes of every kind that were indexed."""
    checker.quick()
    root.change(60)
    checker.index("--no-vectors")

    checker.quick()
    checker.full(root.written)

    assert [] == checker.findings.wrong
    assert checker.findings.records > 100


def test_lost_record_is_seen(checker: Checker, root: ChangingRoot) -> None:
    """A record that is written and not indexed is lost, both by its word and in the listing."""
    [path, *_] = sorted(root.root.rglob("*.jsonl"))
    message = {"role": "user", "content": "a zugivolanx that nobody indexed"}
    line = {"type": "user", "uuid": "new", "sessionId": path.stem, "message": message}
    with path.open("ab") as file:
        file.write(b"\n" + json.dumps(line).encode() + b"\n")

    checker.quick()
    by_word = len(checker.findings.lost)
    checker.full(root.written)

    assert (1, 2) == (by_word, len(checker.findings.lost))


def test_record_that_nobody_wrote_is_seen(checker: Checker, root: ChangingRoot) -> None:
    """What an index says beyond the transcripts is named, unless it once was in them."""
    path = next(path for path in root.root.rglob("*.jsonl") if len(path.read_bytes().split(b"\n")) > 5)
    *kept, _, end = path.read_bytes().split(b"\n")
    written = {record.uuid for record in records(root.root)}
    path.write_bytes(b"\n".join([*kept, end]))
    [removed] = written - {record.uuid for record in records(root.root)}

    checker.full(root.written)
    excused = list(checker.findings.wrong)
    checker.full()

    assert ([], [f"{removed} was never written"]) == (excused, checker.findings.silent)


def test_torn_line_gives_the_record_that_was_joined_to_it(tmp_path: Path) -> None:
    """The checker's own parser reads the whole object at the end of a torn line, and not a line without an end."""
    whole = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "whole"}}
    path = tmp_path / "projects" / "p" / "s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(f'{{"type": "user", "message": {{"rol{json.dumps(whole)}\n{json.dumps({**whole, "uuid": "v"})}')

    assert [("u", ("whole",))] == [(record.uuid, record.texts) for record in records(tmp_path)]


@pytest.mark.skipif(sys.platform != "linux", reason="the library that plays the disk is preloaded")
def test_played_disk_is_full(tmp_path: Path) -> None:
    """Below its directory, a file takes writes until the chosen one, and elsewhere it takes all."""
    library = disks.library(tmp_path)
    if library is None:
        pytest.skip("there is no C compiler here")
    (tmp_path / "small").mkdir()
    writing = """
import errno, os, sys
for name in sys.argv[1:]:
    written = 0
    file = os.open(name, os.O_CREAT | os.O_WRONLY)
    try:
        while written < 9:
            os.write(file, b"x")
            written += 1
    except OSError as error:
        assert error.errno == errno.ENOSPC
    print(written)
"""
    played = {"FAULT_KIND": "spent", "FAULT_AT": "5", "FAULT_DIR": str(tmp_path / "small"), "LD_PRELOAD": str(library)}

    done = subprocess.run(
        [sys.executable, "-c", writing, str(tmp_path / "small" / "file"), str(tmp_path / "large")],
        capture_output=True,
        text=True,
        env={**os.environ, **played},
    )

    # To make the file was the first.
    assert ["3", "9"] == done.stdout.split(), done.stderr
