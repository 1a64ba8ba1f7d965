"""Puts a script into the project's own environment, whichever Python it was started with."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Names the directory in which children keep the model ready, which takes seconds to make so; else nothing is kept.
DATA = "MEASURE_DATA"


def enter() -> None:
    """Start over with .venv's Python where there is one, and let `searchkit` and `tests` be imported."""
    python = ROOT / ".venv" / "bin" / "python"
    is_inside = Path(sys.prefix).resolve() == python.parent.parent.resolve()
    if python.exists() and not is_inside:
        os.execv(python, [str(python), *sys.argv])
    sys.path.insert(0, str(ROOT))


def for_children(has_resident: bool = False) -> dict[str, str]:
    """Return an environment in which nothing that this user configured counts, and Python keeps its bytecode."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SEARCHKIT_", "CLAUDE_", "XDG_"))}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    paths = os.pathsep.join((str(ROOT), str(ROOT / "scripts")))
    data = {"XDG_DATA_HOME": os.environ[DATA]} if DATA in os.environ else {}
    # What is measured and killed is the process itself, unless it is the one that answers for it.
    alone = {} if has_resident else {"SEARCHKIT_NO_RESIDENT": "1"}
    return {**kept, **data, **alone, "PYTHONPATH": paths, "HOME": os.devnull}
