"""Whether the code that the process runs is still that on the disk: searchkit may be upgraded under it."""

import os
import sys

_seen: dict[str, int] = {}


def is_outdated() -> bool:
    """Say whether a module of ours changed or went since this was asked for the first time after it was loaded."""
    loaded = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "searchkit"]
    files = [file for module in loaded if (file := getattr(module, "__file__", None))]
    try:
        # About a microsecond each.
        now = {file: os.stat(file).st_mtime_ns for file in files}
    except OSError:
        return True
    return any(_seen.setdefault(file, written) != written for file, written in now.items())
