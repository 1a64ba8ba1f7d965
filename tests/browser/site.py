"""A root, its index, and the real process that serves the page of it."""

import os
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.client import control
from tests.server.residence import Residence, wait_for

SAMPLE = Path(__file__).parent.parent.parent / "searchkit" / "sample"
# Debian's package; elsewhere the variable says where the browser is.
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
# Without these, the browser looks for its maker's hosts; the last keeps it from needing a sandbox, which root has not.
FLAGS = (
    "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-quic", "--no-sandbox",
)  # fmt: skip


class Site(Residence):
    """Serves the page of an index over a loopback port."""

    def open(self, root: Path | None = None, **environment: str) -> str:
        """Build the index of a root, serve it, and return the first address."""
        with Engine(self.index, [root or self.home.root], "fake") as engine:
            engine.index(with_vectors=True)
        self.serve("--port", "0", **environment)
        self.address = str(wait_for(lambda: control.address(self.index)))
        self.base = self.address.partition("/#")[0]
        return self.address


def must_have_a_browser() -> None:
    """Leave out tests where there is no browser, unless this is CI, which installs one."""
    if not Path(CHROMIUM).exists():
        reason = f"there is no browser at {CHROMIUM}; scripts/test-browser installs it, or set CHROMIUM"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
