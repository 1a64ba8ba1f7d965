"""Whether the code that the process runs is still that on the disk: searchkit may be upgraded under it."""

import os
import sys
import time
from typing import Any

# Looking at the files of 240 modules takes a millisecond: too long to do it for every look around or question.
_last: dict[str, Any] = {"at": float("-inf"), "verdict": False}
_seen: dict[str, int] = {}


def is_outdated(after_seconds: float = 0.0) -> bool:
    """Say whether a module of ours changed or went since it was first looked at; so long, the last verdict holds."""
    if time.monotonic() - _last["at"] >= after_seconds:
        _last.update(verdict=_is_other(), at=time.monotonic())
    return bool(_last["verdict"])


def _is_other() -> bool:
    loaded = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "searchkit"]
    files = [file for module in loaded if (file := getattr(module, "__file__", None))]
    try:
        now = {file: os.stat(file).st_mtime_ns for file in files}
    except OSError:
        return True
    return any(_seen.setdefault(file, written) != written for file, written in now.items())
