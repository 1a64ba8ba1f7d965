"""Memory that was freed is no longer held."""

import platform
import subprocess
import sys

import pytest

# Between large blocks lie small ones that stay: no heap that holds both can shrink.
FREEING = """
import sys
from pathlib import Path
from searchkit.system.process import give_back

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "given back":
    give_back()
# The first large block that is freed makes the library keep others of its size.
first = b"x" * 4_000_000
del first
blocks, stay = zip(*[(b"x" * 400_000, b"x" * 20_000) for _ in range(250)])
full = held()
del blocks
print((full - held()) / 100_000_000)
"""


def freed(*arguments: str) -> float:
    """Return which share of what was freed a process does not hold any more."""
    done = subprocess.run([sys.executable, "-c", FREEING, *arguments], capture_output=True, text=True, check=True)
    return float(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU library is told to")
def test_freed_memory_is_given_back() -> None:
    """Nearly all of it goes back to the system, of which nearly nothing would else."""
    assert freed("given back") > 0.9
    assert freed("kept") < 0.5
