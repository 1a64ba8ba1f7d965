"""What scripts/setup refuses to do."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_linked_environment_is_not_cleared(tmp_path: Path) -> None:
    """An environment that is a symbolic link belongs to another directory and is left as it is."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    (here / "scripts").mkdir(parents=True)
    for name in ("scripts/setup", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, here / name)
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    (here / ".venv").symlink_to(elsewhere)

    run = subprocess.run([here / "scripts" / "setup"], capture_output=True, text=True, check=False)

    assert (2, True) == (run.returncode, "symbolic link" in run.stderr)
    assert ["precious"] == [path.name for path in elsewhere.iterdir()]
