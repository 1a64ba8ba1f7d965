"""Installs a pinned Claude Code from npm into a cache below the user's cache directory."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "@anthropic-ai/claude-code"
# The binary is some 370 MB; a slow line takes minutes.
INSTALL_SECONDS = 600
ASK_SECONDS = 60


class NotInstalled(Exception):
    """Claude Code cannot be installed here; the message says why."""


class NoSuchVersion(Exception):
    """npm was reached, and does not offer that version."""


def cache() -> Path:
    """Return the directory that holds a directory for each version."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    if configured and Path(configured).is_absolute():
        base = Path(configured)
    else:
        base = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return base / "searchkit" / "client"


def newest() -> str:
    """Ask npm for the newest version that it offers."""
    answer = _npm(["view", PACKAGE, "version", "--json"], ASK_SECONDS)
    version = json.loads(answer)
    if not isinstance(version, str):
        raise NotInstalled(f"npm answered {answer.strip()[:100]!r} when asked for the newest version of {PACKAGE}")
    return version


def install(version: str) -> Path:
    """Return the path of Claude Code's binary of that version; installs it where it is not in the cache."""
    place = cache() / version
    if (binary := _binary(place)) is None:
        cache().mkdir(parents=True, exist_ok=True)
        # The version is pinned: npm steps back to an older release where Node is old, and the binary needs no Node.
        wanted = f"{PACKAGE}@{version}"
        options = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--force"]
        # Beside its place, so that an installation that was cut off is not taken for a whole one.
        with tempfile.TemporaryDirectory(prefix=f".{version}-", dir=cache()) as beside:
            _npm(["install", *options, "--prefix", beside, wanted], INSTALL_SECONDS)
            shutil.rmtree(place, ignore_errors=True)
            (Path(beside) / "node_modules").rename(_made(place) / "node_modules")
        binary = _binary(place)
    if binary is None:
        raise NotInstalled(f"{PACKAGE}@{version} has no binary for {sys.platform} {platform.machine()}")
    return binary


def _made(place: Path) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    return place


def _binary(place: Path) -> Path | None:
    found = sorted((place / "node_modules" / "@anthropic-ai").glob("claude-code-*/claude"))
    return found[0] if found else None


def _npm(arguments: list[str], seconds: int) -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not installed")
    try:
        done = subprocess.run([npm, *arguments], capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"npm {arguments[0]} did not end within {seconds} s") from None
    if done.returncode:
        complaint = [line for line in done.stderr.splitlines() if line.startswith("npm error")] or ["no message"]
        if "ETARGET" in complaint[0]:
            raise NoSuchVersion(f"npm does not offer {arguments[-1]}")
        raise NotInstalled(f"npm {arguments[0]} failed: {complaint[0]}")
    return done.stdout
